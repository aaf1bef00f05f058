#include "tests/sim/service/head.h"

#include <utility>

#include "common/kv/keys.h"
#include "fsal_cluster/state/gate.h"
#include "fsal_cluster/state/mount_end.h"
#include "tests/sim/service/records.h"
#include "vnfsd/plans/change.h"

namespace symnas::sim {

namespace {

using vnfsd::instance::is_task;
using vnfsd::instance::name_of;

constexpr std::int64_t kNsPerMs = 1'000'000;
constexpr std::int64_t kDeadlineMs = 2'000;
constexpr std::int64_t kStandingNs = 15'000 * kNsPerMs;
constexpr std::int64_t kListeningNs = 60'000 * kNsPerMs;
constexpr std::int64_t kBeatNs = 100 * kNsPerMs;
constexpr std::int64_t kLookNs = 20 * kNsPerMs;
// A vnfsd dies at one of so many actions.
constexpr std::uint64_t kCrashesPerMillion = 15'000;

}  // namespace

// --- power

void SimHead::power_on() {
  incarnation_ = name_ + " boot " + std::to_string(++boots_);
  cut_ = false;
  instance_ = nullptr;
  standby_ = retiring_ = false;
  powered_ = true;
  start_daemon();
  wake(&powered_);
}

void SimHead::power_off() {
  powered_ = false;
  const auto& all = service_.instances();
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i]->head == name_ && all[i]->process->alive()) sim::kill(*all[i]->process);
  }
  if (is_on()) sim::kill(*daemon_);
}

