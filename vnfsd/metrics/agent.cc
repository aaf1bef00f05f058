#include "vnfsd/metrics/sights.h"
#include "vnfsd/records/care_events.h"
#include "vnfsd/records/events.h"

namespace symnas::vnfsd::metrics {
namespace {

// A counter that appears with its first event cannot be seen to grow: so each is there from the
// beginning.
constexpr std::string_view kKinds[] = {event::kChange,
                                       event::kMoveOrdered,
                                       event::kMoveRefused,
                                       event::kEnded,
                                       event::kFenceBegun,
                                       event::kFenceFailed,
                                       event::kFenced,
                                       event::kHeadSilent,
                                       event::kHeadHeard,
                                       event::kHeadStarted,
                                       event::kHeadDrained,
                                       event::kClockOff,
                                       event::kClockBack,
                                       event::kQuota,
                                       event::kVipTaken,
                                       event::kRepaired,
                                       event::kLunUnreadable,
                                       "start",
                                       "restart",
                                       "move",
                                       "failover"};

void add_process(Page& page, const ProcessSight& process) {
  page.add(kProcessCpu, {}, process.cpu_s);
  page.add(kProcessResident, {}, static_cast<double>(process.resident_bytes));
  page.add(kProcessOpenFds, {}, static_cast<double>(process.open_fds));
  page.add(kProcessMaxFds, {}, static_cast<double>(process.max_fds));
  page.add(kProcessThreads, {}, static_cast<double>(process.threads));
  page.add(kProcessStartTime, {}, process.started_s);
}

}  // namespace

void add_agent(Page& page, const Sights& sights) {
  const AgentSight& agent = sights.agent;
  page.add(kBuildInfo, {agent.head, agent.version, std::to_string(agent.level)}, 1);
  page.add(kAgentStartTime, {agent.head}, agent.started_s);
  page.add(kPageTimestamp, {agent.head}, agent.now_s);
  std::map<std::string, std::uint64_t> events = agent.events;
  for (const std::string_view kind : kKinds) events.try_emplace(std::string(kind), 0);
  for (const auto& [kind, count] : events)
    page.add(kEvents, {agent.head, kind}, static_cast<double>(count));
  for (const auto& [file, end_s] : agent.certificates)
    page.add(kCertificateExpiry, {agent.head, file}, end_s);
  for (const auto& [file, end_s] : agent.api_certificates)
    page.add(kApiCertificateExpiry, {agent.head, file}, end_s);
  if (agent.process) add_process(page, *agent.process);
  const FencingSight& fencing = sights.fencing;
  page.add(kFencingReady, {agent.head}, fencing.ready);
  if (fencing.agent_ready) page.add(kFenceAgentReady, {agent.head}, *fencing.agent_ready);
  if (fencing.reservations_ready)
    page.add(kReservationsReady, {agent.head}, *fencing.reservations_ready);
  page.add(kStalledMounts, {agent.head}, static_cast<double>(fencing.stalls));
}

std::string page_of(const Sights& sights) {
  Page page;
  add_agent(page, sights);
  add_cluster(page, sights);
  add_instances(page, sights);
  add_storage(page, sights);
  return page.text();
}

}  // namespace symnas::vnfsd::metrics
