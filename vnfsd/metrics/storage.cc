#include <algorithm>

#include "vnfsd/metrics/sights.h"

namespace symnas::vnfsd::metrics {
namespace {

bool was_asked(const EtcdSight& etcd) {
  const auto some = [](std::uint64_t count) { return count > 0; };
  return etcd.errors > 0 || (etcd.reads_s && std::ranges::any_of(etcd.reads_s->counts(), some));
}

void add_etcd(Page& page, const std::string& head, const EtcdSight& etcd) {
  if (was_asked(etcd)) page.add(kEtcdUp, {head}, etcd.up);
  page.add(kEtcdAnswerAge, {head}, etcd.answer_age_s);
  page.add(kEtcdReadErrors, {head}, static_cast<double>(etcd.errors));
  if (etcd.reads_s) page.add(kEtcdReadSeconds, {head}, *etcd.reads_s);
  page.add(kEtcdQuota, {head}, static_cast<double>(etcd.quota_bytes));
  page.add(kEtcdQuotaUsed, {head}, static_cast<double>(etcd.in_use_permille) / 1000);
  for (const kv::MemberStatus& member : etcd.members) {
    const std::vector<std::string> labels = {head, member.endpoint};
    page.add(kEtcdMemberReachable, labels, member.reachable);
    if (!member.reachable) continue;
    page.add(kEtcdMemberLeader, labels, member.leader);
    page.add(kEtcdMemberDbSize, labels, static_cast<double>(member.db_size_bytes));
    page.add(kEtcdMemberDbInUse, labels, static_cast<double>(member.db_in_use_bytes));
    page.add(kEtcdMemberNoSpace, labels, member.no_space_alarm);
  }
}

}  // namespace

void add_storage(Page& page, const Sights& sights) {
  const std::string& head = sights.agent.head;
  for (const auto& [lun, report] : sights.luns) {
    page.add(kLunFound, {head, lun}, report.found);
    page.add(kLunHealthy, {head, lun}, report.healthy);
    page.add(kLunReadErrors, {head, lun}, static_cast<double>(report.errors));
    page.add(kLunReadWaiting, {head, lun}, report.waiting_s);
    if (report.reads_s) page.add(kLunReadSeconds, {head, lun}, *report.reads_s);
  }
  for (const auto& [network, healthy] : sights.networks)
    page.add(kNetworkHealthy, {head, network}, healthy);
  add_etcd(page, head, sights.etcd);
}

}  // namespace symnas::vnfsd::metrics
