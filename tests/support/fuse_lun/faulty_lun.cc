#include "tests/support/fuse_lun/faulty_lun.h"

#include <cerrno>

#include <fmt/core.h>

namespace symnas::fuse_lun {

FaultyLun::FaultyLun(std::string name, std::unique_ptr<Medium> medium, Trigger* trigger)
    : name_(std::move(name)), medium_(std::move(medium)), trigger_(trigger) {
  thread_ = std::thread([this] { run(); });
}

FaultyLun::~FaultyLun() {
  std::deque<Request> waiting;
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
    waiting.swap(queue_);
    for (Request& request : held_) waiting.push_back(std::move(request));
    held_.clear();
  }
  changed_.notify_all();
  thread_.join();
  answer(std::move(waiting), EIO);
}

bool FaultyLun::is_there() const {
  const std::scoped_lock lock(mutex_);
  return !vanished_;
}

void FaultyLun::submit(Request request) {
  if (trigger_ != nullptr && request.kind != RequestKind::kRead) trigger_->count();
  int error = 0;
  {
    const std::scoped_lock lock(mutex_);
    request.mark = medium_->mark();
    error = refusal(request);
    if (error == 0 && hold_if_hanging(request)) return;
    if (error == 0 && (must_wait() || !queue_.empty()) && queue_.size() < kQueueMax) {
      request.due = std::chrono::steady_clock::now() + delay_;
      queue_.push_back(std::move(request));
      changed_.notify_all();
      return;
    }
    if (error == 0) error = queue_.empty() ? execute(request) : EIO;
    if (error != 0) ++counters_.errors;
  }
  request.done(request, error);
}

// Puts the request aside if its head hangs and there is room.
bool FaultyLun::hold_if_hanging(Request& request) {
  if (!hanging_heads_.contains(request.head) || held_.size() >= kQueueMax) return false;
  held_.push_back(std::move(request));
  return true;
}

// Puts the requests that were set aside into the queue again.
void FaultyLun::release(const std::function<bool(const Request&)>& wanted) {
  std::deque<Request> left;
  for (Request& request : held_) (wanted(request) ? queue_ : left).push_back(std::move(request));
  held_.swap(left);
  changed_.notify_all();
}

// The error that ends a request before its turn; 0: none.
int FaultyLun::refusal(const Request& request) const {
  if (powered_off_) return 0;  // it waits for the power
  if (vanished_) return EIO;
  return fenced_.contains(request.head) ? EBADE : 0;
}

int FaultyLun::execute(Request& request) {
  if (failing_.contains(request.kind)) return EIO;
  if (failing_heads_.contains({request.kind, request.head})) return EIO;
  switch (request.kind) {
    case RequestKind::kRead:
      if (request.offset < bad_end_ && bad_begin_ < request.offset + request.length) return ENODATA;
      ++counters_.reads;
      request.data.resize(request.length);
      return medium_->read(request.offset, request.data);
    case RequestKind::kWrite:
      ++counters_.writes;
      if (request.stability == Stability::kStable) ++counters_.stable_writes;
      return medium_->write(request.offset, request.data, request.stability);
    case RequestKind::kFlush: ++counters_.flushes; return medium_->flush(request.mark);
  }
  return EINVAL;
}

void FaultyLun::run() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    if (queue_.empty() || hanging_ || powered_off_) {
      changed_.wait(lock);
      continue;
    }
    if (const auto due = queue_.front().due; std::chrono::steady_clock::now() < due) {
      changed_.wait_until(lock, due);
      continue;
    }
    Request request = std::move(queue_.front());
    queue_.pop_front();
    if (hold_if_hanging(request)) continue;
    int error = refusal(request);
    if (error == 0) error = execute(request);
    if (error != 0) ++counters_.errors;
    lock.unlock();
    request.done(request, error);
    lock.lock();
  }
}

std::deque<Request> FaultyLun::take_if(const std::function<bool(const Request&)>& wanted) {
  std::deque<Request> taken;
  std::deque<Request> left;
  for (std::deque<Request>* waiting : {&queue_, &held_}) {
    left.clear();
    for (Request& request : *waiting)
      (wanted(request) ? taken : left).push_back(std::move(request));
    waiting->swap(left);
  }
  counters_.errors += taken.size();
  return taken;
}

