// An oranfstab as Oracle's Direct NFS Client reads it: which servers there are, over which pairs of
// addresses, and what they export. Thread-safe: values and pure functions. Source: Oracle Database
// Installation Guide, "Creating an oranfstab File for Direct NFS Client".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"

namespace symnas::dnfs {

inline constexpr std::size_t kMaxPaths = 4;        // Oracle: up to four paths
inline constexpr int kDefaultMountTimeoutS = 600;  // Oracle: 10 minutes

// An address of the server, and the address of this host from which it is spoken to.
struct OraPath {
  std::string remote;
  std::string local;  // empty: the kernel chooses
  int line = 0;       // of `path:`
  int local_line = 0;
};

struct OraExport {
  std::string exported;  // on the server
  std::string mount;     // where this host has it
  int line = 0;
};

struct OraServer {
  std::string name;
  int line = 0;
  std::vector<OraPath> paths;
  std::vector<OraExport> exports;
  std::string nfs_version = "nfsv3";  // lower case
  int version_line = 0;
  bool dontroute = false;
  int mnt_timeout_s = kDefaultMountTimeoutS;
};

// The servers of `text`, in its order. `file` is its name in messages.
// Errors: kInvalidArgument, "FILE line N: what is wrong; what to do".
Result<std::vector<OraServer>> parse_oranfstab(std::string_view text, std::string_view file);

// A file as a caller names it: by its path on the server or by its path below a mount point.
struct OraFile {
  std::size_t server = 0;
  std::size_t exported = 0;  // index into its exports
  std::string path;          // below the export, with a leading slash
};

// Errors: kNotFound, with the exports that there are.
Result<OraFile> find_file(const std::vector<OraServer>& servers, std::string_view path);

}  // namespace symnas::dnfs
