// Randomness behind an interface: one seed reproduces a run. Thread class: see each class.
#pragma once

#include <cstdint>
#include <mutex>
#include <random>

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
    const std::scoped_lock lock(mutex_);
    return engine_();
  }

 private:
  std::mutex mutex_;
  std::mt19937_64 engine_;
};

}  // namespace symnas::env
