#include "vnfsd/config/bundle.h"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace symnas::vnfsd {

using nlohmann::json;

namespace {
constexpr int kBundleVersion = 1;
}  // namespace

json bundle_to_json(const Bundle& b) {
  return {
      {"symnas_bundle", kBundleVersion},
      {"cluster", {{"name", b.cluster_name}, {"uuid", b.cluster_uuid.to_string()}}},
      {"head", {{"name", b.head_name}, {"address", b.head_address}, {"admission", b.admission}}},
      {"etcd",
       {{"endpoints", b.endpoints},
        {"initial_cluster", b.initial_cluster},
        {"quota_bytes", b.quota_bytes},
        {"ca", b.ca_pem},
        {"certificate", b.certificate_pem},
        {"key", b.key_pem}}}};
}

Result<Bundle> bundle_from_json(const json& document) {
  try {
    if (document.at("symnas_bundle").get<int>() != kBundleVersion) {
      return fail(ErrorCode::kNotSupported, "bundle: made by another version of symnas");
    }
    Bundle b;
    document.at("cluster").at("name").get_to(b.cluster_name);
    SYMNAS_ASSIGN(b.cluster_uuid,
                  Uuid::parse(document.at("cluster").at("uuid").get<std::string>()));
    document.at("head").at("name").get_to(b.head_name);
    document.at("head").at("address").get_to(b.head_address);
    b.admission = document.at("head").value("admission", "");
    const json& etcd = document.at("etcd");
    etcd.at("endpoints").get_to(b.endpoints);
    etcd.at("initial_cluster").get_to(b.initial_cluster);
    b.quota_bytes = etcd.value("quota_bytes", b.quota_bytes);
    etcd.at("ca").get_to(b.ca_pem);
    etcd.at("certificate").get_to(b.certificate_pem);
    etcd.at("key").get_to(b.key_pem);
    return b;
  } catch (const json::exception&) {
    return fail(ErrorCode::kInvalidArgument,
                "bundle: not a bundle of symnas head invite, or damaged (invite the head again)");
  }
}

}  // namespace symnas::vnfsd
