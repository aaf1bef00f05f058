// Admission: bounds how many RPC workers may wait for one thing at once: 3/4 of them for etcd, so
// that a worker is always left for READ and WRITE requests that need none; 1/8 for LUNs.
// Thread-safe, lock-free.
#pragma once

#include <atomic>
#include <cstdint>

namespace symnas::plugin {

class Admission {
 public:
  explicit Admission(std::uint32_t limit) : limit_(limit) {}

  // A permit to wait, held for as long as the object lives; false: all are taken (answer DELAY).
  class Permit {
   public:
    explicit Permit(Admission& admission)
        : admission_(admission),
          taken_(admission.waiting_.fetch_add(1, std::memory_order_relaxed) < admission.limit_) {}
    ~Permit() { admission_.waiting_.fetch_sub(1, std::memory_order_relaxed); }
    Permit(const Permit&) = delete;
    Permit& operator=(const Permit&) = delete;
    explicit operator bool() const { return taken_; }

   private:
    Admission& admission_;
    const bool taken_;
  };

 private:
  std::atomic<std::uint32_t> waiting_{0};
  const std::uint32_t limit_;
};

}  // namespace symnas::plugin
