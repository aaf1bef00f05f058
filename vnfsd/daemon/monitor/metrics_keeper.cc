#include "vnfsd/daemon/monitor/metrics_keeper.h"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "common/base/log.h"
#include "common/base/version.h"
#include "fsal_cluster/pulse/pulse.h"
#include "vnfsd/config/api_directory.h"
#include "vnfsd/daemon/monitor/limits.h"
#include "vnfsd/daemon/monitor/process_sight.h"
#include "vnfsd/metrics/age.h"
#include "vnfsd/metrics/page_file.h"
#include "vnfsd/pki/certificate_end.h"
#include "vnfsd/records/history.h"
#include "vnfsd/records/levels.h"

namespace symnas::vnfsd::daemon {
namespace {

double seconds(std::int64_t ns) { return static_cast<double>(ns) / 1e9; }

// nullopt: the instance has no gate, or is gone.
std::optional<double> gate_margin_s(int pid, std::int64_t now_ns) {
  const auto pulse = fs::PulseReader::open(pid);
  if (!pulse) return std::nullopt;
  const std::int64_t until_ns = pulse->read().open_until_ns;
  if (until_ns == fs::kAlwaysOpen) return std::nullopt;
  return seconds(until_ns - now_ns);
}

// Of the files that are there, in seconds since 1970.
std::map<std::string, double> ends_of(const std::vector<std::string>& files) {
  std::map<std::string, double> out;
  for (const std::string& path : files) {
    if (path.empty()) continue;
    if (const auto end_s = pki::certificate_end(path)) out[path] = static_cast<double>(*end_s);
  }
  return out;
}

}  // namespace

std::string page_directory(const Config& config) { return config.daemon.run_dir + "/metrics"; }

MetricsKeeper::MetricsKeeper(const MetricsParts& parts, InstanceReader::Ask ask,
                             std::stop_token end)
    : parts_(parts),
      head_(parts.head),
      directory_(page_directory(parts.head.config)),
      started_s_(seconds(parts.head.clock.wall_ns())),
      etcd_(parts.head, end),
      instance_reader_(parts.head, parts.instances, std::move(ask), end),
      page_ns_(parts.head.clock.mono_ns()),
      loop_(end) {}

void MetricsKeeper::start() {
  etcd_.start();
  instance_reader_.start();
  loop_.start(kPageMs, [this] { look(); });
}

void MetricsKeeper::join() {
  loop_.join();
  instance_reader_.join();
  etcd_.join();
}

void MetricsKeeper::look() {
  std::string text = metrics::page_of(gather());
  write(text);
  const MutexLock lock(mutex_);
  page_ = std::move(text);
  page_ns_ = head_.clock.mono_ns();
}

// The same failure again is not told again.
void MetricsKeeper::write(const std::string& text) {
  Status written = metrics::make_page_directory(directory_);
  if (written) written = metrics::write_page(directory_, text);
  const std::string failure = written ? "" : written.error().message;
  if (std::exchange(failure_, failure) != failure && !failure.empty())
    log::warn("metrics: {}", failure);
}

std::string MetricsKeeper::text() const {
  const MutexLock lock(mutex_);
  return metrics::with_age(page_, seconds(head_.clock.mono_ns() - page_ns_));
}

metrics::Sights MetricsKeeper::gather() {
  metrics::Sights out;
  out.agent = agent();
  out.heads = heads();
  out.instances = instances();
  out.arrivals = arrivals(out.heads.view);
  out.luns = luns();
  const auto ill = parts_.heads.networks().ill();
  for (const auto& [name, device] : parts_.heads.networks().devices())
    out.networks[name] = !ill.contains(name);
  out.etcd = etcd_.sight();
  out.etcd.quota_bytes = parts_.journal.quota.quota_bytes();
  out.etcd.in_use_permille = parts_.journal.quota.in_use_permille();
  out.fencing = fencing();
  return out;
}

metrics::AgentSight MetricsKeeper::agent() {
  read_certificates();
  metrics::AgentSight out;
  out.head = head_.config.head_name;
  out.version = kVersion;
  out.level = level::kOwn;
  out.started_s = started_s_;
  out.now_s = seconds(head_.clock.wall_ns());
  out.events = parts_.journal.events.counts();
  out.certificates = certificates_;
  out.api_certificates = api_certificates_;
  out.process = look_at_process();
  return out;
}

void MetricsKeeper::read_certificates() {
  const std::int64_t now_ms = head_.clock.mono_ns() / 1'000'000;
  if (certificates_ms_ >= 0 && now_ms - certificates_ms_ < kCertificateReadMs) return;
  certificates_ms_ = now_ms;
  const std::string api = api_directory(head_.config);
  certificates_ =
      ends_of({head_.config.etcd.ca, head_.config.etcd.cert, head_.config.metrics.cert});
  api_certificates_ = ends_of({api + "/server.crt", api + "/ca.crt"});
}

metrics::HeadsSight MetricsKeeper::heads() const {
  metrics::HeadsSight out;
  if (auto view = parts_.reader.shown(); view && *view) out.view = std::move(**view);
  for (const auto& [head, why] : parts_.heads.silent()) out.silent.insert(head);
  if (const auto clocks = parts_.heads.clocks()) {
    out.clocks_s[head_.config.head_name] = seconds(clocks->own_ahead_ns);
    for (const auto& [head, ahead_ns] : clocks->ahead_ns) out.clocks_s[head] = seconds(ahead_ns);
  }
  if (const auto corosync = parts_.heads.corosync().sight()) {
    out.corosync_up = corosync->error.empty() && corosync->quorate;
    for (const auto& [name, head] : corosync->heads)
      out.corosync_members[name] = head.state == ha::CorosyncState::kMember;
  }
  return out;
}

// Those that may come are there with 0: the first one is seen as growth only then.
std::vector<metrics::ArrivalsSight> MetricsKeeper::arrivals(
    const std::optional<ClusterView>& view) const {
  auto seen = parts_.journal.history.arrivals();
  if (view) {
    for (const auto& [vnfs, stored] : view->vnfses) {
      if (std::ranges::find(stored.record.heads(), head_.config.head_name) ==
          stored.record.heads().end())
        continue;
      using Cause = Transition::Cause;
      for (const Cause cause : {Cause::kRestart, Cause::kMove, Cause::kFailover})
        seen[vnfs].try_emplace(name_of(cause));
    }
  }
  std::vector<metrics::ArrivalsSight> out;
  for (const auto& [vnfs, causes] : seen)
    for (const auto& [cause, one] : causes) out.push_back({vnfs, cause, one.count, one.blackouts});
  return out;
}

std::map<std::string, metrics::InstanceSight> MetricsKeeper::instances() const {
  std::map<std::string, metrics::InstanceSight> out;
  auto said = instance_reader_.said();
  for (const auto& [vnfs, snapshot] : parts_.instances.snapshots()) {
    metrics::InstanceSight& sight = out[vnfs];
    sight.standing = snapshot.standing();
    sight.since_s = seconds(snapshot.since_ns);
    sight.restarts = snapshot.restarts;
    sight.problem = !snapshot.error.empty() || !snapshot.vips_taken.empty();
    if (snapshot.pid == 0) continue;
    if (snapshot.standing() == InstanceStanding::kServing)
      sight.gate_margin_s = gate_margin_s(snapshot.pid, head_.clock.mono_ns());
    if (const auto found = said.find(vnfs); found != said.end())
      sight.said = std::move(found->second);
  }
  return out;
}

std::map<std::string, metrics::LunReport> MetricsKeeper::luns() const {
  std::map<std::string, metrics::LunReport> out;
  const auto ill = parts_.luns.canaries().ill();
  for (const LunSight& lun : parts_.luns.open_luns().sights())
    out[lun.name].found = !lun.path.empty();
  for (LunReads& reads : parts_.luns.canaries().reads()) {
    metrics::LunReport& report = out[reads.name];
    report.healthy = report.found && !ill.contains(reads.uuid);
    report.errors = reads.errors;
    report.reads_s = std::move(reads.seconds);
    report.waiting_s = static_cast<double>(reads.waiting_ms) / 1000;
  }
  return out;
}

metrics::FencingSight MetricsKeeper::fencing() const {
  metrics::FencingSight out;
  out.ready = parts_.means.why_no_failover().empty();
  const bool agent = parts_.upkeep.fence_agent_error().empty();
  if (!head_.config.fence.agent.empty()) out.agent_ready = agent;
  if (const Reservations* reservations = parts_.luns.registrations().reservations()) {
    out.reservations_ready = reservations->error().empty();
    out.ready = out.ready && *out.reservations_ready;
  }
  out.ready = out.ready && agent;
  out.stalls = parts_.stalls.stalls().size();
  return out;
}

}  // namespace symnas::vnfsd::daemon
