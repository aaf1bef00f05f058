#include <algorithm>
#include <limits>
#include <set>

#include <fmt/format.h>

#include "common/kv/admin_keys.h"
#include "common/kv/keys.h"
#include "vnfsd/names/names.h"
#include "vnfsd/network/gateways.h"
#include "vnfsd/network/net_address.h"
#include "vnfsd/plans/deciders.h"
#include "vnfsd/plans/exports.h"
#include "vnfsd/plans/limits.h"
#include "vnfsd/plans/plan_keytab.h"
#include "vnfsd/plans/plans.h"
#include "vnfsd/records/levels.h"

namespace symnas::vnfsd {
namespace {

tl::unexpected<Error> bad(const VnfsRequest& request, std::string_view why) {
  return fail(ErrorCode::kInvalidArgument, fmt::format("vnfs {}: {}", request.name, why));
}

enum class Repeats { kRefused, kFine };

Status check_count(const VnfsRequest& request, const std::vector<std::string>& values,
                   std::string_view what, std::size_t max, Repeats repeats = Repeats::kRefused) {
  if (values.empty()) return bad(request, fmt::format("no {} given", what));
  if (values.size() > max) return bad(request, fmt::format("more than {} {}s", max, what));
  if (repeats == Repeats::kFine) return {};
  if (std::set<std::string>(values.begin(), values.end()).size() != values.size()) {
    return bad(request, fmt::format("one {} is named twice", what));
  }
  return {};
}

bool is(const std::string& text, const IpAddress& address) {
  const auto parsed = IpAddress::parse(text);
  return parsed && *parsed == address;
}

// The VNFS, head or router that has the address already, as text. Empty: nobody has it.
std::string holder_of(const ClusterView& view, const IpAddress& address) {
  for (const auto& [name, vnfs] : view.vnfses) {
    for (const records::Vip& vip : vnfs.record.vips()) {
      if (is(vip.address(), address)) return "VNFS " + name;
    }
  }
  for (const auto& [name, head] : view.heads) {
    if (is(head.record.address(), address)) return "head " + name;
    for (const std::string& text : head.record.probe_addresses()) {
      if (is(text, address)) return "head " + name;
    }
  }
  for (const auto& [name, network] : view.networks) {
    const auto gateways = Gateways::parse(network.record.gateway());
    if (gateways && gateways->of(address.family) == address) {
      return fmt::format("the gateway of network {}", name);
    }
  }
  return "";
}

// Two VIPs of one subnet are in one network, and agree about its length.
Status check_beside(const VnfsRequest& request, const Cidr& vip, const std::string& network,
                    const records::VnfsRecord& vnfs) {
  for (const records::Vip& other : vnfs.vips()) {
    SYMNAS_ASSIGN(const IpAddress address, IpAddress::parse(other.address()));
    const Cidr there{address, other.prefix_length()};
    if (!vip.contains(address) && !there.contains(vip.address)) continue;
    if (other.network() != network) {
      return bad(request,
                 fmt::format("VIP {}: its subnet is that of network {}, where VIP {} of "
                             "VNFS {} is (choose that network, or another address)",
                             vip.to_string(), other.network(), there.to_string(), vnfs.name()));
    }
    if (there.prefix_length != vip.prefix_length) {
      return bad(request, fmt::format("VIP {}: VIP {} of VNFS {} has another prefix length",
                                      vip.to_string(), there.to_string(), vnfs.name()));
    }
  }
  return {};
}

// `record`: what the VNFS has so far. The subnets of a network are those of its gateways and VIPs.
Status check_subnet(const ClusterView& view, const VnfsRequest& request, const Cidr& vip,
                    const records::NetworkRecord& network, const records::VnfsRecord& record) {
  SYMNAS_ASSIGN(const Gateways gateways, Gateways::parse(network.gateway()));
  const auto& gateway = gateways.of(vip.address.family);
  if (gateway && !vip.contains(*gateway) && !is_link_local(*gateway)) {
    return bad(request, fmt::format("VIP {}: the gateway {} of network {} lies outside its prefix",
                                    vip.to_string(), gateway->to_string(), network.name()));
  }
  for (const auto& [name, vnfs] : view.vnfses) {
    SYMNAS_TRY(check_beside(request, vip, network.name(), vnfs.record));
  }
  return check_beside(request, vip, network.name(), record);
}

Status set_vips(const ClusterView& view, const VnfsRequest& request, records::VnfsRecord& record) {
  if (request.networks.size() != 1 && request.networks.size() != request.vips.size()) {
    return bad(request,
               fmt::format("{} networks for {} VIPs (give one network for all VIPs, or one "
                           "for each)",
                           request.networks.size(), request.vips.size()));
  }
  std::set<std::string> addresses;
  for (std::size_t i = 0; i < request.vips.size(); ++i) {
    SYMNAS_ASSIGN(const Cidr vip, parse_vip(request.vips[i]));
    const std::string address = vip.address.to_string();
    if (!addresses.insert(address).second) {
      return bad(request, fmt::format("VIP {} is named twice", address));
    }
    const std::string holder = holder_of(view, vip.address);
    if (!holder.empty()) {
      return fail(ErrorCode::kBusy, fmt::format("vnfs {}: VIP {} belongs to {} (choose another)",
                                                request.name, address, holder));
    }
    const std::string& network_name =
        request.networks.size() == 1 ? request.networks.front() : request.networks[i];
    SYMNAS_ASSIGN(const auto* network, find(view.networks, "network", network_name));
    SYMNAS_TRY(check_subnet(view, request, vip, network->record, record));
    records::Vip& out = *record.add_vips();
    out.set_address(address);
    out.set_prefix_length(vip.prefix_length);
    out.set_network(network_name);
  }
  return {};
}

Status set_failback(const std::string& vnfs, const std::string& word, records::VnfsRecord& record) {
  if (word != "auto" && word != "manual") {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("vnfs {}: failback '{}': auto or manual is wanted", vnfs, word));
  }
  record.set_failback(word == "auto" ? records::FAILBACK_AUTO : records::FAILBACK_MANUAL);
  return {};
}

Status set_heads(const ClusterView& view, const VnfsEdit& edit, records::VnfsRecord& record) {
  VnfsRequest request;
  request.name = edit.name;
  SYMNAS_TRY(check_count(request, *edit.heads, "head", kHeadsMax));
  record.clear_heads();
  for (const std::string& name : *edit.heads) {
    SYMNAS_TRY(find(view.heads, "head", name));
    record.add_heads(name);
  }
  const auto check = [&](const std::string& head, std::string_view why) -> Status {
    const auto& heads = *edit.heads;
    if (head.empty() || std::find(heads.begin(), heads.end(), head) != heads.end()) return {};
    return fail(ErrorCode::kBusy,
                fmt::format("vnfs {}: {} {} (symnas vnfs rehost it first)", edit.name, why, head));
  };
  const auto owner = view.owners.find(edit.name);
  if (owner != view.owners.end()) SYMNAS_TRY(check(owner->second.record.head(), "it is on"));
  const auto move = view.moves.find(edit.name);
  if (move != view.moves.end()) SYMNAS_TRY(check(move->second.record.to(), "it is moving to"));
  return {};
}

// A VNFS gets its keytab when it is there: until then it cannot serve everybody. "": it can.
std::string keytab_note(const ClusterView& view, const records::VnfsRecord& record) {
  const std::string exported = needing_kerberos(view, record);
  if (exported.empty()) return "";
  return fmt::format(
      "\nexport {}: clients have to use Kerberos, and are refused until VNFS {} has a keytab: "
      "symnas vnfs keytab set {} --file F",
      exported, record.name(), record.name());
}

// Without its id.
Result<records::VnfsRecord> new_record(const ClusterView& view, const VnfsRequest& request) {
  SYMNAS_TRY(check_host_name("vnfs", request.name));
  if (view.vnfses.contains(request.name)) {
    return fail(ErrorCode::kAlreadyExists, fmt::format("vnfs {}: exists already", request.name));
  }
  SYMNAS_TRY(check_count(request, request.vips, "VIP", kVipsPerVnfsMax));
  // One per VIP: several VIPs may live in one network.
  SYMNAS_TRY(check_count(request, request.networks, "network", kVipsPerVnfsMax, Repeats::kFine));
  SYMNAS_TRY(check_count(request, request.exports, "export", kExportsPerVnfsMax));
  SYMNAS_TRY(check_count(request, request.heads, "head", kHeadsMax));
  records::VnfsRecord record;
  record.set_name(request.name);
  // Nobody has been told another one; a head of an earlier version would tell it.
  record.set_scope_names_cluster(level::of(view.cluster.record.level()) >= level::kExportRules);
  SYMNAS_TRY(set_vips(view, request, record));
  for (const std::string& name : request.exports) {
    SYMNAS_TRY(find(view.exports, "export", name));
    record.add_exports(name);
  }
  SYMNAS_TRY(check_pseudo_paths(view, record));
  for (const std::string& name : request.heads) {
    SYMNAS_TRY(find(view.heads, "head", name));
    record.add_heads(name);
  }
  SYMNAS_TRY(set_failback(request.name, request.failback, record));
  return record;
}

struct VipRange {
  Cidr first;
  std::string network;
};

Result<std::vector<VipRange>> parse_ranges(const VnfsSetRequest& request) {
  std::vector<VipRange> ranges;
  for (const std::string& text : request.vip_ranges) {
    const std::size_t at = text.find('@');
    if (at == std::string::npos) {
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("vnfs {}: VIP range '{}': write it as 10.0.0.101/24@NETWORK",
                              request.prefix, text));
    }
    SYMNAS_ASSIGN(const Cidr first, parse_vip(text.substr(0, at)));
    ranges.push_back({first, text.substr(at + 1)});
  }
  return ranges;
}

