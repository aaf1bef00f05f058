// From request bodies to requests. Thread-safe: pure functions.
// Errors everywhere: kInvalidArgument (a member is missing, unknown or of the wrong type; the
// message names it).
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "vnfsd/api/access.h"
#include "vnfsd/api/requests.h"
#include "vnfsd/plans/deciders.h"
#include "vnfsd/plans/plans.h"

namespace symnas::vnfsd::api {

struct InviteRequest {
  std::string name;
  std::string address;
  EtcdRole etcd = EtcdRole::kClient;
};

struct RehostRequest {
  std::string head;
  Pin pin = Pin::kYes;
};

Result<NetworkRequest> network_request(const nlohmann::json& body);
Result<std::vector<LunImportRequest>> lun_import_requests(const nlohmann::json& body);
Result<VolumeRequest> volume_request(const nlohmann::json& body);
// The paths; none: an empty list.
Result<std::vector<std::string>> lun_scan_request(const nlohmann::json& body);
Result<VolumeRequest> grow_request(const nlohmann::json& body);
Result<FilesystemRequest> filesystem_request(const nlohmann::json& body);
Result<FilesystemEdit> filesystem_edit(const nlohmann::json& body);
Result<ExportRequest> export_request(const nlohmann::json& body);
// The edit without the export's name, which is in the request's path.
Result<ExportEdit> export_edit(const nlohmann::json& body);
// The VNFSs that begin or cease to serve an export.
Result<std::vector<std::string>> vnfses_request(const nlohmann::json& body);
// Without the VNFS's name. Holds the bytes of a keytab: secret.
Result<KeytabRequest> keytab_request(const nlohmann::json& body);
Result<VnfsRequest> vnfs_request(const nlohmann::json& body);
// Either path or ino is given.
Result<DumpRequest> dump_request(const nlohmann::json& body);
// Without the LUN, which the path names.
Result<ScrubRequest> scrub_request(const nlohmann::json& body);
// The id of a plan.
Result<std::string> repair_request(const nlohmann::json& body);
Result<VnfsSetRequest> vnfs_set_request(const nlohmann::json& body);
Result<RehostRequest> rehost_request(const nlohmann::json& body);
// {decider}
Result<records::Decider> decider_request(const nlohmann::json& body);
// {decider, head}; without the VNFS.
Result<DeciderOrder> decider_order(const nlohmann::json& body, const std::string& what);
// Of the instance that is to be restarted; nullopt: whichever it is.
Result<std::optional<Epoch>> restart_request(const nlohmann::json& body);
// The edit without the VNFS's name, which is in the request's path.
Result<VnfsEdit> vnfs_edit(const nlohmann::json& body);
Result<InviteRequest> invite_request(const nlohmann::json& body);

Result<TokenRequest> token_request(const nlohmann::json& body);
// Names and addresses of a listener beside the head's own.
Result<std::vector<std::string>> listener_request(const nlohmann::json& body);
Result<CertificateRequest> certificate_request(const nlohmann::json& body);

}  // namespace symnas::vnfsd::api
