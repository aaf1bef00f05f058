// FaultyLun: one LUN as all heads see it: a Medium behind a queue, with faults on request.
//
// Thread class: thread-safe. Requests are answered on the submitter's thread or the LUN's own.
// Invariants: a request that was accepted is executed in its turn, whether its client still lives
// or not, unless a fence, a power loss or the disappearance of the LUN ends it; each request is
// answered once; after fence() returns, nothing of that head reaches the medium.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/support/fuse_lun/medium.h"

namespace symnas::fuse_lun {

enum class RequestKind { kRead, kWrite, kFlush };

struct Request {
  RequestKind kind = RequestKind::kRead;
  std::string head;  // the head whose view it came through
  std::uint64_t offset = 0;
  std::size_t length = 0;
  Stability stability = Stability::kVolatile;  // of a write
  std::vector<std::byte> data;                 // of a write; the answer of a read
  // error_number: 0 or an errno. Called once.
  std::function<void(Request& request, int error_number)> done;

  // Used by the LUN.
  Medium::Mark mark = 0;
  std::chrono::steady_clock::time_point due{};
};

// Runs an action at an exact point: before the n-th write or flush of any LUN from now on.
// Thread class: thread-safe.
class Trigger {
 public:
  void arm(std::uint64_t requests, std::function<void()> action) {
    const std::scoped_lock lock(mutex_);
    action_ = std::move(action);
    left_ = requests;
  }
  void disarm() { arm(0, {}); }
  void count() {
    std::function<void()> action;
    {
      const std::scoped_lock lock(mutex_);
      if (left_ == 0 || --left_ > 0) return;
      action = std::move(action_);
    }
    action();
  }

 private:
  std::mutex mutex_;
  std::uint64_t left_ = 0;        // guarded by mutex_
  std::function<void()> action_;  // guarded by mutex_
};

class FaultyLun {
 public:
  FaultyLun(std::string name, std::unique_ptr<Medium> medium, Trigger* trigger = nullptr);
  // Answers waiting requests with EIO.
  ~FaultyLun();

  const std::string& name() const { return name_; }
  std::uint64_t size_bytes() const { return medium_->size_bytes(); }
  bool is_there() const;

  void submit(Request request);

  // Faults. Each applies to waiting requests and to later ones.
  void set_delay(std::chrono::milliseconds delay);
  void hang();
  void resume();
  // As hang(), for the waiting and later requests of one head.
  void hang(const std::string& head);
  void resume(const std::string& head);
  void set_eio(RequestKind kind, bool fails);
  // As set_eio(), for one head's requests.
  void set_eio(RequestKind kind, bool fails, const std::string& head);
  // Reads of these bytes end with ENODATA, as of a bad sector.
  void set_bad(std::uint64_t begin, std::uint64_t end);
  void vanish();  // waiting requests end with EIO, as when a path fails
  void appear();
  void fence(const std::string& head);  // its waiting and later requests end with EBADE
  void unfence(const std::string& head);
  // From now on nothing is executed or answered, until power_on().
  void power_off();
  // Drops the cache and the waiting requests. With a seed, an arbitrary part of the cached sectors,
  // and of those of waiting writes, has reached the medium.
  Medium::Loss power_on(std::optional<std::uint64_t> seed);

  // Ends every fault but a power loss.
  void heal();

  // One line of JSON.
  std::string stats() const;

 private:
  struct Counters {
    std::uint64_t reads = 0, writes = 0, stable_writes = 0, flushes = 0, errors = 0;
  };

  bool must_wait() const { return delay_.count() > 0 || hanging_ || powered_off_; }
  bool hold_if_hanging(Request& request);
  void release(const std::function<bool(const Request&)>& wanted);
  int refusal(const Request& request) const;
  int execute(Request& request);
  void run();
  std::deque<Request> take_if(const std::function<bool(const Request&)>& wanted);
  void answer(std::deque<Request> requests, int error_number);

  const std::string name_;
  const std::unique_ptr<Medium> medium_;  // its contents are guarded by mutex_
  Trigger* const trigger_;

  mutable std::mutex mutex_;  // guards all members below
  std::condition_variable changed_;
  std::deque<Request> queue_;
  std::deque<Request> held_;  // of the heads in hanging_heads_
  std::chrono::milliseconds delay_{0};
  bool hanging_ = false;
  std::set<std::string> hanging_heads_;
  bool powered_off_ = false;
  bool vanished_ = false;
  std::set<RequestKind> failing_;
  std::uint64_t bad_begin_ = 0;
  std::uint64_t bad_end_ = 0;
  std::set<std::pair<RequestKind, std::string>> failing_heads_;
  std::set<std::string> fenced_;
  Counters counters_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace symnas::fuse_lun
