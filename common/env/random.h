// Randomness behind an interface: one seed reproduces a run. Thread class: see each class.
#pragma once

#include <cstdint>
#include <random>

#include "common/base/thread_annotations.h"

namespace symnas::env {

class Random {
 public:
  virtual ~Random() = default;
  virtual std::uint64_t next() = 0;  // uniform over all 64-bit values
  // Uniform in [0, bound). REQUIRES: bound > 0.
  std::uint64_t below(std::uint64_t bound) { return next() % bound; }
};

// Seeded generator; thread-safe.
class SeededRandom final : public Random {
 public:
  explicit SeededRandom(std::uint64_t seed) : engine_(seed) {}
  std::uint64_t next() override {
    const MutexLock lock(mutex_);
    return engine_();
  }

 private:
  Mutex mutex_;
  std::mt19937_64 engine_ GUARDED_BY(mutex_);
};

}  // namespace symnas::env
