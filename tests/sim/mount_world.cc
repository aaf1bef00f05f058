#include "tests/sim/mount_world.h"

#include <optional>
#include <string>
#include <utility>

#include "common/base/bytes.h"
#include "common/kv/keys.h"
#include "fsal_cluster/quota/quota_admin.h"
#include "fsal_cluster/schema/filesystem.h"
#include "fsal_cluster/schema/records.pb.h"
#include "fsal_cluster/state/mount_end.h"
#include "fsal_cluster/types/limits.h"
#include "tests/sim/holding_mount.h"

namespace symnas::sim {

namespace {

constexpr std::int64_t kNsPerMs = 1'000'000;
const std::string kFilesystem = "u04";

std::int64_t up_to_ms(std::uint64_t ms) {
  return static_cast<std::int64_t>(below(ms * static_cast<std::uint64_t>(kNsPerMs) + 1));
}

// The time of a thread between its check and its answer.
constexpr std::int64_t kThreadNs = 100 * kNsPerMs;
// How long a heartbeat counts on the slowest clock.
constexpr std::int64_t kLifeWindowWorldNs = fs::kLifeWindowNs * 10 / 9 + kThreadNs;

constexpr std::int64_t kStandbyTimeoutNs = 15'000 * kNsPerMs;

kv::FaultWeights weights_for(const MountWorldOptions& options) {
  kv::FaultWeights weights = SimFaults::draw_weights();
  if (options.unstamped_changes) weights.watch_drop_revision = 0;
  return weights;
}

}  // namespace

MountWorld::MountWorld(const MountWorldOptions& options)
    : options_(options),
      latency_ns_max_(below(2) == 0 ? 100'000 : 1'500'000),
      weights_(weights_for(options)),
      lun_faults_(LunFaults::draw()),
      vnfs_(1),
      server_(std::make_shared<kv::MemServer>()),
      unerased_(std::make_shared<std::set<std::string>>()),
      array_(std::make_shared<SimArray>(options.disk, options.volume_bytes)),
      daemon_(new_process("vnfsd")),
      daemon_store_(daemon_, server_, nullptr, latency_ns_max_) {}

MountWorld::MountWorld(const MountWorld& first, unsigned vnfs)
    : options_(first.options_),
      latency_ns_max_(first.latency_ns_max_),
      weights_(weights_for(options_)),
      lun_faults_(LunFaults::draw()),
      vnfs_(vnfs),
      server_(first.server_),
      unerased_(first.unerased_),
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
    format.access_times = true;
    format.acls_and_xattrs = true;
    const auto record = fs::format_filesystem(daemon_store_, daemon_, format);
    if (!record) fail("format: " + record.error().message);
    if (options_.quotas &&
        !fs::switch_quotas(daemon_store_, FsId{record->fsid()}, fs::QuotaSwitch::kOn))
      fail("quotas cannot be switched on");
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
    if (rough() && below(3) == 0) prepare();  // does not wait for the proof
    if (instance.outlives) {
      fence_alive(instance);
    } else {
      instance.mount = nullptr;
      wake(this);
      fence(instance);
    }
    fenced_epoch_ = instance.epoch;
    if (instance.served || instance.disproved) ended_epoch_ = instance.epoch;
    dead_.push_back(std::move(instance_));
    wake(this);
  }
}

// Uses the standby, if there is one whose epoch is newer than that of all that have served.
void MountWorld::start_instance() {
  const bool in_place = rough() && below(6) == 0;  // the last head was faster: the standby waits on
  std::unique_ptr<Instance> made = in_place ? nullptr : take_standby();
  if (made != nullptr) {
    made->owner = put_owner(made->epoch);
    if (rough() && below(6) == 0) {
      call_too_late(std::move(made));
    } else if (rough() && below(8) == 0) {
      discard(std::move(made));  // the exports were edited meanwhile
    }
  }
  if (made == nullptr) {
    const std::uint64_t epoch = ++last_epoch_;
    const Revision owner = put_owner(epoch);
    made = new_instance(epoch);
    made->owner = owner;
  }
  epoch_ = made->epoch;
  instance_ = std::move(made);
  call_instance(*instance_);
}

