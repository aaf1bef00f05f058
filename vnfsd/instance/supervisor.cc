#include "vnfsd/instance/supervisor.h"

#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>

#include <fmt/format.h>

#include "common/base/check.h"
#include "common/base/log.h"
#include "vnfsd/instance/files.h"
#include "vnfsd/instance/launcher.h"
#include "vnfsd/instance/limits.h"
#include "vnfsd/instance/retire.h"

namespace symnas::vnfsd::instance {
namespace {

constexpr std::int64_t kListenSliceMs = 100;    // how soon a stop is heard while an instance starts
constexpr std::int64_t kFencePauseMs = 500;     // between tries of a fence that cannot succeed yet
constexpr std::int64_t kReleasePauseMs = 1000;  // between tries to give ownership up

// The lines of a file that need not exist, as one.
std::string lines_of(const std::string& path) {
  std::string text = read_file(path).value_or("");
  while (text.ends_with('\n')) text.pop_back();
  for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos;)
    text.replace(at, 1, "; ");
  return text;
}

}  // namespace

Supervisor::Supervisor(std::string vnfs, InstancePaths paths, std::string incarnation, Host& host,
                       const FsalBlocks& fsal, const env::Clock& clock, Wanted wanted)
    : vnfs_(std::move(vnfs)),
      paths_(std::move(paths)),
      incarnation_(std::move(incarnation)),
      host_(host),
      fsal_(fsal),
      clock_(clock),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      wanted_(wanted) {
  CHECK(wake_.valid(), "eventfd");
  thread_ = std::thread([this] { run(); });
}

Supervisor::~Supervisor() {
  {
    const std::scoped_lock lock(mutex_);
    ending_ = true;
  }
  ::eventfd_write(wake_.get(), 1);
  thread_.join();
}

void Supervisor::set_wanted(Wanted wanted) {
  {
    const std::scoped_lock lock(mutex_);
    if (wanted_ == wanted) return;
    wanted_ = wanted;
  }
  ::eventfd_write(wake_.get(), 1);
}

void Supervisor::refresh() {
  {
    const std::scoped_lock lock(mutex_);
    refresh_ = true;
  }
  ::eventfd_write(wake_.get(), 1);
}

void Supervisor::end_instance(Epoch epoch, const std::string& why) {
  {
    const std::scoped_lock lock(mutex_);
    if (killed_ == epoch) return;
    end_ = {epoch, why};
  }
  ::eventfd_write(wake_.get(), 1);
}

InstanceSnapshot Supervisor::snapshot() const {
  const std::scoped_lock lock(mutex_);
  return snapshot_;
}

bool Supervisor::ending() const {
  const std::scoped_lock lock(mutex_);
  return ending_;
}

Wanted Supervisor::wanted() const {
  const std::scoped_lock lock(mutex_);
  return wanted_;
}

void Supervisor::show(const std::string& state, const std::string& why) {
  const bool names_it = why.empty() || why.starts_with("vnfs ");
  const std::string error = names_it ? why : fmt::format("vnfs {}: {}", vnfs_, why);
  const std::scoped_lock lock(mutex_);
  if (snapshot_.state != state) snapshot_.since_ns = clock_.wall_ns();
  if (!error.empty() && snapshot_.error != error) log::warn("{}", error);
  snapshot_.state = state;
  snapshot_.error = error;
  snapshot_.pid = process_ ? process_->id().pid : 0;
  snapshot_.epoch = state_.epoch.value();
}

void Supervisor::sleep(std::int64_t timeout_ms) {
  pollfd entry{wake_.get(), POLLIN, 0};
  ::poll(&entry, 1, static_cast<int>(timeout_ms));
  eventfd_t count = 0;
  ::eventfd_read(wake_.get(), &count);
}

void Supervisor::run() {
  adopt();
  while (!ending()) {
    if (process_) {
      if (wanted() == Wanted::kStopped || state_.retiring) {
        stop();
      } else if (!serving_) {
        finish_start();
      } else {
        watch_running();
      }
    } else if (!fenced_) {
      fence_until_done();
    } else if (wanted() == Wanted::kStopped) {
      stop();
    } else {
      start();
    }
  }
}

void Supervisor::adopt() {
  const auto text = read_file(paths_.state_file);
  if (!text) return;
  const auto state = parse_state(*text);
  if (!state) {
    log::error("vnfs {}: {}: {} (its instance is looked for by its locks instead)", vnfs_,
               paths_.state_file, state.error().message);
    return;
  }
  state_ = *state;
  if (state_.incarnation != incarnation_) return;  // the head was rebooted: nothing runs
  auto process = Process::adopt(state_.process);
  if (!process) return;
  process_.emplace(std::move(*process));
  adopted_ = true;
  log::info("vnfs {}: adopted pid {}, epoch {}", vnfs_, state_.process.pid, state_.epoch.value());
  show("starting", "");
}

