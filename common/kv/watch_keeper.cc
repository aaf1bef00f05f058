#include "common/kv/watch_keeper.h"

#include <algorithm>
#include <utility>

#include "common/base/log.h"
#include "common/kv/limits.h"

namespace symnas::kv {

// Passes on one watch's calls, marked with the watch's number.
class WatchKeeper::Handler final : public WatchHandler {
 public:
  Handler(WatchKeeper& keeper, std::uint64_t number) : keeper_(keeper), number_(number) {}
  void on_watch_created(Revision revision) override { keeper_.on_created(number_, revision); }
  void on_watch_events(std::vector<WatchEvent> events, Revision /*of the member*/) override {
    keeper_.on_events(number_, events);
  }
  void on_watch_ended(Error error) override { keeper_.on_ended(number_, error); }

 private:
  WatchKeeper& keeper_;
  const std::uint64_t number_;
};

WatchKeeper::WatchKeeper(SessionContext& context, std::function<void(Error)> on_disproof)
    : context_(context), on_disproof_(std::move(on_disproof)), follower_(context.options) {
  for (const SessionOptions::Followed& followed : context.options.followed)
    following_.push_back(std::make_unique<Following>(followed));
  context_.on_close([this](const Error& error) { close(error); });
}

WatchKeeper::~WatchKeeper() = default;

void WatchKeeper::start(std::function<void(Status)> ready) {
  Actions actions;
  {
    const MutexLock lock(mutex_);
    ready_ = std::move(ready);
    reopen_locked(Revision(0), actions);
  }
  for (auto& action : actions) action();
}

void WatchKeeper::resync_late() {
  WatchFollower::Step step;
  Actions actions;
  {
    const MutexLock lock(mutex_);
    if (closed_) return;
    step = follower_.on_too_late();
    actions = obey_locked(step);
  }
  finish(step, std::move(actions));
}

void WatchKeeper::stop() {
  std::unique_ptr<Watch> watch;
  {
    const MutexLock lock(mutex_);
    closed_ = true;
    watch = std::move(watch_);
  }
  watch.reset();
}

// --- opening

void WatchKeeper::reopen_locked(Revision from, Actions& actions) {
  ++number_;
  next_from_ = from;
  const std::int64_t at_ns =
      failures_ == 0 ? context_.now_ns() : context_.retry_at_ns(failures_, number_);
  actions.push_back([this, keep = context_.keep_alive(), at_ns, number = number_] {
    context_.timers.add(at_ns, [this, keep, number] { open_watch(number); });
  });
}

void WatchKeeper::open_watch(std::uint64_t number) {
  std::unique_ptr<Watch> old_watch;
  std::unique_ptr<Handler> old_handler;
  Revision from;
  {
    const MutexLock lock(mutex_);
    if (closed_ || number != number_) return;
    old_watch = std::move(watch_);
    old_handler = std::move(handler_);
    from = next_from_;
  }
  old_watch.reset();  // before its handler
  auto handler = std::make_unique<Handler>(*this, number);
  auto watch = context_.store.watch(context_.options.watched, from, handler.get());
  const MutexLock lock(mutex_);
  watch_ = std::move(watch);
  handler_ = std::move(handler);
}

// --- what the watch says

void WatchKeeper::on_created(std::uint64_t number, Revision revision) {
  WatchFollower::Step step;
  {
    const MutexLock lock(mutex_);
    if (closed_ || number != number_) return;
    step = follower_.on_created(revision);
  }
  if (!step.read_anchor) return;
  std::vector<Op> reads{get(context_.options.stamp_key)};
  for (const auto& following : following_) following->add_reads(reads);
  context_.read(std::move(reads),
                [this, keep = context_.keep_alive(), number](Result<TxnResult> answer) {
                  on_anchor(number, std::move(answer));
                });
}

void WatchKeeper::on_anchor(std::uint64_t number, Result<TxnResult> answer) {
  if (!answer) return;  // the session has been closed
  WatchFollower::Step step;
  Actions actions;
  {
    const MutexLock lock(mutex_);
    if (closed_ || number != number_) return;
    const auto& kvs = answer->results.front().kvs;
    const auto stamp = kvs.empty() ? std::nullopt : std::optional<KeyValue>(kvs.front());
    step = follower_.on_anchor(stamp, answer->revision);
    if (step.open_cache) {
      // From here on barriers wait for the watch; those that passed before wanted this.
      const Revision passed = context_.applied_waiters.follow(follower_.applied());
      step.open_cache = std::max(*step.open_cache, passed);
      std::deque<OpResult> images(std::make_move_iterator(answer->results.begin() + 1),
                                  std::make_move_iterator(answer->results.end()));
      for (const auto& following : following_) following->image(images, answer->revision, passed);
      actions.push_back([this, keep = context_.keep_alive(), passed] {
        context_.when_applied(passed, kBarrierWatchWaitMs, [] {});
      });
    }
    for (auto& action : obey_locked(step)) actions.push_back(std::move(action));
  }
  finish(step, std::move(actions));
}

void WatchKeeper::on_events(std::uint64_t number, const std::vector<WatchEvent>& events) {
  WatchFollower::Step step;
  Actions actions;
  bool early = false;
  {
    const MutexLock lock(mutex_);
    if (closed_ || number != number_) return;
    failures_ = 0;
    step = follower_.on_events(events);
    // While the cache is closed, events are kept only for the followers' images. They are kept
    // before the anchor can open the cache, so that no barrier passes in between.
    early = step.apply && !context_.cache.is_open();
    if (early) tell_followers(events);
    actions = obey_locked(step);
  }
  if (step.apply) apply(events, early ? Told::kAlready : Told::kNotYet);
  finish(step, std::move(actions));
}

void WatchKeeper::on_ended(std::uint64_t number, const Error& error) {
  WatchFollower::Step step;
  Actions actions;
  {
    const MutexLock lock(mutex_);
    if (closed_ || number != number_) return;
    step = follower_.on_ended(error);
    ++failures_;
    actions = obey_locked(step);
  }
  log::info("session of mount {}: its watch ended: {}", context_.name, error.message);
  finish(step, std::move(actions));
}

// --- what the follower demands

WatchKeeper::Actions WatchKeeper::obey_locked(const WatchFollower::Step& step) {
  Actions actions;
  for (const std::int64_t stamp_ns : step.stamps_ns) context_.time.observe(stamp_ns);
  if (step.resync) {
    // Followers first: with the cache shut barriers do not wait for the watch, and who has passed
    // one relies on what a complete image says.
    for (const auto& following : following_) following->lost();
    // Empty before anything else may be concluded from it, and shut until the next watch has its
    // anchor.
    context_.cache.close();
    actions = context_.applied_waiters.drop();
    context_.counters.resyncs.fetch_add(1, std::memory_order_relaxed);
    if (const auto counted = resyncs_said_.admit(context_.clock.mono_ns()))
      actions.push_back([name = context_.name, reason = step.reason, more = *counted] {
        log::warn(
            "session of mount {}: cache dropped, opening a new watch: {} ({} times more since "
            "this was said)",
            name, reason, more);
      });
    reopen_locked(Revision(0), actions);
  }
  if (step.watch_from) reopen_locked(*step.watch_from, actions);
  if (step.open_cache) {
    applied_.store(follower_.applied().value(), std::memory_order_release);
    context_.cache.open(*step.open_cache);
    if (ready_) {
      actions.push_back([ready = std::exchange(ready_, nullptr)] { ready({}); });
    }
  }
  return actions;
}

void WatchKeeper::finish(const WatchFollower::Step& step, Actions actions) {
  for (auto& action : actions) action();
  if (step.disproof) on_disproof_(*step.disproof);
}

void WatchKeeper::tell_followers(const std::vector<WatchEvent>& events) {
  const Revision newest = events.back().kv.mod_revision;
  for (const auto& following : following_) following->events(events, newest);
}

void WatchKeeper::apply(const std::vector<WatchEvent>& events, Told told) {
  const Revision newest = events.back().kv.mod_revision;
  context_.cache.begin_events(newest);
  std::vector<Cache::KeyFact> of_revision;
  for (auto event = events.begin(); event != events.end(); ++event) {
    Cache::Fact fact{std::nullopt, event->kv.mod_revision};
    if (!event->deleted) fact.value = event->kv.value;
    of_revision.push_back({event->kv.key, std::move(fact)});
    const auto next = std::next(event);
    if (next == events.end() || next->kv.mod_revision != event->kv.mod_revision)
      context_.cache.apply_events(std::exchange(of_revision, {}));
  }
  context_.cache.end_events(newest);
  // After the cache: a follower that is told of a change finds it in the cache.
  if (told == Told::kNotYet) tell_followers(events);
  applied_.store(newest.value(), std::memory_order_release);
  context_.applied_waiters.advance(newest);
}

void WatchKeeper::close(const Error& error) {
  std::function<void(Status)> ready;
  Actions actions;
  {
    const MutexLock lock(mutex_);
    closed_ = true;
    context_.cache.close();
    actions = context_.applied_waiters.drop();
    ready = std::exchange(ready_, nullptr);
  }
  for (auto& action : actions) action();
  if (ready) ready(tl::unexpected<Error>(error));
}

}  // namespace symnas::kv