Revision MountWorld::put_owner(std::uint64_t epoch) {
  kv::Txn claim;
  claim.success = {kv::put(owner_key_, "epoch " + std::to_string(epoch))};
  for (;;) {
    const auto done = kv::txn_blocking(daemon_store_, claim, 10'000);
    if (done) return done->revision;
    sleep_ns(100 * kNsPerMs);
  }
}

std::unique_ptr<MountWorld::Instance> MountWorld::new_instance(std::uint64_t epoch) {
  auto made = std::make_unique<Instance>();
  Instance& instance = *made;
  instance.epoch = epoch;
  instance.process = &new_process(vnfs_name_ + "." + std::to_string(epoch));
  instance.faults = std::make_shared<SimFaults>(weights_);
  instance.faults->note_unerased(unerased_);
  instance.store = new SimStore(*instance.process, server_, instance.faults, latency_ns_max_);
  if (calm_) instance.faults->stop();
  spawn(*instance.process, "open", [this, &instance] {
    if (!instance.called) {  // it connects before clients wait for it
      static_cast<void>(kv::range_blocking(*instance.store, kv::single_key(owner_key_), 1, 10'000));
      instance.ready = true;
    }
    wait_until(&instance, "its call", [&instance] { return instance.called; });
    open_mount(instance);
  });
  return made;
}

void MountWorld::call_instance(Instance& instance) {
  instance.lun =
      std::make_shared<SimLun>(*instance.process, array_, calm_ ? LunFaults{} : lun_faults_);
  if (instance.disproved) instance.lun->refuse(SimLun::Refusal::kConflict);
  instance.called = true;
  wake(&instance);
}

void MountWorld::open_mount(Instance& instance) {
  const bool too_late = instance.disproved;
  fs::MountOptions options;
  options.fs = fs_;
  options.filesystem_name = kFilesystem;
  options.head = head_;
  options.vnfs = vnfs_name_;
  options.vnfs_id = VnfsId{vnfs_};
  options.epoch = Epoch{instance.epoch};
  options.guards = {kv::mod_revision_is(owner_key_, instance.owner)};
  options.records_access_times = true;
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
  if (too_late) fail("an instance serves that was called after its claim had been disproved");
  fs::Mount* const opened = mount->release();
  if (instance_.get() != &instance) return;  // was ended before it served
  if (on_serving_) on_serving_(instance.epoch, *opened);
  instance.mount = opened;
  instance.served = true;
  wake(this);
}

// The local fence: kill, reap, obtain the OFD locks, write the end records.
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

// After this nothing commits that compares the instance's owner record.
void MountWorld::disprove(Instance& instance) {
  put_owner(instance.epoch);
  instance.disproved = true;
}

fs::LifeSigns MountWorld::look_at_signs(const Instance& instance) {
  for (;;) {
    auto signs =
        fs::look_at_life_signs(daemon_store_, daemon_, {{VnfsId{vnfs_}, Epoch{instance.epoch}}});
    if (signs) return *signs;
    sleep_ns(50 * kNsPerMs);
  }
}

// The head's LUNs are cut off. Until then its heartbeats may go on; while etcd is full it proves
// itself by reads only, which nobody sees.
void MountWorld::cut_off(Instance& instance) {
  const bool reaches_etcd = below(3) == 0;
  const bool full = reaches_etcd && rough() && below(2) == 0;
  if (reaches_etcd) instance.faults->set_partitioned(false);
  if (full) server_->set_quota(kv::MemServer::Quota::kFull);
  if (below(2) == 0) sleep_ns(up_to_ms(1'500));
  if (reaches_etcd) instance.faults->set_partitioned(true);
  if (full) server_->set_quota(kv::MemServer::Quota::kFree);
  instance.lun->refuse(below(2) == 0 ? SimLun::Refusal::kConflict : SimLun::Refusal::kNoAnswer);
  instance.lun->drain();
}

// A fence that leaves the process alive: it can do no I/O and put nothing in etcd. What it may
// still do is answer from memory, until its last sign of life has become too old; until then nobody
// changes anything behind it.
void MountWorld::fence_alive(Instance& instance) {
  std::optional<fs::LifeSigns> before;  // nullopt: another head has begun the fence, and died
  if (below(4) != 0) before = look_at_signs(instance);
  cut_off(instance);
  disprove(instance);
  const bool full = rough() && below(6) == 0;  // no heartbeat can be put, but reads are answered
  if (full) {
    instance.faults->set_partitioned(false);
    server_->set_quota(kv::MemServer::Quota::kFull);
  } else {
    spawn(daemon_, "etcd is back", [faults = instance.faults] {
      sleep_ns(below(4) == 0 ? up_to_ms(1'000) : kLifeWindowWorldNs + up_to_ms(15'000));
      faults->set_partitioned(false);
    });
  }
  const fs::LifeSigns after = look_at_signs(instance);
  const auto silent_ns = fs::silent_from_ns(before ? &*before : nullptr, after);
  if (!silent_ns) fail("a mount does not say how long it answers from memory");
  const std::int64_t pause_ns = daemon_.world_ns_of(*silent_ns) + kThreadNs - now_ns();
  if (pause_ns > 0) sleep_ns(pause_ns);
  if (full) server_->set_quota(kv::MemServer::Quota::kFree);
  instance.closing = true;  // takes no more requests
  fs::Mount* const mount = std::exchange(instance.mount, nullptr);
  wake(this);
  end_mounts(instance);
  if (mount != nullptr) ask_after_the_end(instance, *mount);
}

void MountWorld::ask_after_the_end(Instance& instance, fs::Mount& mount) {
  for (std::uint64_t i = 0; i < 4; ++i) {
    spawn(*instance.process, "witness", [this, &mount, i] {
      sleep_ns(up_to_ms(below(2) == 0 ? 300 : 3'000));
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
}

// --- standbys

void MountWorld::prepare() {
  if (standby_ != nullptr) return;
  standby_ = new_instance(++last_epoch_);
  Process& process = *standby_->process;
  trace("prepares %s", process.name().c_str());
  if (!rough() || below(3) != 0) return;
  spawn(daemon_, "trouble", [this, &process] {  // also after it was called, until settle()
    sleep_ns(up_to_ms(below(2) == 0 ? 50 : 3'000));
    if (!process.alive() || !rough()) return;
    if (below(2) == 0) {
      kill(process);
    } else {
      pause(process, up_to_ms(3'000));
    }
  });
}

bool MountWorld::wait_ready(const Instance& standby) {
  const std::int64_t end_ns = now_ns() + kStandbyTimeoutNs;
  while (!standby.ready && standby.process->alive() && now_ns() < end_ns) sleep_ns(kNsPerMs);
  return standby.ready && standby.process->alive();
}

std::unique_ptr<MountWorld::Instance> MountWorld::take_standby() {
  if (standby_ == nullptr) return nullptr;
  std::unique_ptr<Instance> taken = std::move(standby_);
  if (taken->epoch > epoch_ && wait_ready(*taken)) return taken;
  discard(std::move(taken));
  return nullptr;
}

// Needs no fence: a standby has no LUN.
void MountWorld::discard(std::unique_ptr<Instance> standby) {
  trace("throws away %s", standby->process->name().c_str());
  if (standby->process->alive()) kill(*standby->process);
  dead_.push_back(std::move(standby));
}

void MountWorld::call_too_late(std::unique_ptr<Instance> standby) {
  Instance& instance = *standby;
  dead_.push_back(std::move(standby));
  spawn(daemon_, "late call", [this, &instance] {
    sleep_ns(up_to_ms(below(2) == 0 ? 20 : 3'000));
    trace("calls %s late", instance.process->name().c_str());
    if (instance.process->alive()) call_instance(instance);
  });
  sleep_ns(up_to_ms(20));
  disprove(instance);
  end_mounts(instance);
  fenced_epoch_ = ended_epoch_ = instance.epoch;
  wake(this);
}

std::string MountWorld::check_ends() const {
  const std::uint64_t ended = ended_epoch_;  // taken first: the records are read later
  std::set<std::string> alive;
  const std::string prefix = kv::keys::mounts(fs_);
  for (const kv::KeyValue& kv : server_->dump()) {
    if (!kv.key.starts_with(prefix)) continue;
    if (kv.key.size() > prefix.size() + 8) {
      alive.erase(kv.key.substr(0, prefix.size() + 8));
      continue;
    }
    fs::records::MountRecord record;
    if (!record.ParseFromString(kv.value)) return "a mount record cannot be parsed";
    if (record.vnfs_id() == vnfs_ && record.epoch() <= ended) alive.insert(kv.key);
  }
  if (alive.empty()) return {};
  return "mount " + std::to_string(read_be64(*alive.begin(), prefix.size())) + " of " + vnfs_name_ +
         " lives, and the end of its epoch was recorded";
}

bool MountWorld::serving() const {
  return instance_ != nullptr && instance_->mount != nullptr && instance_->process->alive() &&
         !instance_->closing;
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
  const auto exit = hangs_in_exit_ ? HoldingMount::Exit::kHangs : HoldingMount::Exit::kAtOnce;
  spawn(process, "rpc", [&mount, &process, &request, &done, exit] {
    HoldingMount held(mount, exit);
    request(held);
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

}  // namespace symnas::sim