// From "the process exists" to "it serves". An adopted instance may have been left anywhere on this
// way: what is done already is done again without effect.
void Supervisor::finish_start() {
  const Status listening = wait_until_listening();
  if (!listening && listening.error().code == ErrorCode::kShutdown) return;
  if (!listening) return give_up(listening.error());
  const auto plan = host_.plan_of(vnfs_, state_);
  if (!plan) {
    show("starting", plan.error().message);
    sleep(kFencePauseMs);
    return;
  }
  if (const Status up = bring_addresses_up(*plan, *process_); !up) return give_up(up.error());
  {
    const std::scoped_lock lock(mutex_);
    end_.reset();  // what was said of it while it started
  }
  serving_ = true;
  policy_.served(now_ms());
  log::info("vnfs {}: serving: pid {}, epoch {}", vnfs_, process_->id().pid, state_.epoch.value());
  if (const Status told = host_.served(vnfs_); !told) log::warn("{}", told.error().message);
  show("serving", lines_of(paths_.problems_file));
}

void Supervisor::give_up(const Error& error) {
  process_->kill();
  const auto how = process_->wait(kKillTimeoutMs);
  if (!how) {
    show("stopping", fmt::format("pid {} survives SIGKILL (hung I/O?)", process_->id().pid));
    return;
  }
  after_end(*how);
  // What the instance said itself is the cause of what was seen from outside.
  const std::string said = lines_of(paths_.problems_file);
  show("fencing", said.empty() ? error.message : said);
}

// Until the instance ends or something is asked for.
void Supervisor::watch_running() {
  if (!refreshed()) rewrite_instance_file();
  kill_if_told();
  pollfd entries[] = {{process_->pidfd(), POLLIN, 0}, {wake_.get(), POLLIN, 0}};
  ::poll(entries, 2, -1);
  if (entries[1].revents != 0) sleep(0);
  if (entries[0].revents != 0) {
    const auto how = process_->wait(0);
    after_end(how ? *how : "unknown");
  }
}

// What comes of it shows when the process has ended.
void Supervisor::kill_if_told() {
  std::optional<std::pair<Epoch, std::string>> told;
  {
    const std::scoped_lock lock(mutex_);
    told.swap(end_);
    if (!told || told->first != state_.epoch) return;
    killed_ = told->first;
  }
  log::warn("vnfs {}: instance pid {}, epoch {}: killed: {}", vnfs_, process_->id().pid,
            state_.epoch.value(), told->second);
  process_->kill();
}

void Supervisor::after_end(const std::string& how) {
  log::warn("vnfs {}: instance pid {}, epoch {}: ended: {}", vnfs_, state_.process.pid,
            state_.epoch.value(), how);
  process_.reset();
  adopted_ = false;
  fenced_ = false;
  pause_ms_ = policy_.ended(now_ms());
  {
    const std::scoped_lock lock(mutex_);
    snapshot_.last_exit = how;
    ++snapshot_.restarts;
  }
  show("fencing", "");
}

void Supervisor::fence_until_done() {
  show("fencing", snapshot().error);
  const Status fenced = host_.fence(vnfs_);
  fenced_ = fenced.has_value();
  if (fenced_) return;
  show("fencing", fenced.error().message);
  sleep(kFencePauseMs);
}

void Supervisor::start() {
  if (pause_ms_ > 0) {
    show("waiting", snapshot().error);
    const std::int64_t until = now_ms() + pause_ms_;
    while (!ending() && wanted() == Wanted::kStarted && now_ms() < until) sleep(until - now_ms());
    pause_ms_ = 0;
    return;
  }
  released_ = false;
  show("starting", snapshot().error);
  const Status started = start_once();
  if (started) return show("starting", "");
  pause_ms_ = policy_.ended(now_ms());
  show(fenced_ ? "waiting" : "fencing", started.error().message);
}

Status Supervisor::start_once() {
  SYMNAS_ASSIGN(const InstancePlan plan, host_.claim(vnfs_));
  SYMNAS_ASSIGN(const std::string conf, render_ganesha_conf(plan, fsal_));
  SYMNAS_TRY(prepare_directory(plan, conf));
  fenced_ = false;  // from now on there may be something to fence
  serving_ = false;
  SYMNAS_ASSIGN(Process process, launch(plan, [&](const Process& created) {
                  state_ = {created.id(),     plan.epoch, plan.incarnation, plan.owner_mod_revision,
                            clock_.wall_ns(), {}};
                  remember_luns(plan);
                  return write_file_atomically(paths_.state_file, render_state(state_), 0600);
                }));
  process_.emplace(std::move(process));
  return {};
}

