// The POSIX engine, for kernels that have no io_uring or forbid it: threads that call preadv2,
// pwritev2 and fdatasync.
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <thread>
#include <vector>

#include "common/base/check.h"
#include "common/base/thread_annotations.h"
#include "cvm/io/engine.h"
#include "cvm/io/limits.h"

namespace symnas::cvm {
namespace {

class PosixEngine final : public Engine {
 public:
  explicit PosixEngine(std::uint32_t threads) {
    for (std::uint32_t i = 0; i < threads; ++i) threads_.emplace_back([this] { run(); });
  }
  ~PosixEngine() override {
    CHECK(!on_engine_thread());
    {
      const MutexLock lock(mutex_);
      stopping_ = true;
    }
    work_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  void submit(LunIo* list) override;
  bool on_engine_thread() const override { return current_ == this; }
  std::string_view name() const override { return "posix"; }

 private:
  void run();

  static thread_local const PosixEngine* current_;
  Mutex mutex_;
  CondVar work_;
  LunIo* head_ GUARDED_BY(mutex_) = nullptr;  // oldest first
  LunIo* tail_ GUARDED_BY(mutex_) = nullptr;
  bool stopping_ GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

thread_local const PosixEngine* PosixEngine::current_ = nullptr;

void PosixEngine::submit(LunIo* list) {
  const std::int64_t now = now_ns();
  LunIo* tail = list;
  std::size_t count = 0;
  for (LunIo* io = list; io != nullptr; io = io->next) {
    io->begun_ns = now;
    tail = io;
    ++count;
  }
  {
    const MutexLock lock(mutex_);
    CHECK(!stopping_, "submitted after shutdown began");
    if (tail_ != nullptr)
      tail_->next = list;
    else
      head_ = list;
    tail_ = tail;
  }
  if (count == 1)
    work_.notify_one();
  else
    work_.notify_all();
}

void PosixEngine::run() {
  enter_engine_thread("cvm-posix");
  current_ = this;
  MutexLock lock(mutex_);
  for (;;) {
    work_.wait(mutex_, [this]() REQUIRES(mutex_) { return head_ != nullptr || stopping_; });
    if (head_ == nullptr) return;
    LunIo* io = head_;
    head_ = io->next;
    if (head_ == nullptr) tail_ = nullptr;
    lock.unlock();
    perform_io(*io);
    lock.lock();
  }
}

}  // namespace

std::unique_ptr<Engine> make_posix_engine(std::uint32_t queue_depth) {
  return std::make_unique<PosixEngine>(std::min(queue_depth, kPosixThreadsMax));
}

}  // namespace symnas::cvm
