#include "tests/sim/service/service.h"

#include <utility>

#include "common/kv/keys.h"
#include "fsal_cluster/schema/filesystem.h"
#include "fsal_cluster/state/gate.h"
#include "tests/sim/service/head.h"
#include "tests/sim/service/records.h"

namespace symnas::sim {

namespace {

constexpr std::int64_t kNsPerMs = 1'000'000;
constexpr std::int64_t kAnswerNs = 3'000 * kNsPerMs;
constexpr std::int64_t kServedNs = 240'000 * kNsPerMs;  // with every pause there is
constexpr std::uint64_t kVolumeBytes = 16 << 20;
const std::string kFilesystem = "u04";

}  // namespace

Service::Service(std::shared_ptr<test::SimDisk> disk)
    : latency_ns_max_(below(2) == 0 ? 100'000 : 1'500'000),
      weights_(SimFaults::draw_weights()),
      lun_faults_(LunFaults::draw()),
      server_(std::make_shared<kv::MemServer>()),
      array_(std::make_shared<SimArray>(std::move(disk), kVolumeBytes)) {
  for (const char* name : {"c1n1", "c1n2"})
    heads_.push_back(std::make_unique<SimHead>(*this, name));
}

void Service::start() {
  Process& maker = new_process("maker");
  bool made = false;
  spawn(maker, "make", [&] {
    SimStore& store = *new SimStore(maker, server_, nullptr, latency_ns_max_);
    kv::Txn volume;
    volume.success = {kv::put(kv::keys::kVolumes + "v1", "")};
    if (!kv::txn_blocking(store, volume, 10'000)) fail("no volume record");
    fs::FormatOptions format;
    format.name = kFilesystem;
    format.volume = "v1";
    format.root_mode = 0777;
    format.group_blocks = 256;
    const auto record = fs::format_filesystem(store, maker, format);
    if (!record) fail("format: " + record.error().message);
    fs_ = FsId{record->fsid()};
    std::vector<std::string> names;
    for (const auto& head : heads_) names.push_back(head->name());
    make_records(store, names);
    made = true;
    wake(this);
  });
  wait_until(this, "the filesystem", [&made] { return made; });
  for (const auto& head : heads_) {
    head->power_on();
    spawn(init_, "init", [&head] { head->keep_daemon(); });
  }
}

SimHead* Service::other(const SimHead& head) {
  return heads_[heads_[0].get() == &head ? 1 : 0].get();
}

std::shared_ptr<SimFaults> Service::faults() {
  auto faults = std::make_shared<SimFaults>(weights_);
  if (calm_) faults->stop();
  all_faults_.push_back(faults);
  return faults;
}

std::unique_ptr<SimStore> Service::connect(Process& process,
                                           const std::shared_ptr<SimFaults>& faults) {
  return std::make_unique<SimStore>(process, server_, faults, latency_ns_max_);
}

std::shared_ptr<SimLun> Service::lun(Process& process) {
  return std::make_shared<SimLun>(process, array_, calm_ ? LunFaults{} : lun_faults_);
}

fs::MountOptions Service::mount_options(const Instance& instance) const {
  fs::MountOptions options;
  options.fs = fs_;
  options.filesystem_name = kFilesystem;
  options.head = instance.head;
  options.vnfs = kService;
  options.vnfs_id = VnfsId{kServiceId};
  options.epoch = Epoch{instance.epoch};
  options.guards = {kv::mod_revision_is(kv::keys::kOwners + kService, instance.owner)};
  return options;
}

Instance& Service::add_instance(std::unique_ptr<Instance> instance) {
  instances_.push_back(std::move(instance));
  return *instances_.back();
}

// --- what is judged

void Service::shown(Instance& instance) {
  trace("%s: VIPs of epoch %llu are up", instance.head.c_str(),
        static_cast<unsigned long long>(instance.epoch));
  if (instance.epoch < shown_epoch_) fail("VIPs of an instance that has a successor");
  shown_epoch_ = instance.epoch;
  instance.vips = true;
  wake(this);
}

void Service::ended(std::uint64_t epoch) {
  ended_epoch_ = std::max(ended_epoch_, epoch);
  for (const auto& instance : instances_) {
    if (instance->epoch <= ended_epoch_ && instance->vips && instance->process->alive())
      trace("%s: ended with its VIPs up", instance->process->name().c_str());
  }
}

// What was sent before may be answered late: it was true when it was asked for.
std::string Service::why_mute(const Instance& instance) const {
  if (instance.epoch < shown_epoch_) return "an answer beside that of a later instance";
  if (instance.epoch <= ended_epoch_) return "an answer after the end of the mount was recorded";
  return "";
}

// --- clients

Instance* Service::reached() {
  std::vector<Instance*> all;
  for (const auto& instance : instances_) {
    if (instance->vips && instance->process->alive() && instance->mount != nullptr)
      all.push_back(instance.get());
  }
  return all.empty() ? nullptr : all[below(all.size())];
}

bool Service::ask(Instance& instance, const std::function<void(fs::Mount&)>& request) {
  if (instance.retiring || instance.mount == nullptr) return false;
  struct Answer {
    bool arrived = false;
  };
  const auto answer = std::make_shared<Answer>();
  ++instance.requests;
  const std::string mute = why_mute(instance);
  spawn(*instance.process, "request", [&instance, request, answer, mute] {
    request(*instance.mount);
    // Through the gate once more, as a server's reply.
    fs::Gate& gate = instance.mount->gate();
    const bool open = gate.wait_to_answer(gate.now_ns()) == fs::Gate::Passage::kOpen;
    --instance.requests;
    wake(instance.process);
    if (!open || !instance.vips) return;
    if (!mute.empty()) fail(mute);
    answer->arrived = true;
  });
  const std::int64_t end_ns = now_ns() + kAnswerNs;
  while (!answer->arrived && instance.process->alive() && now_ns() < end_ns) sleep_ns(kNsPerMs);
  return answer->arrived;
}

// --- the end

void Service::settle() {
  rough_ = false;
  calm_ = true;
  calm();
  // Others may come while these are calmed.
  for (std::size_t i = 0; i < all_faults_.size(); ++i) {
    const std::shared_ptr<SimFaults> faults = all_faults_[i];
    faults->set_partitioned(false);
    faults->stop();
  }
  for (std::size_t i = 0; i < instances_.size(); ++i) {
    const std::shared_ptr<SimLun> lun = instances_[i]->lun;
    if (lun != nullptr) lun->calm();
  }
  wait_served();
}

void Service::wait_served() {
  const std::int64_t end_ns = now_ns() + kServedNs;
  for (;;) {
    Instance* const instance = reached();
    bool served = false;
    if (instance != nullptr)
      served = ask(*instance, [this](fs::Mount& mount) { (void)mount.getattr(root()); });
    if (served) return;
    if (now_ns() > end_ns) fail("nobody serves the VNFS");
    sleep_ns(100 * kNsPerMs);
  }
}

}  // namespace symnas::sim
