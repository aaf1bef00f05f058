// Paths: over which of a server's up to four connections a request goes, when a connection counts
// as failed, what becomes of its requests, and when it is tried again. Pure: `step` has no clock
// and no socket. Thread-compatible.
//
// A request goes to the path with the fewest outstanding bytes. Paths that have more than that by
// no more than the request's own bytes count as equal; among equals the one that was used least
// recently takes it: else the path that has just answered would take the next request again, and
// writes, which pass by full queues of reads, would stay with one path. A path fails when its
// connection ends, when it has not answered anything for `io_ms` while something is outstanding, or
// a single request for kStuckFactor times that. Its requests are sent again over the others, first
// of all; with no other path they wait. A failed path is tried again, at growing intervals. A path
// that is up, but has answered no request yet since, gets one at a time: one that loses every large
// packet holds up a single request.
//
// Invariant: a request is outstanding on at most one path, and is sent again only after a Drop of
// the path it was on, so an answer never comes twice.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

namespace symnas::dnfs {

using RequestId = std::uint64_t;

struct PathLimits {
  std::int64_t connect_ms = 3000;  // connection, mount and opens
  std::int64_t io_ms = 5000;
  std::int64_t retry_first_ms = 250;
  std::int64_t retry_max_ms = 8000;
  // A request is given up if no path is up, so long after it was submitted or its first path has
  // failed; 0: never.
  std::int64_t wait_ms = 600'000;
};
// A single request without an answer on a path that answers others.
inline constexpr std::int64_t kStuckFactor = 6;

enum class PathState { kDown, kConnecting, kUp };

struct PathCounters {
  PathState state = PathState::kDown;
  std::uint64_t bytes = 0;        // of answered requests
  std::uint64_t requests = 0;     // answered
  std::uint64_t failures = 0;     // outages, the one from the start included
  std::uint64_t returns = 0;      // outages that ended
  std::uint64_t reissued = 0;     // requests that were on it and were sent again
  std::uint64_t silent_data = 0;  // outages in a row: it connected, but answered no request
};

struct Tick {};
struct Connected {
  std::size_t path;
};
struct ConnectionEnded {  // or could not be made
  std::size_t path;
  std::string why;
};
struct Submitted {
  RequestId request;
  std::uint32_t bytes;
};
struct Answered {
  RequestId request;
  std::uint32_t bytes;  // that it moved: a read beyond the end moves none
};
using PathEvent = std::variant<Tick, Connected, ConnectionEnded, Submitted, Answered>;

struct Connect {
  std::size_t path;
};
// Close the connection; nothing of it counts any more. `outage`: the first failure of an outage.
struct Drop {
  std::size_t path;
  std::string why;
  bool outage;
};
struct Send {
  RequestId request;
  std::size_t path;
};
struct GiveUp {
  RequestId request;
};
using PathAction = std::variant<Connect, Drop, Send, GiveUp>;

class Paths {
 public:
  // REQUIRES: count > 0.
  Paths(std::size_t count, const PathLimits& limits);

  // What is to be done, in this order. REQUIRES: `now_ms` never goes back. The first Tick connects.
  std::vector<PathAction> step(std::int64_t now_ms, const PathEvent& event);

  const PathCounters& counters(std::size_t path) const { return paths_[path].counters; }
  std::size_t waiting() const { return waiting_.size(); }
  bool any_up() const;

 private:
  struct Path {
    PathCounters counters;
    std::int64_t since_ms = 0;     // connecting since
    std::int64_t retry_at_ms = 0;  // when down
    std::int64_t retry_ms = 0;     // the next pause
    std::int64_t progress_ms = 0;  // last answer, or when something became outstanding
    std::uint64_t used = 0;        // order of use
    std::uint64_t outstanding_bytes = 0;
    std::size_t outstanding = 0;
    bool proved = false;  // has answered a request since it is up
    bool outage = false;
  };
  struct Request {
    std::uint32_t bytes = 0;
    std::int64_t waits_since_ms = 0;  // submitted, or its path failed, the first time
    bool failed_once = false;
    std::int64_t sent_ms = 0;
    std::size_t path = 0;
    bool sent = false;
  };

  void tick(std::vector<PathAction>& actions);
  void take(const Connected& event);
  void take(const ConnectionEnded& event, std::vector<PathAction>& actions);
  void take(const Submitted& event);
  void take(const Answered& event);
  void drop(std::size_t path, const std::string& why, std::vector<PathAction>& actions);
  void dispatch(std::vector<PathAction>& actions);
  // The path for a request of so many bytes, or paths_.size().
  std::size_t choose(std::uint32_t bytes) const;

  PathLimits limits_;
  std::int64_t now_ms_ = 0;
  std::vector<Path> paths_;
  std::unordered_map<RequestId, Request> requests_;
  std::deque<RequestId> waiting_;
  std::uint64_t uses_ = 0;
};

}  // namespace symnas::dnfs