std::vector<std::string> heads_of_set(const ClusterView& view, const VnfsSetRequest& request) {
  if (!request.heads.empty()) return request.heads;
  std::vector<std::string> heads;
  for (const auto& [name, head] : view.heads) heads.push_back(name);
  // c1n2 before c1n10.
  std::stable_sort(heads.begin(), heads.end(),
                   [](const auto& a, const auto& b) { return a.size() < b.size(); });
  return heads;
}

}  // namespace

Result<Change> plan_vnfs_create(const ClusterView& view, const VnfsRequest& request) {
  SYMNAS_ASSIGN(records::VnfsRecord record, new_record(view, request));
  Change change{fmt::format("vnfs {}: created on {}", request.name, request.heads.front()), {}};
  SYMNAS_ASSIGN(const std::uint64_t id,
                take_from_counter(view, kv::keys::kVnfsIdCounter,
                                  std::numeric_limits<std::uint32_t>::max(), change.txn));
  record.set_vnfs_id(static_cast<std::uint32_t>(id));
  change.what += keytab_note(view, record);
  change.txn.success.push_back(kv::put(kv::keys::kVnfs + request.name, record.SerializeAsString()));
  return change;
}

Result<Change> plan_vnfs_create_set(const ClusterView& view, const VnfsSetRequest& request) {
  SYMNAS_ASSIGN(const std::vector<VipRange> ranges, parse_ranges(request));
  const std::vector<std::string> heads = heads_of_set(view, request);
  if (heads.empty()) {
    return fail(ErrorCode::kNotFound, fmt::format("vnfs {}: no head has joined", request.prefix));
  }
  Change change;
  SYMNAS_ASSIGN(
      const std::uint64_t first_id,
      take_from_counter(view, kv::keys::kVnfsIdCounter, std::numeric_limits<std::uint32_t>::max(),
                        change.txn, heads.size()));
  ClusterView so_far = view;  // two of the set have no VIP in common either
  for (std::size_t i = 0; i < heads.size(); ++i) {
    VnfsRequest one;
    one.name = fmt::format("{}{}", request.prefix, i + 1);
    one.exports = request.exports;
    one.failback = request.failback;
    one.heads.assign(heads.begin() + static_cast<std::ptrdiff_t>(i), heads.end());
    one.heads.insert(one.heads.end(), heads.begin(),
                     heads.begin() + static_cast<std::ptrdiff_t>(i));
    for (const VipRange& range : ranges) {
      SYMNAS_ASSIGN(const Cidr vip, vip_after(range.first, static_cast<std::uint32_t>(i)));
      one.vips.push_back(vip.to_string());
      one.networks.push_back(range.network);
    }
    SYMNAS_ASSIGN(records::VnfsRecord record, new_record(so_far, one));
    record.set_vnfs_id(static_cast<std::uint32_t>(first_id + i));
    change.what += fmt::format("{}vnfs {}: created on {} with {}", i == 0 ? "" : "\n", one.name,
                               one.heads.front(), fmt::join(one.vips, ", "));
    change.what += keytab_note(view, record);
    change.txn.success.push_back(kv::put(kv::keys::kVnfs + one.name, record.SerializeAsString()));
    so_far.vnfses[one.name].record = std::move(record);
  }
  return change;
}