void FaultyLun::answer(std::deque<Request> requests, int error_number) {
  for (Request& request : requests) request.done(request, error_number);
}

void FaultyLun::set_delay(std::chrono::milliseconds delay) {
  const std::scoped_lock lock(mutex_);
  delay_ = delay;
}

void FaultyLun::hang() {
  const std::scoped_lock lock(mutex_);
  hanging_ = true;
}

void FaultyLun::resume() {
  const std::scoped_lock lock(mutex_);
  hanging_ = false;
  changed_.notify_all();
}

void FaultyLun::hang(const std::string& head) {
  const std::scoped_lock lock(mutex_);
  hanging_heads_.insert(head);
}

void FaultyLun::resume(const std::string& head) {
  const std::scoped_lock lock(mutex_);
  hanging_heads_.erase(head);
  release([&](const Request& request) { return request.head == head; });
}

void FaultyLun::set_eio(RequestKind kind, bool fails) {
  const std::scoped_lock lock(mutex_);
  if (fails)
    failing_.insert(kind);
  else
    failing_.erase(kind);
}

void FaultyLun::set_eio(RequestKind kind, bool fails, const std::string& head) {
  const std::scoped_lock lock(mutex_);
  if (fails) {
    failing_heads_.insert({kind, head});
  } else {
    failing_heads_.erase({kind, head});
  }
}

void FaultyLun::set_bad(std::uint64_t begin, std::uint64_t end) {
  const std::scoped_lock lock(mutex_);
  bad_begin_ = begin;
  bad_end_ = end;
}

void FaultyLun::vanish() {
  std::deque<Request> ended;
  {
    const std::scoped_lock lock(mutex_);
    vanished_ = true;
    ended = take_if([](const Request&) { return true; });
  }
  answer(std::move(ended), EIO);
}

void FaultyLun::appear() {
  const std::scoped_lock lock(mutex_);
  vanished_ = false;
}

void FaultyLun::fence(const std::string& head) {
  std::deque<Request> ended;
  {
    const std::scoped_lock lock(mutex_);
    fenced_.insert(head);
    ended = take_if([&](const Request& request) { return request.head == head; });
  }
  answer(std::move(ended), EBADE);
}

void FaultyLun::unfence(const std::string& head) {
  const std::scoped_lock lock(mutex_);
  fenced_.erase(head);
}

void FaultyLun::power_off() {
  const std::scoped_lock lock(mutex_);
  powered_off_ = true;
}

Medium::Loss FaultyLun::power_on(std::optional<std::uint64_t> seed) {
  std::deque<Request> ended;
  Medium::Loss loss;
  {
    const std::scoped_lock lock(mutex_);
    std::mt19937_64 random(seed.value_or(0));
    loss = medium_->lose_power(seed ? &random : nullptr);
    ended = take_if([](const Request&) { return true; });
    for (const Request& request : ended) {
      if (seed && request.kind == RequestKind::kWrite && !fenced_.contains(request.head))
        medium_->tear(request.offset, request.data, random);
    }
    powered_off_ = false;
    changed_.notify_all();
  }
  answer(std::move(ended), EIO);
  return loss;
}

void FaultyLun::heal() {
  const std::scoped_lock lock(mutex_);
  delay_ = std::chrono::milliseconds(0);
  hanging_ = false;
  vanished_ = false;
  failing_.clear();
  bad_begin_ = bad_end_ = 0;
  failing_heads_.clear();
  fenced_.clear();
  hanging_heads_.clear();
  release([](const Request&) { return true; });
  changed_.notify_all();
}

std::string FaultyLun::stats() const {
  const std::scoped_lock lock(mutex_);
  return fmt::format(
      R"({{"name": "{}", "reads": {}, "writes": {}, "stable_writes": {}, "flushes": {}, )"
      R"("errors": {}, "volatile_sectors": {}, "queued": {}, "power": {}}})",
      name_, counters_.reads, counters_.writes, counters_.stable_writes, counters_.flushes,
      counters_.errors, medium_->volatile_sectors(), queue_.size() + held_.size(), !powered_off_);
}

}  // namespace symnas::fuse_lun
