// Mutexes whose use clang checks while it compiles (-Wthread-safety): a member that is declared
// GUARDED_BY(mutex_) can be read or written only where mutex_ is held. Other compilers see plain
// mutexes. Source: https://clang.llvm.org/docs/ThreadSafetyAnalysis.html
//
//   Mutex mutex_;
//   CondVar changed_;
//   int count_ GUARDED_BY(mutex_) = 0;
//   void raise_locked() REQUIRES(mutex_);    // the caller holds mutex_
//   void raise() EXCLUDES(mutex_);           // the caller must not hold it
//
//   const MutexLock lock(mutex_);
//   changed_.wait(mutex_, [this]() REQUIRES(mutex_) { return count_ > 0; });
//
// Constructors and destructors are not checked: nobody else has the object then.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>

#if defined(__clang__)
#define SYMNAS_THREAD_ANNOTATION(x) __attribute__((x))
#else
#define SYMNAS_THREAD_ANNOTATION(x)
#endif

// Abseil, which gRPC includes, defines these three with the same meaning.
#undef GUARDED_BY
#undef PT_GUARDED_BY
#undef NO_THREAD_SAFETY_ANALYSIS

#define CAPABILITY(name) SYMNAS_THREAD_ANNOTATION(capability(name))
#define SCOPED_CAPABILITY SYMNAS_THREAD_ANNOTATION(scoped_lockable)
#define GUARDED_BY(mutex) SYMNAS_THREAD_ANNOTATION(guarded_by(mutex))
#define PT_GUARDED_BY(mutex) SYMNAS_THREAD_ANNOTATION(pt_guarded_by(mutex))
#define REQUIRES(...) SYMNAS_THREAD_ANNOTATION(requires_capability(__VA_ARGS__))
#define EXCLUDES(...) SYMNAS_THREAD_ANNOTATION(locks_excluded(__VA_ARGS__))
#define ACQUIRE(...) SYMNAS_THREAD_ANNOTATION(acquire_capability(__VA_ARGS__))
#define RELEASE(...) SYMNAS_THREAD_ANNOTATION(release_capability(__VA_ARGS__))
#define TRY_ACQUIRE(...) SYMNAS_THREAD_ANNOTATION(try_acquire_capability(__VA_ARGS__))
#define ASSERT_CAPABILITY(x) SYMNAS_THREAD_ANNOTATION(assert_capability(x))
#define RETURN_CAPABILITY(x) SYMNAS_THREAD_ANNOTATION(lock_returned(x))
// For a function that the analysis cannot follow. A comment beside it says why it is right.
#define NO_THREAD_SAFETY_ANALYSIS SYMNAS_THREAD_ANNOTATION(no_thread_safety_analysis)

namespace symnas {

// std::mutex with annotations.
class CAPABILITY("mutex") Mutex {
 public:
  void lock() ACQUIRE() { mutex_.lock(); }
  void unlock() RELEASE() { mutex_.unlock(); }
  bool try_lock() TRY_ACQUIRE(true) { return mutex_.try_lock(); }
  // Tells the analysis that this thread holds the mutex by a way that it cannot see. Checks
  // nothing.
  void assert_held() const ASSERT_CAPABILITY(this) {}

 private:
  friend class CondVar;
  std::mutex mutex_;
};

// Holds a mutex (Mutex, FifoMutex) until the end of the scope. It may be unlocked and locked again
// in between.
template <class MutexType>
class SCOPED_CAPABILITY MutexLock {
 public:
  explicit MutexLock(MutexType& mutex) ACQUIRE(mutex) : mutex_(mutex) { mutex_.lock(); }
  // For a mutex that try_lock() has given to this thread.
  MutexLock(MutexType& mutex, std::adopt_lock_t) REQUIRES(mutex) : mutex_(mutex) {}
  ~MutexLock() RELEASE() {
    if (held_) mutex_.unlock();
  }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

  void lock() ACQUIRE() {
    mutex_.lock();
    held_ = true;
  }
  void unlock() RELEASE() {
    held_ = false;
    mutex_.unlock();
  }

 private:
  MutexType& mutex_;
  bool held_ = true;
};

// std::condition_variable for a Mutex. Waits may end without a reason, as there. A predicate may
// throw: the caller holds the mutex then, as after any wait.
class CondVar {
 public:
  void notify_one() { condition_.notify_one(); }
  void notify_all() { condition_.notify_all(); }

  void wait(Mutex& mutex) REQUIRES(mutex) {
    Adopted adopted(mutex);
    condition_.wait(adopted.lock);
  }
  template <class Predicate>
  void wait(Mutex& mutex, Predicate holds) REQUIRES(mutex) {
    Adopted adopted(mutex);
    condition_.wait(adopted.lock, std::move(holds));
  }
  // std::cv_status, or, with a predicate as the last argument, its value when the wait ended.
  template <class Rep, class Period, class... Predicate>
  auto wait_for(Mutex& mutex, std::chrono::duration<Rep, Period> time, Predicate... holds)
      REQUIRES(mutex) {
    Adopted adopted(mutex);
    return condition_.wait_for(adopted.lock, time, std::move(holds)...);
  }

 private:
  // The caller's lock as the standard library wants it. It stays locked.
  struct Adopted {
    explicit Adopted(Mutex& mutex) : lock(mutex.mutex_, std::adopt_lock) {}
    ~Adopted() { lock.release(); }
    Adopted(const Adopted&) = delete;
    Adopted& operator=(const Adopted&) = delete;
    std::unique_lock<std::mutex> lock;
  };

  std::condition_variable condition_;
};

}  // namespace symnas
