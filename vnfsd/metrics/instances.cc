#include "vnfsd/metrics/sights.h"

namespace symnas::vnfsd::metrics {
namespace {

void add_numbers(Page& page, const std::vector<std::string>& labels,
                 const InstanceSight::Numbers& numbers) {
  page.add(kGateClosings, labels, static_cast<double>(numbers.gate_closings));
  page.add(kTokensHeld, labels, static_cast<double>(numbers.tokens_held));
  page.add(kTokensGranted, labels, static_cast<double>(numbers.tokens_granted));
  page.add(kTokenWaits, labels, static_cast<double>(numbers.token_waits));
  page.add(kTokensGivenBack, labels, static_cast<double>(numbers.tokens_given_back));
  page.add(kQuotaRefusals, labels, static_cast<double>(numbers.quota_refusals));
  page.add(kLockRanges, labels, static_cast<double>(numbers.lock_ranges));
  page.add(kInstanceEtcdSeconds, labels, numbers.etcd);
  page.add(kInstanceEtcdFailures, labels, static_cast<double>(numbers.etcd_failures));
}

void add_said(Page& page, const std::vector<std::string>& labels, const InstanceSight::Said& said) {
  page.add(kInstanceAnswerAge, labels, said.age_s);
  page.add(kInstanceResident, labels, static_cast<double>(said.resident_bytes));
  page.add(kInstanceInodes, labels, static_cast<double>(said.cached_inodes));
  if (said.numbers) add_numbers(page, labels, *said.numbers);
}

}  // namespace

void add_instances(Page& page, const Sights& sights) {
  const std::string& head = sights.agent.head;
  for (const auto& [vnfs, instance] : sights.instances) {
    const std::vector<std::string> labels = {head, vnfs};
    page.add(kInstanceUp, labels, instance.standing == InstanceStanding::kServing);
    for (const InstanceStanding standing : kInstanceStandings)
      page.add(kInstanceState, {head, vnfs, std::string(name_of(standing))},
               instance.standing == standing);
    page.add(kInstanceSince, labels, instance.since_s);
    page.add(kInstanceRestarts, labels, static_cast<double>(instance.restarts));
    page.add(kInstanceProblem, labels, instance.problem);
    if (instance.gate_margin_s) {
      page.add(kGateOpen, labels, *instance.gate_margin_s > 0);
      page.add(kGateMargin, labels, std::max(*instance.gate_margin_s, 0.0));
    }
    if (!instance.said) continue;
    add_said(page, labels, *instance.said);
    if (instance.said->load) add_load(page, sights, vnfs, *instance.said->load);
  }
  for (const ArrivalsSight& seen : sights.arrivals) {
    page.add(kVnfsArrivals, {head, seen.vnfs, seen.cause}, static_cast<double>(seen.count));
    page.add(kVnfsBlackout, {head, seen.vnfs, seen.cause}, seen.blackouts_s);
  }
}

}  // namespace symnas::vnfsd::metrics
