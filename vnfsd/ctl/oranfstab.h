// What `symnas oranfstab` writes: a server entry for Oracle's Direct NFS Client, whose paths are
// the VIPs of one or several VNFSs. Pure functions, thread-safe. Source: Oracle Database
// Installation Guide, "Creating an oranfstab File for Direct NFS Client".
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "common/base/result.h"

namespace symnas::vnfsd::ctl {

inline constexpr std::size_t kOraPathsMax = 4;  // Direct NFS uses up to four paths of a server

struct OranfstabWish {
  std::string client;               // name or address of the database host
  std::vector<std::string> vnfs;    // in the order in which their VIPs are taken
  std::string server;               // "": the names of the VNFSs
  std::vector<std::string> locals;  // addresses of the database host; none: the kernel chooses
  std::string mount;                // "": /mnt and the export's path
};

struct OranfstabPath {
  std::string vip;
  std::string vnfs;
  std::string local;  // "": none
};

struct OranfstabExport {
  std::string name;
  std::string exported;  // path that clients mount
  std::string mount;
};

// Something that is not as it should be, though the file can be written.
struct OranfstabRemark {
  std::string subject;
  std::string what;
  std::string next;
};

struct Oranfstab {
  std::string server;
  std::vector<OranfstabPath> paths;
  std::vector<OranfstabExport> exports;
  std::vector<OranfstabRemark> remarks;
};

// `vnfs` and `exports`: the rows of GET /v1/vnfs and /v1/exports. Each VNFS gives its first VIP,
// then its second, and so on, up to four. A local address goes with a VIP of its own network if
// there is one. Exports: those that all of the VNFSs have.
// Errors: kNotFound (no such VNFS), kInvalidArgument (an address; no export in common; a mount
// directory for several exports that are not below it).
Result<Oranfstab> plan_oranfstab(const OranfstabWish& wish, const nlohmann::json& vnfs,
                                 const nlohmann::json& exports);

// The file. It has no comments: Oracle documents none.
std::string text_of(const Oranfstab& plan);
nlohmann::json document_of(const Oranfstab& plan);

}  // namespace symnas::vnfsd::ctl