// Adds the plan's LUNs to the state; what is known already stays, the instance has opened that.
bool Supervisor::remember_luns(const InstancePlan& plan) {
  bool added = false;
  for (const LunPath& lun : plan.luns) {
    const bool known =
        std::any_of(state_.luns.begin(), state_.luns.end(),
                    [&](const LunIdentity& identity) { return identity.uuid == lun.uuid; });
    if (known) continue;
    state_.luns.push_back({lun.uuid, lun.lock_device, lun.lock_inode});
    added = true;
  }
  return added;
}

Status Supervisor::wait_until_listening() {
  const std::int64_t until = now_ms() + kListenTimeoutMs;
  for (;;) {
    const Status listening = wait_listening(*process_, kListenSliceMs);
    if (listening || listening.error().code != ErrorCode::kUnavailable) return listening;
    if (ending()) return fail(ErrorCode::kShutdown, "vnfsd is ending");
    if (wanted() == Wanted::kStopped) return fail(ErrorCode::kShutdown, "stopped while it started");
    if (now_ms() >= until) {
      return fail(ErrorCode::kUnavailable,
                  fmt::format("instance: does not listen after {} ms (its log is {})",
                              kListenTimeoutMs, paths_.log));
    }
  }
}

// Its clients get every answer to what it has begun, and nothing that would make them give up.
void Supervisor::retire_instance() {
  serving_ = false;
  state_.retiring = true;
  // Before it is told: the next vnfsd must not take it for one that serves.
  const Status noted = write_file_atomically(paths_.state_file, render_state(state_), 0600);
  if (!noted) log::error("vnfs {}: {}", vnfs_, noted.error().message);
  farewell_ = {};
  records::Departure& departure = farewell_.departure;
  departure.set_began_ns(clock_.wall_ns());
  const auto retired = retire(paths_.control, kRetireTimeoutMs);
  if (retired) {
    departure.set_requests_ms(retired->requests_ms);
    departure.set_replies_ms(retired->replies_ms);
    departure.set_close_ms(retired->close_ms);
    departure.set_kept(retired->kept);
    departure.set_error(retired->unsent);
  } else {
    log::warn("vnfs {}: killed without its farewell: {}", vnfs_, retired.error().message);
    departure.set_error(retired.error().message);
  }
  for (const Connection& connection : connections_of(*process_)) {
    farewell_.connections.push_back(connection.to_string());
  }
}

// Not before its links are down: what the kernel sends for a dead process would tell its clients.
bool Supervisor::kill_and_reap() {
  const Status down = take_links_down(*process_);
  if (!down) log::warn("vnfs {}: {}", vnfs_, down.error().message);
  killed_ms_ = now_ms();
  process_->kill();
  if (process_->wait(kKillTimeoutMs)) return true;
  show("stopping", fmt::format("pid {} survives SIGKILL (hung I/O?)", process_->id().pid));
  return false;
}

void Supervisor::stop() {
  if (process_) {
    show("stopping", "");
    if ((serving_ || adopted_) && !state_.retiring) retire_instance();
    if (!kill_and_reap()) return;
    log::info("vnfs {}: stopped: pid {}, epoch {}", vnfs_, process_->id().pid,
              state_.epoch.value());
    process_.reset();
    adopted_ = false;
    state_.retiring = false;
    fenced_ = false;
    released_ = false;
    policy_.reset();
    pause_ms_ = 0;
    const std::scoped_lock lock(mutex_);
    snapshot_.last_exit = "stopped";
    return;  // next: the fence
  }
  if (!released_) {
    if (farewell_.departure.began_ns() != 0) {
      farewell_.departure.set_proof_ms(now_ms() - killed_ms_);
    }
    const Status released = host_.release(vnfs_, farewell_);
    released_ = released.has_value();
    if (!released_) {
      show("stopping", released.error().message);
      sleep(kReleasePauseMs);
      return;
    }
  }
  show("stopped", "");
  sleep(-1);
}

bool Supervisor::refreshed() const {
  const std::scoped_lock lock(mutex_);
  return !refresh_ || snapshot_.pid == 0;
}

void Supervisor::rewrite_instance_file() {
  {
    const std::scoped_lock lock(mutex_);
    refresh_ = false;
  }
  const auto plan = host_.plan_of(vnfs_, state_);
  Status written = plan ? Status() : tl::unexpected<Error>(plan.error());
  if (written && remember_luns(*plan)) {  // before the instance can open them
    written = write_file_atomically(paths_.state_file, render_state(state_), 0600);
  }
  if (written) written = write_instance_file(*plan);
  if (written) return;
  log::error("vnfs {}: {}: {}", vnfs_, paths_.instance_file, written.error().message);
  {
    const std::scoped_lock lock(mutex_);
    refresh_ = true;
  }
  sleep(kFencePauseMs);
}

}  // namespace symnas::vnfsd::instance
