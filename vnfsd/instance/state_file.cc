#include "vnfsd/instance/state_file.h"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace symnas::vnfsd::instance {

using json = nlohmann::ordered_json;

std::string render_state(const InstanceState& state) {
  json luns = json::array();
  for (const LunIdentity& lun : state.luns) {
    luns.push_back({{"uuid", lun.uuid}, {"device", lun.lock_device}, {"inode", lun.lock_inode}});
  }
  const json document = {{"pid", state.process.pid},
                         {"start_ticks", state.process.start_ticks},
                         {"epoch", state.epoch.value()},
                         {"incarnation", state.incarnation},
                         {"owner_mod_revision", state.owner_mod_revision.value()},
                         {"started_ns", state.started_ns},
                         {"retiring", state.retiring},
                         {"connections", state.connections},
                         {"standby", state.standby},
                         {"luns", luns}};
  return document.dump(2) + "\n";
}

Result<InstanceState> parse_state(const std::string& text) {
  try {
    const json document = json::parse(text);
    InstanceState state;
    document.at("pid").get_to(state.process.pid);
    document.at("start_ticks").get_to(state.process.start_ticks);
    state.epoch = Epoch(document.at("epoch").get<std::uint64_t>());
    document.at("incarnation").get_to(state.incarnation);
    state.owner_mod_revision = Revision(document.at("owner_mod_revision").get<std::int64_t>());
    document.at("started_ns").get_to(state.started_ns);
    state.retiring = document.value("retiring", false);
    state.connections = document.value("connections", std::vector<std::string>{});
    state.standby = document.value("standby", false);
    for (const json& lun : document.value("luns", json::array())) {
      state.luns.push_back({lun.at("uuid").get<std::string>(),
                            lun.at("device").get<std::uint64_t>(),
                            lun.at("inode").get<std::uint64_t>()});
    }
    return state;
  } catch (const json::exception& error) {
    return fail(ErrorCode::kCorrupt, fmt::format("state.json: {}", error.what()));
  }
}

}  // namespace symnas::vnfsd::instance