Result<Change> plan_vnfs_set(const ClusterView& view, const VnfsEdit& edit) {
  SYMNAS_ASSIGN(const auto* vnfs, find(view.vnfses, "vnfs", edit.name));
  records::VnfsRecord record = vnfs->record;
  std::vector<std::string> what;
  if (edit.failback) {
    SYMNAS_TRY(set_failback(edit.name, *edit.failback, record));
    what.push_back(fmt::format("failback is {}", *edit.failback));
    if (*edit.failback == "auto" && !record.pinned().empty()) {
      what.back() += fmt::format(
          ", but not from {}, where an administrator has moved it to (symnas vnfs failback {})",
          record.pinned(), edit.name);
    }
  }
  if (edit.heads) {
    SYMNAS_TRY(set_heads(view, edit, record));
    what.push_back(fmt::format("its heads are {}", fmt::join(*edit.heads, ",")));
  }
  const auto owner = view.owners.find(edit.name);
  if (what.empty()) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("vnfs {}: nothing to change was given", edit.name));
  }
  Change change{fmt::format("vnfs {}: {}", edit.name, fmt::join(what, "; ")), {}};
  // Claims do not touch the cluster record.
  change.txn.compares.push_back(
      kv::mod_revision_is(kv::keys::kOwners + edit.name,
                          owner == view.owners.end() ? Revision{} : owner->second.mod_revision));
  change.txn.success.push_back(kv::put(kv::keys::kVnfs + edit.name, record.SerializeAsString()));
  return change;
}

