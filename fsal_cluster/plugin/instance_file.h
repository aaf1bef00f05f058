// The file that vnfsd writes for an instance when it starts it. Format:
// docs/formats/instance_file.md. Value types.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/base/ids.h"
#include "common/base/result.h"

namespace symnas::plugin {

struct InstanceFile {
  std::string head;
  std::string vnfs;
  VnfsId vnfs_id;
  Epoch epoch;
  std::string incarnation;
  std::string owner_key;
  Revision owner_mod_revision;
  bool standby = false;  // owns nothing yet: waits for the command `serve`
  std::vector<std::string> etcd_endpoints;
  std::string etcd_ca_file;
  std::string etcd_cert_file;
  std::string etcd_key_file;
  std::int64_t etcd_quota_bytes = 0;  // 0: not known, no reserve is kept
  std::string head_netns;             // path; empty: no other network namespace
  std::string head_mntns;             // path of the head's mounts; empty: no other ones
  std::string clock_file;             // of the heads' time (head_clock.h); empty: there is none
  struct Lun {
    std::string name;
    std::string uuid;
    std::string path;
  };
  std::vector<Lun> luns;
  struct Export {
    std::uint16_t id = 0;
    std::string pseudo;                // path that clients mount
    std::string block;                 // of ganesha's configuration
    std::vector<std::string> names{};  // of clients, in its rules
    bool manage_gids = false;          // callers' groups are looked up
  };
  std::vector<Export> exports;
  struct Kerberos {
    std::string keytab;  // path; the file is missing where vnfsd could not open the record
    std::string realm;   // whose principals mean users of the head
    std::string domain;  // what stands behind "@" of owners that clients name; "" = none are known
  };
  std::optional<Kerberos> kerberos;  // of a VNFS with a keytab
};

// Errors: kNotFound (no such file), kInvalidArgument (names the missing or wrong field).
Result<InstanceFile> read_instance_file(const std::string& path);
// Parses the text of such a file, for tests. `origin` names it in messages.
Result<InstanceFile> parse_instance_file(const std::string& text, const std::string& origin);

}  // namespace symnas::plugin