void SimHead::lose_power() {
  power_off();
  reboot_later(within_ms(8'000));
}

void SimHead::reboot_later(std::int64_t span_ns) {
  spawn(service_.init(), "reboot", [this, span_ns, incarnation = incarnation_] {
    sleep_ns(500 * kNsPerMs + span_ns);
    if (incarnation_ != incarnation) return;
    power_off();
    power_on();
  });
}

void SimHead::keep_daemon() {
  for (;;) {
    wait_until(&powered_, "its power", [this] { return powered_; });
    Process& daemon = *daemon_;
    wait_until(&daemon, "the end of vnfsd", [&daemon] { return !daemon.alive(); });
    sleep_ns(within_ms(1'500));
    if (powered_ && !daemon_->alive()) start_daemon();
  }
}

void SimHead::kill_daemon() {
  if (is_on()) sim::kill(*daemon_);
}

void SimHead::kill_instance() {
  if (instance_ != nullptr && instance_->process->alive()) sim::kill(*instance_->process);
}

void SimHead::pause_all(std::int64_t span_ns) {
  silent_until_ns_ = now_ns() + span_ns;
  if (is_on()) pause(*daemon_, span_ns);
  if (instance_ != nullptr && instance_->process->alive()) pause(*instance_->process, span_ns);
}

void SimHead::cut_off(std::int64_t span_ns) {
  silent_until_ns_ = now_ns() + span_ns;
  const auto mine = faults_;
  const auto its = instance_ != nullptr ? instance_->faults : nullptr;
  mine->set_partitioned(true);
  if (its != nullptr) its->set_partitioned(true);
  at(span_ns, [mine, its] {
    mine->set_partitioned(false);
    if (its != nullptr) its->set_partitioned(false);
  });
}

bool SimHead::is_silent() const { return !is_on() || now_ns() < silent_until_ns_; }

void SimHead::refuse_luns() {
  cut_ = true;
  const auto refusal = below(2) == 0 ? SimLun::Refusal::kConflict : SimLun::Refusal::kNoAnswer;
  for (const auto& instance : service_.instances()) {
    if (instance->head == name_ && instance->lun != nullptr) instance->lun->refuse(refusal);
  }
}

void SimHead::drain() {
  const auto& all = service_.instances();
  for (std::size_t i = 0; i < all.size(); ++i) {  // others may come meanwhile
    const std::shared_ptr<SimLun> lun = all[i]->head == name_ ? all[i]->lun : nullptr;
    if (lun != nullptr) lun->drain();
  }
}

// --- vnfsd

void SimHead::start_daemon() {
  daemon_ = &new_process(name_ + ".vnfsd");
  faults_ = service_.faults();
  store_ = service_.connect(*daemon_, faults_).release();
  pulse_ = {};
  wanted_ = Wanted::kStopped;
  followed_ = restart_ = told_ = fencing_ = false;
  planned_.reset();
  claimed_.reset();
  life_.reset();
  spawn(*daemon_, "follow", [this] { follow(); });
  spawn(*daemon_, "supervise", [this] { supervise(); });
}

void SimHead::crash_point(const char* where) {
  if (!service_.rough() || !chance(kCrashesPerMillion)) return;
  trace("%s: vnfsd dies: %s", name_.c_str(), where);
  sim::kill(*daemon_);
}

SimHead::Phase SimHead::adopt() const {
  if (instance_ == nullptr || !instance_->process->alive()) return Phase::kFencing;
  if (standby_ || instance_->waits) return Phase::kDiscarding;
  return retiring_ ? Phase::kReaping : Phase::kAdopted;
}

void SimHead::supervise() {
  while (!followed_) sleep_ns(kLookNs);
  life_ = std::make_unique<Lifecycle>(adopt(), wanted_);
  for (;;) {
    perform(life_->want(wanted_, now_ms()));
    if (life_->until() && *life_->until() <= now_ms()) happen(Event::kTime);
    look();
    sleep_ns(kLookNs);
  }
}

void SimHead::happen(Event event) { perform(life_->step(event, now_ms())); }

void SimHead::perform(std::vector<Action> actions) {
  vnfsd::instance::perform(
      *life_, std::move(actions), [this](const auto& some) { return carry_out(some); },
      [this] { return wanted_; }, [this] { return now_ms(); });
}

std::optional<SimHead::Event> SimHead::carry_out(const std::vector<Action>& actions) {
  std::optional<Event> outcome;
  for (const Action action : actions) {
    trace("%s: %s", name_.c_str(), std::string(name_of(action)).c_str());
    crash_point("before an action");
    outcome = carry_out(action);
    crash_point("after an action");
    if (outcome) break;
  }
  return outcome;
}

std::optional<SimHead::Event> SimHead::carry_out(Action action) {
  switch (action) {
    case Action::kNotePrepared: return std::nullopt;  // its follower sees the phase
    case Action::kCall: call_instance(); return std::nullopt;
    case Action::kShowVips: service_.shown(*instance_); return std::nullopt;
    case Action::kHideVips: instance_->vips = false; return std::nullopt;
    case Action::kSilence: instance_->vips = false; return std::nullopt;
    case Action::kKill:
      if (instance_->process->alive()) sim::kill(*instance_->process);
      return std::nullopt;
    case Action::kBury:
    case Action::kDepart:
    case Action::kDropStandby:
      instance_->vips = false;
      standby_ = retiring_ = false;
      return std::nullopt;
    default: return run_task(action);
  }
}

SimHead::Event SimHead::run_task(Action task) {
  switch (task) {
    case Action::kFence: return fence();
    case Action::kClaim: return claim(std::nullopt);
    case Action::kClaimForStandby: return claim(Epoch{instance_->epoch});
    case Action::kPlanStandby: return plan_standby();
    case Action::kLaunch: return launch();
    case Action::kAwaitStanding: return await_standing();
    case Action::kAwaitListening: return await_listening();
    case Action::kTakeVips: return take_vips();
    case Action::kNoteServing: return Event::kDone;
    case Action::kRetire: return retire();
    default: return release();
  }
}

void SimHead::look() {
  const bool runs = instance_ != nullptr && life_->phase() != Phase::kFencing &&
                    life_->phase() != Phase::kWaiting && life_->phase() != Phase::kReleasing &&
                    life_->phase() != Phase::kStopped;
  if (!runs) return;
  if (!instance_->process->alive()) return happen(Event::kEnded);
  look_at_pulse();
  if (life_->phase() == Phase::kServing && std::exchange(restart_, false))
    return happen(Event::kRestart);
  if (life_->phase() == Phase::kServing && std::exchange(told_, false)) happen(Event::kTold);
}

void SimHead::look_at_pulse() {
  if (instance_ == nullptr || instance_->mount == nullptr || !instance_->process->alive()) return;
  using Verdict = vnfsd::instance::PulseWatch::Verdict;
  const fs::Pulse pulse{instance_->beat_ns, instance_->mount->gate().open_until_ns()};
  Event event = Event::kProved;
  switch (pulse_.look(instance_->process->mono_ns(), pulse)) {
    case Verdict::kDoubt: return;
    case Verdict::kProved: break;
    case Verdict::kUnproved: event = Event::kUnproved; break;
    case Verdict::kStill: event = Event::kStill; break;
  }
  carry_out(life_->step(event, now_ms()));
}

void SimHead::await(const bool& done) {
  while (!done) {
    look_at_pulse();
    sleep_ns(kLookNs);
  }
}

// --- tasks

Result<vnfsd::ClusterView> SimHead::view() { return vnfsd::read_view(*store_, kDeadlineMs); }

// The local fence: kill, reap, obtain the OFD locks, write the end records.
SimHead::Event SimHead::fence() {
  const auto now = view();
  if (!now) return Event::kFailed;
  const auto owner = now->owners.find(kService);
  if (owner == now->owners.end() || owner->second.record.head() != name_) return Event::kDone;
  drain();
  const std::uint64_t epoch = owner->second.record.epoch();
  const auto ended = fs::end_mounts_of(*store_, *daemon_, VnfsId{kServiceId}, Epoch{epoch},
                                       {name_, "killed, reaped, OFD locks obtained"});
  return ended ? Event::kDone : Event::kFailed;
}

SimHead::Event SimHead::claim(std::optional<Epoch> prepared) {
  const auto now = view();
  if (!now) return Event::kFailed;
  auto claim = vnfsd::plan_claim(*now, boot(), kService, prepared, daemon_->wall_ns());
  if (!claim) {
    trace("%s: no claim: %s", name_.c_str(), claim.error().message.c_str());
    return Event::kFailed;
  }
  const auto done = kv::txn_blocking(*store_, claim->txn, kDeadlineMs);
  if (done && !done->succeeded) return Event::kConflict;
  if (done) {
    claimed_at_ = done->revision;
  } else {
    const auto then = view();
    if (!then) return Event::kFailed;
    const auto mine = then->owners.find(kService);
    if (mine == then->owners.end() || mine->second.record.epoch() != claim->epoch)
      return Event::kFailed;
    claimed_at_ = mine->second.mod_revision;
  }
  claimed_ = std::move(*claim);
  const bool fits = !prepared || claimed_->epoch == prepared->value();
  return fits ? Event::kDone : Event::kNotCallable;
}

SimHead::Event SimHead::plan_standby() {
  const auto now = view();
  if (!now) return Event::kFailed;
  kv::Txn txn;
  const auto epoch = vnfsd::take_from_counter(*now, kv::keys::kEpochCounter, 0xffffffff, txn);
  if (!epoch) return Event::kFailed;
  const auto taken = kv::txn_blocking(*store_, std::move(txn), kDeadlineMs);
  if (!taken) return Event::kFailed;
  if (!taken->succeeded) return Event::kConflict;
  planned_ = Epoch{*epoch};
  return Event::kDone;
}

SimHead::Event SimHead::launch() {
  const bool is_standby = life_->phase() == Phase::kLaunchingStandby;
  auto made = std::make_unique<Instance>();
  made->head = name_;
  made->epoch = is_standby ? planned_->value() : claimed_->epoch;
  made->process = &new_process(name_ + "." + std::to_string(made->epoch));
  made->faults = service_.faults();
  made->store = service_.connect(*made->process, made->faults).release();
  instance_ = &service_.add_instance(std::move(made));
  standby_ = is_standby;
  retiring_ = false;
  pulse_ = {};
  Instance& instance = *instance_;
  spawn(*instance.process, "beat", [&instance] {
    for (;; sleep_ns(kBeatNs)) instance.beat_ns = instance.process->mono_ns();
  });
  spawn(*instance.process, "open", [this, &instance] {
    if (!instance.called) {  // it connects before clients wait for it
      static_cast<void>(
          kv::range_blocking(*instance.store, kv::single_key(kv::keys::kOwners), 1, kDeadlineMs));
      instance.waits = true;
    }
    wait_until(&instance, "its call", [&instance] { return instance.called; });
    open_mount(instance);
  });
  if (!is_standby) call_instance();
  return Event::kDone;
}

void SimHead::call_instance() {
  Instance& instance = *instance_;
  standby_ = false;
  instance.owner = claimed_at_;
  instance.waits = false;
  instance.lun = service_.lun(*instance.process);
  if (cut_) instance.lun->refuse(SimLun::Refusal::kConflict);
  instance.called = true;
  wake(&instance);
}

// On a thread of the instance.
void SimHead::open_mount(Instance& instance) {
  fs::MountOptions options = service_.mount_options(instance);
  options.on_ended = [&instance](const Error& error) {
    trace("exits: %s", error.message.c_str());
    sim::kill(*instance.process);
  };
  auto mount = fs::Mount::open(*instance.store, *instance.process, instance.lun, options);
  if (!mount) {
    trace("not opened: %s", mount.error().message.c_str());
    sim::kill(*instance.process);
  }
  instance.mount = mount->release();
}

SimHead::Event SimHead::await_standing() {
  const std::int64_t end_ns = sim::now_ns() + kStandingNs;
  while (!instance_->waits && instance_->process->alive() && sim::now_ns() < end_ns)
    sleep_ns(kNsPerMs);
  return instance_->waits && instance_->process->alive() ? Event::kDone : Event::kFailed;
}

SimHead::Event SimHead::await_listening() {
  const std::int64_t end_ns = sim::now_ns() + kListeningNs;
  while (instance_->mount == nullptr) {
    if (!instance_->process->alive() || sim::now_ns() >= end_ns) return Event::kUnfit;
    if (wanted_ != Wanted::kStarted) return Event::kFailed;
    sleep_ns(kNsPerMs);
  }
  return Event::kDone;
}

SimHead::Event SimHead::take_vips() {
  look_at_pulse();
  if (life_->phase() != Phase::kAnnouncing) return Event::kFailed;
  if (instance_->mount->gate().open_until_ns() <= instance_->process->mono_ns())
    return Event::kConflict;
  service_.shown(*instance_);
  return Event::kDone;
}

SimHead::Event SimHead::retire() {
  retiring_ = true;
  Instance& instance = *instance_;
  bool drained = false;
  bool over = false;
  spawn(*daemon_, "retire", [&] {
    instance.retiring = true;
    Process& process = *instance.process;
    const std::int64_t end_ns = sim::now_ns() + 2'000 * kNsPerMs;
    while (instance.requests > 0 && process.alive() && sim::now_ns() < end_ns) sleep_ns(kNsPerMs);
    drained = process.alive() && instance.requests == 0 && instance.mount != nullptr;
    over = true;
  });
  await(over);
  if (!drained) return Event::kFailed;
  carry_out(life_->step(Event::kDrained, now_ms()));
  bool closed = false;
  spawn(*instance.process, "close", [&instance] {
    if (instance.mount->close()) instance.closed = true;
  });
  const std::int64_t end_ns = sim::now_ns() + 5'000 * kNsPerMs;
  while (!instance.closed && instance.process->alive() && sim::now_ns() < end_ns)
    sleep_ns(kNsPerMs);
  closed = instance.closed;
  return closed ? Event::kDone : Event::kFailed;
}

SimHead::Event SimHead::release() {
  const auto now = view();
  if (!now) return Event::kFailed;
  vnfsd::Leaving leaving;
  if (instance_ != nullptr) leaving.departure.set_epoch(instance_->epoch);
  auto plan = vnfsd::plan_release(*now, boot(), kService, leaving);
  if (!plan) return Event::kDone;
  const auto done = kv::txn_blocking(*store_, std::move(plan->txn), kDeadlineMs);
  if (!done) return Event::kFailed;
  return done->succeeded ? Event::kDone : Event::kConflict;
}

}  // namespace symnas::sim
