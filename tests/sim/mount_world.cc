#include "tests/sim/mount_world.h"

#include <string>
#include <utility>

#include "common/kv/keys.h"
#include "fsal_cluster/limits.h"
#include "fsal_cluster/schema/filesystem.h"
#include "fsal_cluster/state/mount_end.h"

namespace symnas::sim {

namespace {

constexpr std::int64_t kNsPerMs = 1'000'000;
const std::string kFilesystem = "u04";

std::int64_t up_to_ms(std::uint64_t ms) {
  return static_cast<std::int64_t>(below(ms * static_cast<std::uint64_t>(kNsPerMs) + 1));
}

// The gate's window on the slowest clock, and a thread between its check and its answer.
constexpr std::int64_t kGateWindowWorldNs = fs::kGateWindowNs * 10 / 9 + 100 * kNsPerMs;

std::string owner_record(std::uint64_t epoch) { return "epoch " + std::to_string(epoch); }

}  // namespace

MountWorld::MountWorld(const MountWorldOptions& options)
    : options_(options),
      latency_ns_max_(below(2) == 0 ? 100'000 : 1'500'000),
      weights_(SimFaults::draw_weights()),
      lun_faults_(LunFaults::draw()),
      vnfs_(1),
      server_(std::make_shared<kv::MemServer>()),
      array_(std::make_shared<SimArray>(options.disk, options.volume_bytes)),
      daemon_(new_process("vnfsd")),
      daemon_store_(daemon_, server_, nullptr, latency_ns_max_) {}

MountWorld::MountWorld(const MountWorld& first, unsigned vnfs)
    : options_(first.options_),
      latency_ns_max_(first.latency_ns_max_),
      weights_(SimFaults::draw_weights()),
      lun_faults_(LunFaults::draw()),
      vnfs_(vnfs),
      server_(first.server_),
      array_(first.array_),
      daemon_(new_process("vnfsd" + std::to_string(vnfs))),
      daemon_store_(daemon_, server_, nullptr, latency_ns_max_),
      fs_(first.fs_) {}

void MountWorld::start() {
  if (fs_ != FsId{}) {
    spawn(daemon_, "vnfsd", [this] { vnfsd(); });
    return;
  }
  bool formatted = false;
  spawn(daemon_, "format", [this, &formatted] {
    kv::Txn volume;
    volume.success = {kv::put(kv::keys::kVolumes + "v1", "volume")};
    if (!kv::txn_blocking(daemon_store_, volume, 10'000)) fail("no volume record");
    fs::FormatOptions format;
    format.name = kFilesystem;
    format.volume = "v1";
    format.root_mode = 0777;
    format.group_blocks = options_.group_blocks;
    const auto record = fs::format_filesystem(daemon_store_, daemon_, format);
    if (!record) fail("format: " + record.error().message);
    fs_ = FsId{record->fsid()};
    formatted = true;
    wake(this);
  });
  wait_until(this, "format", [&formatted] { return formatted; });
  spawn(daemon_, "vnfsd", [this] { vnfsd(); });
}

// --- vnfsd

void MountWorld::vnfsd() {
  for (;;) {
    wait_until(&presence_, "its return", [this] { return presence_ == Presence::kHere; });
    start_instance();
    Instance& instance = *instance_;
    Process& process = *instance.process;
    wait_until(&process, "the end of an instance",
               [&] { return !process.alive() || instance.outlives; });
    fs::Mount* const mount = std::exchange(instance.mount, nullptr);
    wake(this);
    if (instance.outlives && process.alive()) {
      fence_alive(instance, *mount);
    } else {
      fence(instance);
    }
    fenced_epoch_ = instance.epoch;
    dead_.push_back(std::move(instance_));
    wake(this);
  }
}

void MountWorld::start_instance() {
  const std::uint64_t epoch = epoch_ + 1;
  kv::Txn claim;
  claim.success = {kv::put(owner_key_, owner_record(epoch))};
  while (!kv::txn_blocking(daemon_store_, claim, 10'000)) sleep_ns(100 * kNsPerMs);
  epoch_ = epoch;
  auto made = std::make_unique<Instance>();
  Instance& instance = *made;
  instance.epoch = epoch;
  instance.process = &new_process(vnfs_name_ + "." + std::to_string(epoch));
  instance.faults = std::make_shared<SimFaults>(weights_);
  instance.store = new SimStore(*instance.process, server_, instance.faults, latency_ns_max_);
  instance.lun =
      std::make_shared<SimLun>(*instance.process, array_, calm_ ? LunFaults{} : lun_faults_);
  if (calm_) instance.faults->stop();
  instance_ = std::move(made);
  if (calm_) instance.lun->calm();
  spawn(*instance.process, "open", [this, &instance, epoch] {
    fs::MountOptions options;
    options.fs = fs_;
    options.filesystem_name = kFilesystem;
    options.head = head_;
    options.vnfs = vnfs_name_;
    options.vnfs_id = VnfsId{vnfs_};
    options.epoch = Epoch{epoch};
    options.guards = {kv::value_is(owner_key_, owner_record(epoch))};
    options.on_ended = [&instance](const Error& error) {
      trace("exits: %s", error.message.c_str());
      kill(*instance.process);
    };
    auto mount = fs::Mount::open(*instance.store, *instance.process, instance.lun, options);
    if (!mount) {
      trace("not opened: %s", mount.error().message.c_str());
      kill(*instance.process);
    }
    trace("serves, mount %llu", static_cast<unsigned long long>((*mount)->id().value()));
    fs::Mount* const opened = mount->release();
    if (on_serving_) on_serving_(epoch, *opened);
    instance.mount = opened;
    wake(this);
  });
}

// The local fence: killed, reaped, OFD locks obtained, end records.
void MountWorld::fence(Instance& instance) {
  instance.lun->drain();
  end_mounts(instance);
}

void MountWorld::end_mounts(const Instance& instance) {
  trace("fenced %s", instance.process->name().c_str());
  for (;;) {
    const auto ended =
        fs::end_mounts_of(daemon_store_, daemon_, VnfsId{vnfs_}, Epoch{instance.epoch},
                          {head_, "killed, reaped, OFD locks obtained on 1 LUN"});
    if (ended) return;
    sleep_ns(50 * kNsPerMs);
  }
}

// A fence that leaves the process alive: no I/O of it, no etcd, and its last proof has grown old.
void MountWorld::fence_alive(Instance& instance, fs::Mount& mount) {
  instance.lun->refuse();
  instance.lun->drain();
  sleep_ns(kGateWindowWorldNs);
  end_mounts(instance);
  for (std::uint64_t i = 0; i < 4; ++i) {
    spawn(*instance.process, "witness", [this, &mount, i] {
      sleep_ns(up_to_ms(3'000));
      trace("asks what has been ended");
      if (i % 2 == 0) {
        static_cast<void>(mount.getattr(root()));
        fail("an answer, asked for after the end of the mount");
      }
      mount.read(root(), FileOffset{0}, 64, [](const Result<fs::ReadResult>&) {
        fail("an answer of the data path, asked for after the end of the mount");
      });
    });
  }
  spawn(daemon_, "etcd is back", [faults = instance.faults] {
    sleep_ns(up_to_ms(20'000));
    faults->set_partitioned(false);
  });
}

bool MountWorld::serving() const {
  return instance_ != nullptr && instance_->mount != nullptr && instance_->process->alive() &&
         !instance_->closing && !instance_->outlives;
}

void MountWorld::wait_fenced(std::uint64_t epoch) {
  wait_until(this, "a fence", [this, epoch] { return fenced(epoch); });
}

void MountWorld::set_presence(Presence presence) {
  presence_ = presence;
  wake(&presence_);
}

// --- requests

MountWorld::Reply MountWorld::call(std::uint64_t epoch,
                                   const std::function<void(fs::Mount&)>& request) {
  wait_until(this, "an instance that serves", [this] { return serving(); });
  Instance& instance = *instance_;
  if (instance.epoch != epoch) return Reply::kMoved;
  Process& process = *instance.process;
  fs::Mount& mount = *instance.mount;
  bool done = false;
  ++instance.requests;
  spawn(process, "rpc", [&mount, &process, &request, &done] {
    request(mount);
    done = true;
    wake(&process);
  });
  wait_until(&process, "a reply", [&] { return done || !process.alive(); });
  --instance.requests;
  wake(this);
  return done ? Reply::kAnswered : Reply::kLost;
}

bool MountWorld::send(std::uint64_t epoch, std::function<void(fs::Mount&)> request) {
  if (!begin_request(epoch)) return false;
  fs::Mount& mount = *instance_->mount;
  spawn(*instance_->process, "rpc", [this, epoch, &mount, request = std::move(request)] {
    request(mount);
    end_request(epoch);
  });
  return true;
}

bool MountWorld::begin_request(std::uint64_t epoch) {
  if (!lives(epoch)) return false;
  ++instance_->requests;
  return true;
}

void MountWorld::end_request(std::uint64_t epoch) {
  if (instance_ == nullptr || instance_->epoch != epoch) return;
  --instance_->requests;
  wake(this);
}

std::uint64_t MountWorld::epoch() {
  wait_until(this, "an instance that serves", [this] { return serving(); });
  return instance_->epoch;
}

// --- faults

void MountWorld::kill_instance() {
  if (instance_ && instance_->process->alive()) kill(*instance_->process);
}

void MountWorld::kill_all() {
  kill_instance();
  for (const auto& instance : dead_) {
    if (instance->process->alive()) kill(*instance->process);
  }
}

void MountWorld::lose_power() {
  kill_all();
  array_->lose_power();
}

void MountWorld::outlive() {
  wait_until(this, "an instance that serves", [this] { return serving(); });
  Instance& instance = *instance_;
  instance.faults->set_partitioned(true);
  instance.outlives = true;
  wake(instance.process);
}

void MountWorld::close_cleanly() {
  wait_until(this, "an instance that serves", [this] { return serving(); });
  Instance& instance = *instance_;
  Process& process = *instance.process;
  instance.closing = true;
  wait_until(this, "running requests", [&] { return instance.requests == 0 || !process.alive(); });
  if (!process.alive()) return;
  const bool destroys = below(2) == 0;
  spawn(process, "close", [this, &instance, &process, destroys] {
    const Status closed = instance.mount->close();
    trace("closed: %s", closed ? "well" : closed.error().message.c_str());
    if (closed) retired_.insert(instance.epoch);
    if (closed && destroys) delete instance.mount;
    kill(process);
  });
  wait_until(&process, "a clean close", [&process] { return !process.alive(); });
}

void MountWorld::disturb(const Hazards& hazards) {
  const int weights[] = {hazards.kill,      hazards.power,   hazards.pause,
                         hazards.partition, hazards.quota,   hazards.watches,
                         hazards.close,     hazards.outlive, hazards.nothing};
  int total = 0;
  for (const int weight : weights) total += weight;
  int dice = static_cast<int>(below(static_cast<std::uint64_t>(total)));
  int which = 0;
  while (dice >= weights[which]) dice -= weights[which++];
  Instance* const instance = instance_.get();
  if (instance == nullptr || !instance->process->alive()) return;
  const std::shared_ptr<SimFaults> faults = instance->faults;
  switch (which) {
    case 0: kill_instance(); break;
    case 1: lose_power(); break;
    case 2: pause(*instance->process, up_to_ms(below(3) == 0 ? 20'000 : 300)); break;
    case 3:
      if (instance->outlives) break;  // is cut off until it has been ended
      faults->set_partitioned(true);
      sleep_ns(up_to_ms(2'000));
      faults->set_partitioned(false);
      break;
    case 4:
      server_->set_quota(kv::MemServer::Quota::kFull);
      faults->set_refuse_late(below(200'000));
      sleep_ns(up_to_ms(100));
      faults->set_refuse_late(0);
      server_->set_quota(kv::MemServer::Quota::kFree);
      break;
    case 5: instance->store->end_watches(); break;
    case 6: close_cleanly(); break;
    case 7: outlive(); break;
    default: break;
  }
}

void MountWorld::settle() {
  calm_ = true;
  calm();
  set_presence(Presence::kHere);
  server_->set_quota(kv::MemServer::Quota::kFree);
  if (instance_ && !instance_->outlives) {  // that one must stay cut off until it has been ended
    const auto lun = instance_->lun;
    const auto faults = instance_->faults;
    lun->calm();
    faults->stop();
  }
  for (std::size_t i = 0; i < dead_.size(); ++i) {
    const auto faults = dead_[i]->faults;
    faults->stop();
  }
  wait_until(this, "an instance that serves", [this] { return serving(); });
}

}  // namespace symnas::sim
