#include "vnfsd/api/documents.h"

#include <algorithm>
#include <set>
#include <sstream>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "cvm/volume.h"
#include "vnfsd/plans/deciders.h"
#include "vnfsd/plans/exports.h"
#include "vnfsd/plans/keytab.h"
#include "vnfsd/plans/levels.h"
#include "vnfsd/plans/plan_keytab.h"
#include "vnfsd/plans/security.h"
#include "vnfsd/records/levels.h"

namespace symnas::vnfsd::api {
namespace {

using nlohmann::json;

std::string uuid_text(const std::string& bytes) {
  const auto uuid = cvm::uuid_from_bytes(bytes);
  return uuid ? uuid->to_string() : "";
}

template <class Record, class Make>
json array_of(const Table<Record>& table, const Make& make) {
  json out = json::array();
  for (const auto& [name, stored] : table) out.push_back(make(stored.record));
  return out;
}

template <class Repeated>
json texts(const Repeated& values) {
  json out = json::array();
  for (const auto& value : values) out.push_back(value);
  return out;
}

// Addresses of those that were connected when its head looked last, each once.
json clients_of(const ClusterView& view, const std::string& vnfs) {
  std::set<std::string> clients;
  const auto record = view.connections.find(vnfs);
  if (record == view.connections.end()) return json::array();
  for (const std::string& tcp : record->second.record.tcp()) {
    std::istringstream words(tcp);
    std::string local;
    std::string remote;
    words >> local >> remote;
    clients.insert(remote.substr(0, remote.rfind(':')));
  }
  return clients;
}

std::string anon_text(const AnonymousIds& anon) { return fmt::format("{}:{}", anon.uid, anon.gid); }

}  // namespace

std::string access_word(records::Access access) {
  return access == records::ACCESS_RO ? "ro" : "rw";
}

std::string squash_word(records::Squash squash) {
  switch (squash) {
    case records::SQUASH_NONE: return "none";
    case records::SQUASH_ALL: return "all";
    default: return "root";  // protobuf enums are open: the safest reading
  }
}

std::string fence_word(records::FenceState state) {
  switch (state) {
    case records::FENCE_FAILED: return "failed";
    case records::FENCE_PROVEN: return "proven";
    case records::FENCE_DONE: return "done";
    default: return "running";
  }
}

std::string failback_word(records::Failback failback) {
  return failback == records::FAILBACK_AUTO ? "auto" : "manual";
}

std::string cause_word(records::MoveCause cause) {
  switch (cause) {
    case records::MOVE_DRAIN: return "drain";
    case records::MOVE_STORAGE: return "storage";
    case records::MOVE_NETWORK: return "network";
    case records::MOVE_FAILBACK: return "failback";
    default: return "administrator";
  }
}

std::vector<std::string> heads_that_see(const ClusterView& view, const std::string& lun_uuid) {
  std::vector<std::string> names;
  for (const auto& [name, head] : view.heads) {
    const auto& seen = head.record.luns();
    if (std::find(seen.begin(), seen.end(), lun_uuid) != seen.end()) names.push_back(name);
  }
  return names;
}

json cluster_document(const ClusterView& view) {
  const records::ClusterRecord& cluster = view.cluster.record;
  return {{"name", cluster.name()},
          {"uuid", uuid_text(cluster.uuid())},
          {"config_version", cluster.config_version()},
          {"level", level::of(cluster.level())},
          {"decider", name_of(cluster.decider())},
          {"level_possible", possible_level(view)},
          {"revision", view.revision.value()}};
}

json heads_document(const ClusterView& view) {
  return array_of(view.heads, [&](const records::HeadRecord& head) -> json {
    json luns = json::array();
    for (const auto& [name, lun] : view.luns) {
      const auto& seen = head.luns();
      if (std::find(seen.begin(), seen.end(), lun.record.uuid()) != seen.end())
        luns.push_back(name);
    }
    json document = {{"name", head.name()},
                     {"address", head.address()},
                     {"incarnation", head.incarnation()},
                     {"agent_started_ns", head.agent_started_ns()},
                     {"version", head.version()},
                     {"level", level::of(head)},
                     {"state", state_of_head(view, head.name())},
                     {"lun_paths", texts(head.lun_paths())},
                     {"luns", luns},
                     {"draining", head.draining()}};
    const auto fence = view.fences.find(head.name());
    if (fence != view.fences.end()) {
      const records::FenceRecord& record = fence->second.record;
      document["fence"] = {{"state", fence_word(record.state())},
                           {"by", record.by()},
                           {"began_ns", record.began_ns()},
                           {"proof", record.proof()},
                           {"error", record.error()}};
    }
    return document;
  });
}

json networks_document(const ClusterView& view) {
  return array_of(view.networks, [](const records::NetworkRecord& network) -> json {
    return {{"name", network.name()},
            {"device", network.device()},
            {"mtu", network.mtu()},
            {"gateway", network.gateway()}};
  });
}

json luns_document(const ClusterView& view) {
  return array_of(view.luns, [](const cvm::records::LunRecord& lun) -> json {
    return {{"name", lun.name()},
            {"uuid", uuid_text(lun.uuid())},
            {"size_bytes", lun.size_bytes()},
            {"logical_block_bytes", lun.logical_block_bytes()},
            {"volume", lun.volume()},
            {"identification", lun.identification()}};
  });
}

json volumes_document(const ClusterView& view) {
  return array_of(view.volumes, [&](const cvm::records::VolumeRecord& volume) -> json {
    json luns = json::array();
    for (const auto* lun : luns_of_volume(view, volume.name())) luns.push_back(lun->name());
    json filesystems = json::array();
    for (const auto& [name, filesystem] : view.filesystems) {
      if (filesystem.record.volume() == volume.name()) filesystems.push_back(name);
    }
    return {{"name", volume.name()},
            {"uuid", uuid_text(volume.uuid())},
            {"stripe_unit_bytes", volume.stripe_unit_bytes()},
            {"size_bytes", cvm::volume_size_bytes(volume)},
            {"segments", volume.segments_size()},
            {"luns", luns},
            {"filesystems", filesystems}};
  });
}

json filesystems_document(const ClusterView& view) {
  return array_of(view.filesystems, [&](const fs::records::FilesystemRecord& filesystem) -> json {
    json exports = json::array();
    for (const auto& [name, exported] : view.exports) {
      if (exported.record.filesystem() == filesystem.name()) exports.push_back(name);
    }
    return {{"name", filesystem.name()},
            {"fsid", filesystem.fsid()},
            {"uuid", uuid_text(filesystem.uuid())},
            {"volume", filesystem.volume()},
            {"atime", filesystem.access_times() ? "relatime" : "off"},
            {"acls", filesystem.acls_and_xattrs() ? "on" : "off"},
            {"exports", exports}};
  });
}

json vnfses_of(const ClusterView& view, const std::string& exported) {
  json out = json::array();
  for (const auto& [name, vnfs] : view.vnfses) {
    const auto& exports = vnfs.record.exports();
    if (std::find(exports.begin(), exports.end(), exported) != exports.end()) out.push_back(name);
  }
  return out;
}

json security_words(const std::vector<records::Security>& flavors) {
  json out = json::array();
  for (const records::Security one : flavors) out.push_back(security_word(one));
  return out;
}

// In the order in which they are looked at.
json rules_document(const records::ExportRecord& exported) {
  json out = json::array();
  for (const EffectiveRule& rule : effective_rules(exported)) {
    out.push_back({{"who", rule.who},
                   {"access", access_word(rule.access)},
                   {"squash", squash_word(rule.squash)},
                   {"anon", anon_text(rule.anon)},
                   {"sec", security_words(rule.security)}});
  }
  return out;
}

json exports_document(const ClusterView& view) {
  return array_of(view.exports, [&](const records::ExportRecord& exported) -> json {
    return {{"name", exported.name()},
            {"export_id", exported.export_id()},
            {"filesystem", exported.filesystem()},
            {"path", exported.path()},
            {"pseudo", pseudo_of(exported)},
            {"vnfs", vnfses_of(view, exported.name())},
            {"clients", texts(exported.clients())},
            {"access", access_word(exported.access())},
            {"squash", squash_word(exported.squash())},
            {"anon", anon_text(anonymous_ids(exported))},
            {"manage_gids", exported.manage_gids()},
            {"sec", security_words(security_of(exported))},
            {"rules", rules_document(exported)}};
  });
}

namespace {

json keytab_document(const ClusterView& view, const std::string& vnfs) {
  json out = json::array();
  const auto found = view.keytabs.find(vnfs);
  if (found == view.keytabs.end()) return out;
  for (const records::KeytabKey& key : found->second.record.keys()) {
    out.push_back({{"principal", key.principal()},
                   {"kvno", key.kvno()},
                   {"enctype", enctype_name(static_cast<std::uint16_t>(key.enctype()))}});
  }
  return out;
}

}  // namespace

json vnfs_document(const ClusterView& view) {
  return array_of(view.vnfses, [&](const records::VnfsRecord& vnfs) -> json {
    json vips = json::array();
    for (const records::Vip& vip : vnfs.vips()) {
      vips.push_back({{"address", vip.address()},
                      {"prefix_length", vip.prefix_length()},
                      {"network", vip.network()}});
    }
    json document = {{"name", vnfs.name()},
                     {"vnfs_id", vnfs.vnfs_id()},
                     {"vips", vips},
                     {"exports", texts(vnfs.exports())},
                     {"heads", texts(vnfs.heads())},
                     {"wanted", vnfs.stopped() ? "stopped" : "started"},
                     {"failback", failback_word(vnfs.failback())},
                     {"pinned", vnfs.pinned()},
                     {"owner", ""}};
    const auto owner = view.owners.find(vnfs.name());
    if (owner != view.owners.end()) {
      document["owner"] = owner->second.record.head();
      document["epoch"] = owner->second.record.epoch();
      document["version"] = owner->second.record.version();
      document["level"] = level::of(owner->second.record.level());
    }
    document["clients"] = clients_of(view, vnfs.name());
    document["keytab"] = keytab_document(view, vnfs.name());
    if (const auto keytab = view.keytabs.find(vnfs.name()); keytab != view.keytabs.end())
      document["owner_domain"] = owner_domain_of(keytab->second.record);
    const auto move = view.moves.find(vnfs.name());
    if (move != view.moves.end()) {
      const records::MoveRecord& record = move->second.record;
      document["move"] = {{"from", record.from()},
                          {"to", record.to()},
                          {"ordered_ns", record.ordered_ns()},
                          {"answered", !record.ready_incarnation().empty()},
                          {"cause", cause_word(record.cause())},
                          {"refusal", record.refusal()}};
    }
    return document;
  });
}

}  // namespace symnas::vnfsd::api