Result<Change> plan_vnfs_remove(const ClusterView& view, const std::string& name) {
  SYMNAS_ASSIGN(const auto* vnfs, find(view.vnfses, "vnfs", name));
  const auto owner = view.owners.find(name);
  if (!vnfs->record.stopped() || owner != view.owners.end()) {
    const std::string head =
        owner == view.owners.end() ? vnfs->record.heads(0) : owner->second.record.head();
    return fail(ErrorCode::kBusy,
                fmt::format("vnfs {}: not stopped on {} (symnas vnfs stop {}; then "
                            "wait until symnas status says stopped)",
                            name, head, name));
  }
  Change change{fmt::format("vnfs {}: removed", name), {}};
  change.txn.success.push_back(kv::erase(kv::keys::kVnfs + name));
  change.txn.success.push_back(kv::erase(kv::keys::kMoves + name));
  change.txn.success.push_back(kv::erase(kv::keys::kRefusals + name));
  change.txn.success.push_back(kv::erase(kv::keys::kConnections + name));
  change.txn.success.push_back(kv::erase(kv::keys::kServed + name));
  change.txn.success.push_back(kv::erase(kv::keys::kLeft + name));
  change.txn.success.push_back(kv::erase(kv::keys::kKeytabs + name));
  change.txn.success.push_back(kv::erase_range(kv::prefix_range(kv::keys::history_prefix(name))));
  change.txn.compares.push_back(kv::key_absent(kv::keys::kOwners + name));
  return change;
}

