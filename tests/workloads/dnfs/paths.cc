#include "tests/workloads/dnfs/paths.h"

#include <algorithm>

#include <fmt/core.h>

namespace symnas::dnfs {

Paths::Paths(std::size_t count, const PathLimits& limits) : limits_(limits), paths_(count) {
  for (Path& path : paths_) path.retry_ms = limits_.retry_first_ms;
}

bool Paths::any_up() const {
  return std::any_of(paths_.begin(), paths_.end(),
                     [](const Path& path) { return path.counters.state == PathState::kUp; });
}

std::vector<PathAction> Paths::step(std::int64_t now_ms, const PathEvent& event) {
  now_ms_ = now_ms;
  std::vector<PathAction> actions;
  if (std::holds_alternative<Tick>(event)) tick(actions);
  if (const auto* connected = std::get_if<Connected>(&event)) take(*connected);
  if (const auto* ended = std::get_if<ConnectionEnded>(&event)) take(*ended, actions);
  if (const auto* submitted = std::get_if<Submitted>(&event)) take(*submitted);
  if (const auto* answered = std::get_if<Answered>(&event)) take(*answered);
  dispatch(actions);
  return actions;
}

void Paths::tick(std::vector<PathAction>& actions) {
  for (std::size_t i = 0; i < paths_.size(); ++i) {
    Path& path = paths_[i];
    switch (path.counters.state) {
      case PathState::kDown:
        if (now_ms_ < path.retry_at_ms) break;
        path.counters.state = PathState::kConnecting;
        path.since_ms = now_ms_;
        actions.push_back(Connect{i});
        break;
      case PathState::kConnecting:
        if (now_ms_ - path.since_ms >= limits_.connect_ms)
          drop(i, fmt::format("no connection and mount within {} ms", limits_.connect_ms), actions);
        break;
      case PathState::kUp:
        if (path.outstanding > 0 && now_ms_ - path.progress_ms >= limits_.io_ms)
          drop(i, fmt::format("no answer for {} ms", limits_.io_ms), actions);
        break;
    }
  }
  for (const auto& [id, request] : requests_) {
    const bool stuck = request.sent && now_ms_ - request.sent_ms >= kStuckFactor * limits_.io_ms;
    if (!stuck) continue;
    drop(
        request.path,
        fmt::format("a request has no answer for {} ms, others have", kStuckFactor * limits_.io_ms),
        actions);
    break;  // the next tick looks for more
  }
  if (limits_.wait_ms == 0 || any_up()) return;
  std::erase_if(waiting_, [&](RequestId id) {
    if (now_ms_ - requests_.at(id).waits_since_ms < limits_.wait_ms) return false;
    requests_.erase(id);
    actions.push_back(GiveUp{id});
    return true;
  });
}

void Paths::take(const Connected& event) {
  Path& path = paths_[event.path];
  if (path.counters.state != PathState::kConnecting) return;
  path.counters.state = PathState::kUp;
  path.proved = false;
  if (path.outage) ++path.counters.returns;
  path.outage = false;
}

void Paths::take(const ConnectionEnded& event, std::vector<PathAction>& actions) {
  if (paths_[event.path].counters.state == PathState::kDown) return;
  drop(event.path, event.why, actions);
}

void Paths::take(const Submitted& event) {
  requests_[event.request] = Request{.bytes = event.bytes, .waits_since_ms = now_ms_};
  waiting_.push_back(event.request);
}

void Paths::take(const Answered& event) {
  const auto at = requests_.find(event.request);
  if (at == requests_.end() || !at->second.sent) return;
  Path& path = paths_[at->second.path];
  path.outstanding_bytes -= at->second.bytes;
  --path.outstanding;
  path.progress_ms = now_ms_;
  path.counters.bytes += event.bytes;
  ++path.counters.requests;
  path.counters.silent_data = 0;
  path.proved = true;
  path.retry_ms = limits_.retry_first_ms;
  requests_.erase(at);
}

void Paths::drop(std::size_t index, const std::string& why, std::vector<PathAction>& actions) {
  Path& path = paths_[index];
  if (path.counters.state == PathState::kUp && !path.proved && path.outstanding > 0)
    ++path.counters.silent_data;
  std::vector<RequestId> back;
  for (auto& [id, request] : requests_) {
    if (!request.sent || request.path != index) continue;
    request.sent = false;
    if (!request.failed_once) request.waits_since_ms = now_ms_;
    request.failed_once = true;
    back.push_back(id);
  }
  std::sort(back.begin(), back.end());
  waiting_.insert(waiting_.begin(), back.begin(), back.end());
  path.counters.reissued += back.size();
  path.counters.state = PathState::kDown;
  path.outstanding = 0;
  path.outstanding_bytes = 0;
  path.retry_at_ms = now_ms_ + path.retry_ms;
  path.retry_ms = std::min(2 * path.retry_ms, limits_.retry_max_ms);
  actions.push_back(Drop{index, why, !path.outage});
  if (!path.outage) ++path.counters.failures;
  path.outage = true;
}

std::size_t Paths::choose(std::uint32_t bytes) const {
  const auto may_take = [](const Path& path) {
    return path.counters.state == PathState::kUp && (path.proved || path.outstanding == 0);
  };
  std::uint64_t fewest = UINT64_MAX;
  for (const Path& path : paths_)
    if (may_take(path)) fewest = std::min(fewest, path.outstanding_bytes);
  std::size_t best = paths_.size();
  for (std::size_t i = 0; i < paths_.size(); ++i) {
    const Path& path = paths_[i];
    if (!may_take(path) || path.outstanding_bytes > fewest + bytes) continue;
    if (best == paths_.size() || path.used < paths_[best].used) best = i;
  }
  return best;
}

void Paths::dispatch(std::vector<PathAction>& actions) {
  while (!waiting_.empty()) {
    const RequestId id = waiting_.front();
    const std::size_t index = choose(requests_.at(id).bytes);
    if (index == paths_.size()) return;
    waiting_.pop_front();
    Path& path = paths_[index];
    Request& request = requests_.at(id);
    request.sent = true;
    request.path = index;
    request.sent_ms = now_ms_;
    if (path.outstanding++ == 0) path.progress_ms = now_ms_;
    path.outstanding_bytes += request.bytes;
    path.used = ++uses_;
    actions.push_back(Send{id, index});
  }
}

}  // namespace symnas::dnfs
