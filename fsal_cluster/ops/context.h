// Context: the parts of a mount that every namespace operation works with. All members outlive the
// operation.
#pragma once

#include <cstdint>
#include <functional>

#include "common/base/ids.h"
#include "common/kv/session.h"
#include "fsal_cluster/data/file_data.h"
#include "fsal_cluster/ops/directory_flights.h"
#include "fsal_cluster/schema/name_hash.h"
#include "fsal_cluster/state/gate.h"
#include "fsal_cluster/state/ino_lease.h"
#include "fsal_cluster/state/membership.h"
#include "fsal_cluster/state/open_files.h"

namespace symnas::fs {

class Quotas;      // quota/quotas.h
class Replies;     // reply/replies.h
class ShareModes;  // state/share_modes.h

struct Context {
  kv::Session& session;
  FileData& data;
  OpenFiles& open_files;
  InoLease& inos;
  DirectoryFlights& flights;
  NameHasher hasher;
  FsId fs;
  MountId mount;
  std::uint32_t block_bytes = 4096;
  bool acls = true;  // may be set (FilesystemRecord.acls_and_xattrs); those that are there hold
  Membership& membership;
  const Gate* gate = nullptr;    // null: nothing puts the mount's proofs in doubt
  Replies* replies = nullptr;    // null: calls are not recorded
  Quotas* quotas = nullptr;      // null: nothing is limited
  ShareModes* shares = nullptr;  // null: files are made without an open
  // Waits before the n-th retry (from 1) of an operation that met a conflict.
  std::function<void(int)> pause;
};

}  // namespace symnas::fs
