// Bodies of API requests.
#include <array>
#include <string>

#include <nlohmann/json.hpp>

#include "vnfsd/api/body.h"

namespace {

using namespace symnas::vnfsd;
using nlohmann::json;

template <auto Parse>
void parse(const json& body) {
  static_cast<void>(Parse(body));
}

constexpr std::array kRequests = {
    parse<api::network_request>,
    parse<api::lun_import_requests>,
    parse<api::volume_request>,
    parse<api::lun_scan_request>,
    parse<api::grow_request>,
    parse<api::filesystem_request>,
    parse<api::filesystem_edit>,
    parse<api::export_request>,
    parse<api::export_edit>,
    parse<api::vnfses_request>,
    parse<api::vnfs_request>,
    parse<api::dump_request>,
    parse<api::vnfs_set_request>,
    parse<api::rehost_request>,
    parse<api::decider_request>,
    parse<api::restart_request>,
    parse<api::vnfs_edit>,
    parse<api::invite_request>,
    +[](const json& body) { static_cast<void>(api::decider_order(body, "vnfs1")); },
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const json body = json::parse(data + 1, data + size, nullptr, false);
  if (!body.is_discarded()) kRequests[data[0] % kRequests.size()](body);
  return 0;
}
