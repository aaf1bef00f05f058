// Loop: the two threads of an EtcdStore. The sending thread connects, starts calls and cancels
// them; the receiving thread empties the completion queue. Both enter the network namespace before
// gRPC sees anything.
//
// Thread class: thread-safe. Lock order: a watch's call mutex before the loop's mutex; no lock is
// held during a callback except a watch's call mutex.
#pragma once

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "common/base/result.h"
#include "common/base/thread_annotations.h"
#include "common/kv/etcd/members.h"

namespace symnas::kv::etcd {

using SteadyClock = std::chrono::steady_clock;

class Loop;

// One call at one member, unary or stream. It is its own completion-queue tag, and has one
// outstanding at a time. The loop keeps it alive from submit() until give_up() or finished().
class Operation : public std::enable_shared_from_this<Operation> {
 public:
  Operation(Loop& loop, SteadyClock::time_point deadline) : loop_(loop), deadline_(deadline) {}
  virtual ~Operation() = default;
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;

  // Sending thread: begins the call. The loop has registered the operation.
  virtual void start(Member& member) = 0;
  // Sending thread: the call will not be started (no member connected before the deadline, or
  // shutdown).
  virtual void give_up(Error error) = 0;
  // Receiving thread: the outstanding tag came back.
  virtual void complete(bool ok) = 0;
  // Sending thread, while registered: makes the outstanding tag come back soon.
  virtual void cancel() = 0;
  // Sending thread, while registered: whether the call should be tried at another member, now that
  // `member` is known to be gone.
  virtual bool leaves(std::size_t member) const = 0;
  // The member that the call must go to; nullopt: the current one, when connected.
  virtual std::optional<std::size_t> pinned() const { return std::nullopt; }

  SteadyClock::time_point deadline() const { return deadline_; }

 protected:
  Loop& loop_;
  const SteadyClock::time_point deadline_;
};

class Loop {
 public:
  // Errors: kPermission, kNotFound (the namespace cannot be entered).
  static Result<std::shared_ptr<Loop>> start(Connection connection, std::string network_namespace);
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  // Makes the sending thread start the operation. When the loop is stopping, gives it up at once.
  void submit(std::shared_ptr<Operation> operation);
  // Makes the sending thread cancel the operation, whatever its state. No effect once it is
  // finished.
  void cancel(std::shared_ptr<Operation> operation);
  // Receiving thread: no tag of the operation is outstanding, and the operation will start no
  // other.
  void finished(Operation& operation);
  void member_failed(std::size_t index);
  // Makes the sending thread cancel the operations that wait for the members at the host, and
  // choose other members.
  void leave(std::string host);
  // The member that the next try goes to if it is connected.
  std::size_t current_member() const;

  grpc::CompletionQueue& queue() { return *queue_; }
  std::size_t members() const { return member_count_; }
  std::string endpoint(std::size_t index) const { return endpoints_.at(index); }
  bool stopping() const;

  // Gives up operations that wait, cancels those that run and waits for them, joins the threads.
  void stop();

 private:
  using Operations = std::vector<std::shared_ptr<Operation>>;
  struct Inbox {
    Operations submitted;
    Operations cancelled;
    std::vector<std::string> left;  // hosts
  };

  Loop() = default;
  void send_loop(Connection connection, std::string network_namespace,
                 std::promise<Status> started);
  void receive_loop();
  Inbox wait_for_work(SteadyClock::duration tick);
  void start_or_wait(std::shared_ptr<Operation> operation, SteadyClock::time_point now);
  void start_waiting(SteadyClock::time_point now);
  void leave_now(const std::string& host);
  void cancel_now(const std::shared_ptr<Operation>& operation);
  void shut_down();

  std::vector<std::string> endpoints_;
  std::size_t member_count_ = 0;
  std::unique_ptr<Members> members_;
  std::unique_ptr<grpc::CompletionQueue> queue_;
  Operations waiting_;  // sending thread only: no member was connected

  mutable Mutex mutex_;
  CondVar wake_;
  CondVar idle_;
  Inbox inbox_ GUARDED_BY(mutex_);
  bool stopping_ GUARDED_BY(mutex_) = false;
  std::unordered_map<Operation*, std::shared_ptr<Operation>> running_ GUARDED_BY(mutex_);

  std::thread sender_;    // set by start()
  std::thread receiver_;  // sending thread only
};

}  // namespace symnas::kv::etcd
