#include "common/kv/etcd/loop.h"

#include <fcntl.h>
#include <grpc/support/log.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "common/base/check.h"
#include "common/base/log.h"
#include "common/kv/etcd/limits.h"

namespace symnas::kv::etcd {

namespace {

Error shutdown_error() { return Error{ErrorCode::kShutdown, "etcd: store closed"}; }

Status enter_network_namespace(const std::string& path) {
  if (path.empty()) return {};
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    return fail(ErrorCode::kNotFound,
                "network namespace " + path + ": cannot open: " + std::strerror(errno));
  }
  const int result = ::setns(fd, CLONE_NEWNET);
  const int error = errno;
  ::close(fd);
  if (result == 0) return {};
  return fail(ErrorCode::kPermission,
              "network namespace " + path + ": cannot enter: " + std::strerror(error));
}

// Sends gRPC's own messages (a failed handshake, say) to the log of this process. gRPC never logs
// keys.
void log_of_grpc(gpr_log_func_args* line) {
  switch (line->severity) {
    case GPR_LOG_SEVERITY_ERROR: log::warn("grpc: {}", line->message); return;
    case GPR_LOG_SEVERITY_INFO:
    case GPR_LOG_SEVERITY_DEBUG: log::debug("grpc: {}", line->message); return;
  }
}

// Blocks signals: they are for the process's own threads. Threads that gRPC starts inherit this.
void prepare_thread(const char* name) {
  sigset_t all;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
  ::pthread_setname_np(::pthread_self(), name);
}

}  // namespace

Result<std::shared_ptr<Loop>> Loop::start(Connection connection, std::string network_namespace) {
  std::shared_ptr<Loop> loop(new Loop());
  loop->member_count_ = connection.targets.size();
  for (const Target& target : connection.targets) loop->endpoints_.push_back(target.endpoint);
  std::promise<Status> started;
  std::future<Status> outcome = started.get_future();
  loop->sender_ = std::thread(&Loop::send_loop, loop.get(), std::move(connection),
                              std::move(network_namespace), std::move(started));
  if (Status status = outcome.get(); !status) {
    loop->sender_.join();
    return tl::unexpected<Error>(std::move(status.error()));
  }
  return loop;
}

Loop::~Loop() { CHECK(!sender_.joinable(), "stop() comes before the end"); }

void Loop::submit(std::shared_ptr<Operation> operation) {
  {
    MutexLock lock(mutex_);
    if (stopping_) {
      lock.unlock();
      return operation->give_up(shutdown_error());
    }
    inbox_.submitted.push_back(std::move(operation));
  }
  wake_.notify_one();
}

void Loop::cancel(std::shared_ptr<Operation> operation) {
  {
    const MutexLock lock(mutex_);
    if (stopping_) return;
    inbox_.cancelled.push_back(std::move(operation));
  }
  wake_.notify_one();
}

void Loop::finished(Operation& operation) {
  const MutexLock lock(mutex_);
  running_.erase(&operation);
  if (running_.empty()) idle_.notify_all();
}

void Loop::member_failed(std::size_t index) { members_->failed(index); }

void Loop::leave(std::string host) {
  {
    const MutexLock lock(mutex_);
    inbox_.left.push_back(std::move(host));
  }
  wake_.notify_one();
}

std::size_t Loop::current_member() const { return members_->current(); }

bool Loop::stopping() const {
  const MutexLock lock(mutex_);
  return stopping_;
}

void Loop::stop() {
  {
    const MutexLock lock(mutex_);
    if (stopping_) return;
    stopping_ = true;
  }
  wake_.notify_one();
  sender_.join();
}

void Loop::send_loop(Connection connection, std::string network_namespace,
                     std::promise<Status> started) {
  prepare_thread("kv-send");
  if (Status status = enter_network_namespace(network_namespace); !status) {
    started.set_value(std::move(status));
    return;
  }
  gpr_set_log_function(log_of_grpc);
  members_ = std::make_unique<Members>(connection);
  queue_ = std::make_unique<grpc::CompletionQueue>();
  receiver_ = std::thread(&Loop::receive_loop, this);
  started.set_value({});
  while (!stopping()) {
    Inbox inbox =
        wait_for_work(std::chrono::milliseconds(waiting_.empty() ? kIdleTickMs : kWaitingTickMs));
    const auto now = SteadyClock::now();
    if (inbox.submitted.empty()) members_->keep_connecting();
    for (const std::string& host : inbox.left) leave_now(host);
    start_waiting(now);
    for (auto& operation : inbox.submitted) start_or_wait(std::move(operation), now);
    for (const auto& operation : inbox.cancelled) cancel_now(operation);
  }
  shut_down();
}

void Loop::receive_loop() {
  prepare_thread("kv-receive");
  void* tag = nullptr;
  bool ok = false;
  while (queue_->Next(&tag, &ok)) {
    // Inside complete() the operation may finish and lose the registry's reference.
    const std::shared_ptr<Operation> operation = static_cast<Operation*>(tag)->shared_from_this();
    operation->complete(ok);
  }
}

Loop::Inbox Loop::wait_for_work(SteadyClock::duration tick) {
  const MutexLock lock(mutex_);
  wake_.wait_for(mutex_, tick, [this]() REQUIRES(mutex_) {
    return stopping_ || !inbox_.submitted.empty() || !inbox_.cancelled.empty() ||
           !inbox_.left.empty();
  });
  return std::exchange(inbox_, {});
}

void Loop::start_or_wait(std::shared_ptr<Operation> operation, SteadyClock::time_point now) {
  const std::optional<std::size_t> pinned = operation->pinned();
  Member* member = pinned ? &members_->at(*pinned) : members_->connected();
  if (now + std::chrono::milliseconds(kSendRoomMs) >= operation->deadline()) {
    operation->give_up(Error{ErrorCode::kUnavailable,
                             "etcd: no member connected in time (first: " + endpoints_[0] + ")"});
    return;
  }
  if (member == nullptr) {
    waiting_.push_back(std::move(operation));
    return;
  }
  {
    const MutexLock lock(mutex_);
    running_.emplace(operation.get(), operation);
  }
  operation->start(*member);
}

void Loop::start_waiting(SteadyClock::time_point now) {
  for (auto& operation : std::exchange(waiting_, {})) start_or_wait(std::move(operation), now);
}

void Loop::leave_now(const std::string& host) {
  for (std::size_t i = 0; i < members_->size(); ++i) {
    if (members_->at(i).host != host) continue;
    members_->leave(i);
    const MutexLock lock(mutex_);
    for (const auto& [raw, operation] : running_) {
      if (operation->leaves(i)) operation->cancel();
    }
  }
}

void Loop::cancel_now(const std::shared_ptr<Operation>& operation) {
  if (std::erase(waiting_, operation) > 0) {
    operation->give_up(shutdown_error());
    return;
  }
  const MutexLock lock(mutex_);
  if (running_.contains(operation.get())) operation->cancel();
}

void Loop::shut_down() {
  Inbox inbox = wait_for_work({});
  std::move(inbox.submitted.begin(), inbox.submitted.end(), std::back_inserter(waiting_));
  for (const auto& operation : std::exchange(waiting_, {})) operation->give_up(shutdown_error());
  {
    const MutexLock lock(mutex_);
    for (const auto& [raw, operation] : running_) operation->cancel();
    idle_.wait(mutex_, [this]() REQUIRES(mutex_) { return running_.empty(); });
  }
  queue_->Shutdown();
  receiver_.join();
  members_.reset();
}

}  // namespace symnas::kv::etcd
