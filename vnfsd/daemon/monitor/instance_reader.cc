#include "vnfsd/daemon/monitor/instance_reader.h"

#include <utility>

#include "vnfsd/daemon/instances/instance_memory.h"
#include "vnfsd/daemon/monitor/limits.h"
#include "vnfsd/instance/load.h"
#include "vnfsd/instance/numbers.h"
#include "vnfsd/instance/plan.h"

namespace symnas::vnfsd::daemon {

InstanceReader::InstanceReader(const ThisHead& head, const Instances& instances, Ask ask,
                               std::stop_token end)
    : head_(head), instances_(instances), ask_(std::move(ask)), loop_(std::move(end)) {}

void InstanceReader::start() {
  loop_.start(kInstanceReadMs, [this] { look(); });
}

void InstanceReader::look() {
  std::map<std::string, Answer> answers;
  for (const auto& [vnfs, snapshot] : instances_.snapshots()) {
    if (snapshot.pid == 0) continue;
    if (auto said = ask_(vnfs, snapshot.pid)) {
      answers[vnfs] = {snapshot.pid, head_.clock.mono_ns(), *said};
      continue;
    }
    const MutexLock lock(mutex_);
    const auto before = answers_.find(vnfs);
    if (before != answers_.end() && before->second.pid == snapshot.pid) answers.insert(*before);
  }
  const MutexLock lock(mutex_);
  answers_ = std::move(answers);
}

std::map<std::string, InstanceReader::Said> InstanceReader::said() const {
  std::map<std::string, Said> out;
  const std::int64_t now_ns = head_.clock.mono_ns();
  const MutexLock lock(mutex_);
  for (const auto& [vnfs, answer] : answers_) {
    Said said = answer.said;
    said.age_s = static_cast<double>(now_ns - answer.at_ns) / 1e9;
    out[vnfs] = said;
  }
  return out;
}

namespace {

metrics::InstanceSight::Numbers as_sight(const instance::InstanceNumbers& numbers) {
  return {
      numbers.gate_closings,     numbers.tokens_held,
      numbers.tokens_granted,    numbers.token_waits,
      numbers.tokens_given_back, numbers.quota_refusals,
      numbers.lock_ranges,       {numbers.etcd_bounds_s, numbers.etcd_tries, numbers.etcd_sum_s},
      numbers.etcd_failures};
}

}  // namespace

InstanceReader::Ask ask_by_control(const Config& config) {
  return [config](const std::string& vnfs, int pid) -> Result<InstanceReader::Said> {
    const instance::InstancePaths paths = instance::paths_for(config, vnfs);
    const MemoryUse use = memory_of(pid, paths.memory_file);
    InstanceReader::Said said;
    said.resident_bytes = use.resident_bytes;
    said.cached_inodes = use.cached_inodes;
    const auto numbers = instance::numbers_of(paths.control);
    if (numbers) {
      said.numbers = as_sight(*numbers);
    } else if (numbers.error().code != ErrorCode::kInvalidArgument) {
      return tl::unexpected<Error>(numbers.error());
    }
    auto load = instance::load_of(paths.control);
    if (load) {
      said.load = std::move(*load);
    } else if (load.error().code != ErrorCode::kInvalidArgument) {
      return tl::unexpected<Error>(load.error());
    }
    return said;
  };
}

}  // namespace symnas::vnfsd::daemon
