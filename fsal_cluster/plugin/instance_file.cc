#include "fsal_cluster/plugin/instance_file.h"

#include <fstream>
#include <sstream>

#include <nlohmann/json.hpp>

namespace symnas::plugin {

Result<InstanceFile> parse_instance_file(const std::string& text, const std::string& origin) {
  try {
    const auto json = nlohmann::json::parse(text);
    InstanceFile file;
    file.head = json.at("head");
    file.vnfs = json.at("vnfs");
    file.vnfs_id = VnfsId{json.at("vnfs_id").get<std::uint32_t>()};
    file.epoch = Epoch{json.at("epoch").get<std::uint64_t>()};
    file.incarnation = json.at("incarnation");
    file.owner_key = json.at("owner_key");
    file.owner_mod_revision = Revision{json.at("owner_mod_revision").get<std::int64_t>()};
    file.standby = json.value("standby", false);
    const auto& etcd = json.at("etcd");
    file.etcd_endpoints = etcd.at("endpoints").get<std::vector<std::string>>();
    file.etcd_ca_file = etcd.value("ca", "");
    file.etcd_cert_file = etcd.value("cert", "");
    file.etcd_key_file = etcd.value("key", "");
    file.etcd_quota_bytes = etcd.value("quota_bytes", std::int64_t{0});
    file.head_netns = json.value("head_netns", "");
    file.head_mntns = json.value("head_mntns", "");
    file.clock_file = json.value("clock_file", "");
    for (const auto& lun : json.at("luns"))
      file.luns.push_back({lun.at("name"), lun.at("uuid"), lun.at("path")});
    for (const auto& one : json.value("exports", nlohmann::json::array()))
      file.exports.push_back({one.at("id").get<std::uint16_t>(), one.at("pseudo"), one.at("block"),
                              one.value("names", std::vector<std::string>()),
                              one.value("manage_gids", false)});
    if (const auto kerberos = json.find("kerberos"); kerberos != json.end())
      file.kerberos = {kerberos->at("keytab"), kerberos->at("realm"),
                       kerberos->value("domain", "")};
    if (file.etcd_endpoints.empty())
      return fail(ErrorCode::kInvalidArgument, origin + ": etcd.endpoints is empty");
    return file;
  } catch (const nlohmann::json::exception& e) {
    return fail(ErrorCode::kInvalidArgument,
                origin + ": " + e.what() + "; vnfsd writes this file: restart the VNFS");
  }
}

Result<InstanceFile> read_instance_file(const std::string& path) {
  std::ifstream in(path);
  if (!in)
    return fail(ErrorCode::kNotFound,
                "instance file " + path + " cannot be opened; instances are started by vnfsd");
  std::ostringstream text;
  text << in.rdbuf();
  return parse_instance_file(text.str(), path);
}

}  // namespace symnas::plugin
