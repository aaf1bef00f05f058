// The proof that nobody serves a VNFS, so that what its instance has left may be taken. What takes
// it does so in a transaction with no_claim_since(): a mount that is claimed later breaks it.
//
// Thread-safe: functions without state; unserved_since() blocks.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/kv/session.h"
#include "fsal_cluster/schema/mount_entry.h"

namespace symnas::fs {

// Whether one of these mounts has not ended and is the VNFS's. They prove nothing by themselves.
bool is_served(const std::vector<MountEntry>& mounts, const std::string& vnfs);

// The revision of the youngest claim of the filesystem (0: there was none), if no mount that was
// claimed up to it serves the VNFS; nullopt: one does. A caller that reads by itself reads the
// claim key first and the mounts after it. Errors: Session::range, kCorrupt.
Result<std::optional<Revision>> unserved_since(kv::Session& session, FsId fs,
                                               const std::string& vnfs);

// Holds as long as no mount has been claimed since.
kv::Compare no_claim_since(FsId fs, Revision claimed);

}  // namespace symnas::fs