namespace {

// The VNFS and its owner. Errors: kNotFound, kBusy (no instance of it is to be `ended`).
struct Present {
  const Stored<records::VnfsRecord>& vnfs;
  const Stored<records::OwnerRecord>& owner;
};
Result<Present> present_instance(const ClusterView& view, const std::string& name,
                                 std::string_view ended) {
  SYMNAS_ASSIGN(const auto* vnfs, find(view.vnfses, "vnfs", name));
  const auto owner = view.owners.find(name);
  if (!vnfs->record.stopped() && owner != view.owners.end() && !view.moves.contains(name))
    return Present{*vnfs, owner->second};
  return fail(ErrorCode::kBusy,
              fmt::format("vnfs {}: nothing is {}: it is stopped, being moved or owned by nobody "
                          "(symnas vnfs status)",
                          name, ended));
}

// `record` names the present instance: not the one that comes after it.
Change change_of_present(const Present& present, const records::VnfsRecord& record,
                         std::string_view ended) {
  const records::OwnerRecord& owner = present.owner.record;
  Change change{fmt::format("vnfs {}: its instance on {}, epoch {}, is to be {}", record.name(),
                            owner.head(), owner.epoch(), ended),
                {}};
  change.txn.success.push_back(
      kv::put(kv::keys::kVnfs + record.name(), record.SerializeAsString()));
  change.txn.compares.push_back(
      kv::mod_revision_is(kv::keys::kOwners + record.name(), present.owner.mod_revision));
  return change;
}

}  // namespace

Result<Change> plan_vnfs_kill(const ClusterView& view, const std::string& name) {
  SYMNAS_ASSIGN(const Present present, present_instance(view, name, "killed"));
  records::VnfsRecord record = present.vnfs.record;
  record.set_killed_epoch(present.owner.record.epoch());
  return change_of_present(present, record, "killed");
}

Result<Change> plan_vnfs_restart(const ClusterView& view, const std::string& name,
                                 std::optional<Epoch> epoch) {
  SYMNAS_ASSIGN(const Present present, present_instance(view, name, "restarted"));
  const records::OwnerRecord& owner = present.owner.record;
  if (epoch && epoch->value() != owner.epoch()) {
    return fail(ErrorCode::kConflict,
                fmt::format("vnfs {}: another instance serves it meanwhile, on {}, epoch {}", name,
                            owner.head(), owner.epoch()));
  }
  const auto head = view.heads.find(owner.head());
  if (head == view.heads.end() || level::of(head->second.record) < level::kExportRules) {
    return fail(ErrorCode::kNotSupported,
                fmt::format("vnfs {}: its head {} runs an earlier version, which restarts nothing "
                            "(move it: symnas vnfs rehost)",
                            name, owner.head()));
  }
  records::VnfsRecord record = present.vnfs.record;
  record.set_restarted_epoch(owner.epoch());
  return change_of_present(present, record, "restarted");
}

Result<Change> plan_vnfs_state(const ClusterView& view, const std::string& name,
                               WantedState state) {
  SYMNAS_ASSIGN(const auto* vnfs, find(view.vnfses, "vnfs", name));
  const bool is_used = view.owners.contains(name) || is_decision_valid(view, vnfs->record);
  if (state == WantedState::kStopped && is_used)
    SYMNAS_TRY(check_builtin_decides(view, "vnfs stop", kStopInstead));
  records::VnfsRecord record = vnfs->record;
  record.set_stopped(state == WantedState::kStopped);
  const auto move = view.moves.find(name);
  if (record.stopped() && move != view.moves.end())
    record.set_pinned(move->second.record.pinned_before());
  Change change{
      fmt::format("vnfs {}: {}", name, record.stopped() ? "to be stopped" : "to be started"), {}};
  change.txn.success.push_back(kv::put(kv::keys::kVnfs + name, record.SerializeAsString()));
  // A stopped VNFS is not on its way anywhere any more.
  if (record.stopped()) change.txn.success.push_back(kv::erase(kv::keys::kMoves + name));
  return change;
}

}  // namespace symnas::vnfsd
