#include "common/kv/watch_follower.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "common/base/bytes.h"

namespace symnas::kv {

std::optional<std::int64_t> decode_stamp(std::string_view value) {
  if (value.size() != 8) return std::nullopt;
  return static_cast<std::int64_t>(read_be64(value, 0));
}

WatchFollower::WatchFollower(const SessionOptions& options)
    : stamp_key_(options.stamp_key),
      mount_key_(options.mount_key),
      ended_key_(options.ended_key),
      mount_create_revision_(options.mount_create_revision) {}

WatchFollower::Step WatchFollower::resync(std::string reason) {
  state_ = State::kOpening;
  early_.clear();
  Step step;
  step.resync = true;
  step.reason = std::move(reason);
  return step;
}

WatchFollower::Step WatchFollower::on_created(Revision revision) {
  Step step;
  if (state_ != State::kOpening) return step;  // a new watch after a lost one: the position stays
  state_ = State::kAnchoring;
  applied_ = revision;  // may be lower than before: a member that lags has opened the watch
  step.read_anchor = true;
  return step;
}

WatchFollower::Step WatchFollower::on_anchor(const std::optional<KeyValue>& stamp,
                                             Revision read_revision) {
  Step step;
  if (state_ != State::kAnchoring) return step;
  state_ = State::kFollowing;
  // Facts from before the anchor must not enter: nobody can tell whether an event before it was
  // lost.
  anchor_ = stamp ? stamp->mod_revision : read_revision;
  last_version_ = stamp ? stamp->version : 0;
  if (stamp) {
    if (const auto time_ns = decode_stamp(stamp->value)) step.stamps_ns.push_back(*time_ns);
  }
  for (const auto& early : std::exchange(early_, {})) {
    if (!accept(early)) return resync("the stamp's version jumped while the watch began");
  }
  step.open_cache = std::max(applied_, anchor_);
  return step;
}

bool WatchFollower::accept(const StampEvent& stamp) {
  if (stamp.revision <= anchor_) return true;
  if (stamp.version != last_version_ + 1) return false;
  last_version_ = stamp.version;
  return true;
}

std::optional<Error> WatchFollower::disproof(const WatchEvent& event) const {
  if (event.kv.key == ended_key_ && !event.deleted) {
    return Error{ErrorCode::kEnded, "session: the mount has been ended"};
  }
  if (event.kv.key != mount_key_) return std::nullopt;
  if (event.deleted || event.kv.create_revision != mount_create_revision_) {
    return Error{ErrorCode::kEnded, "session: the mount record is gone or is another one"};
  }
  return std::nullopt;
}

WatchFollower::Step WatchFollower::on_events(const std::vector<WatchEvent>& events) {
  Step step;
  if (state_ == State::kOpening || events.empty()) return step;
  Revision newest = applied_;
  const auto gap = [&](std::string reason) {
    Step instead = resync(std::move(reason));
    instead.disproof = std::move(step.disproof);
    return instead;
  };
  for (const auto& event : events) {
    const Revision revision = event.kv.mod_revision;
    if (revision <= applied_ || revision < newest) {
      return gap("the watch went back from revision " + std::to_string(newest.value()) + " to " +
                 std::to_string(revision.value()));
    }
    newest = revision;
    if (auto found = disproof(event); found && !step.disproof) step.disproof = std::move(found);
    if (event.kv.key != stamp_key_) continue;
    const StampEvent stamp{revision, event.deleted ? 0 : event.kv.version};
    if (state_ == State::kAnchoring) {
      early_.push_back(stamp);
    } else if (!accept(stamp)) {
      return gap("the stamp's version went from " + std::to_string(last_version_) + " to " +
                 std::to_string(stamp.version) + " at revision " +
                 std::to_string(revision.value()));
    }
    if (const auto time_ns = decode_stamp(event.kv.value)) step.stamps_ns.push_back(*time_ns);
  }
  applied_ = newest;
  step.apply = true;
  return step;
}

WatchFollower::Step WatchFollower::on_ended(const Error& error) {
  if (state_ != State::kFollowing || error.code == ErrorCode::kCompacted) {
    return resync("the watch ended: " + error.message);
  }
  Step step;
  step.watch_from = Revision(applied_.value() + 1);
  return step;
}

WatchFollower::Step WatchFollower::on_too_late() {
  if (state_ != State::kFollowing) return {};
  return resync("the watch did not deliver a stamp in time");
}

}  // namespace symnas::kv
