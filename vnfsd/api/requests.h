// Requests of administrators that are more than a name. Value types.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/base/ids.h"

namespace symnas::vnfsd::api {

struct LunImportRequest {
  std::string name;
  std::string path;
  enum class Force { kNo, kYes } force = Force::kNo;
};

struct KeytabRequest {
  std::string vnfs;
  std::string file;                         // the bytes of a keytab, secret
  std::optional<std::string> owner_domain;  // nullopt: it stays; empty: the realm's
};

// Names an inode by `path`, or by `ino` when `path` is empty.
// The scrub of a LUN.
struct ScrubRequest {
  std::string lun;
  std::uint64_t bytes_per_second = 0;  // 0: the usual rate
  bool all = false;                    // also what no file has
  bool anew = false;                   // not where a stopped one was
};

struct DumpRequest {
  std::string path;
  Ino ino;
};

// Selects the locks that match every field that is given.
struct LockFilter {
  std::string filesystem;
  std::string vnfs;
  std::string client;  // address or caller_name (NLM), client id (NFSv4): as `lock ls` shows them
  std::string path;    // within the filesystem
  Ino ino;
  bool narrows() const {
    return !filesystem.empty() || !vnfs.empty() || !client.empty() || !path.empty() || ino != Ino{};
  }
};

// Whether an administrator has said that clients may be lost (--yes).
enum class Consent { kNo, kYes };

// What to do with the label of a LUN that is released. kForget: the label is left as it is, because
// the LUN does not answer any more.
enum class Label { kErase, kForget };

enum class EtcdRole { kClient, kMember };

}  // namespace symnas::vnfsd::api
