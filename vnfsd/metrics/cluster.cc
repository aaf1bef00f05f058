#include "vnfsd/metrics/sights.h"
#include "vnfsd/records/head_state.h"

namespace symnas::vnfsd::metrics {
namespace {

double seconds(std::int64_t ns) { return static_cast<double>(ns) / 1e9; }

void add_vnfs(Page& page, const ClusterView& view, const records::VnfsRecord& vnfs) {
  const std::string& name = vnfs.name();
  page.add(kVnfsWanted, {name}, !vnfs.stopped());
  const auto owner = view.owners.find(name);
  if (owner != view.owners.end()) {
    const records::OwnerRecord& record = owner->second.record;
    page.add(kVnfsOwner, {name, record.head()}, 1);
    page.add(kVnfsEpoch, {name}, static_cast<double>(record.epoch()));
    page.add(kVnfsClaimed, {name}, seconds(record.claimed_ns()));
  }
  const auto connections = view.connections.find(name);
  page.add(kVnfsConnections, {name},
           connections == view.connections.end() ? 0 : connections->second.record.tcp_size());
  const auto move = view.moves.find(name);
  if (move != view.moves.end()) {
    const records::MoveRecord& record = move->second.record;
    page.add(kVnfsMoveOrdered, {name, record.to()}, seconds(record.ordered_ns()));
  }
}

void add_view(Page& page, const Sights& sights, const ClusterView& view) {
  for (const auto& [name, head] : view.heads) {
    const std::string now = state_of_head(view, name);
    for (const std::string_view state : kHeadStates)
      page.add(kHeadState, {name, std::string(state)}, now == state);
    const bool heard = name == sights.agent.head || !sights.heads.silent.contains(name);
    page.add(kHeadHeard, {name}, heard);
  }
  for (const auto& [name, vnfs] : view.vnfses) add_vnfs(page, view, vnfs.record);
  for (const auto& [name, lun] : view.luns)
    page.add(kLunSize, {name}, static_cast<double>(lun.record.size_bytes()));
}

}  // namespace

void add_cluster(Page& page, const Sights& sights) {
  const HeadsSight& heads = sights.heads;
  page.add(kRecordsKnown, {sights.agent.head}, heads.view.has_value());
  if (heads.view) add_view(page, sights, *heads.view);
  for (const auto& [head, ahead_s] : heads.clocks_s) page.add(kHeadClockOffset, {head}, ahead_s);
  if (heads.corosync_up) page.add(kCorosyncUp, {}, *heads.corosync_up);
  for (const auto& [head, member] : heads.corosync_members)
    page.add(kCorosyncMember, {head}, member);
}

}  // namespace symnas::vnfsd::metrics
