// Membership: whether this mount is alone with its filesystem (sole) or other mounts may change it
// (shared), and which operations still rely on being alone.
//
// Thread class: thread-safe; enter() and leaving are lock-free; one thread turns it. Invariant:
// when settle() has returned true, no stay that is sole is left, and no later one is before
// turn_sole().
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace symnas::fs {

class Membership {
 public:
  enum class Mode : std::uint8_t { kSole, kShared };

  // The stay of one operation. Move-only; may end on another thread.
  class Stay {
   public:
    Stay(Stay&& other) noexcept : count_(std::exchange(other.count_, nullptr)) {}
    Stay& operator=(Stay&&) = delete;
    ~Stay() {
      if (count_ != nullptr) count_->fetch_sub(1, std::memory_order_release);
    }
    bool sole() const { return count_ != nullptr; }

   private:
    friend class Membership;
    explicit Stay(std::atomic<std::int64_t>* count) : count_(count) {}
    std::atomic<std::int64_t>* count_;  // null: the stay is shared
  };

  explicit Membership(Mode mode) : mode_(mode) {}

  Stay enter();
  bool is_sole() const { return mode_.load(std::memory_order_acquire) == Mode::kSole; }

  // No sole stay begins any more. Stays that have begun may wait for a LUN or for the store, also
  // for work of their mount's own keeper: so the keeper must not wait for them.
  void begin_shared();
  // True when the last sole stay has ended. Cost: one look at each shard.
  bool settle();
  // For tests: begin_shared(), and waits until the membership is settled.
  void turn_shared();
  // False while a sole stay may still rely on what shared ones must not touch.
  bool is_settled() const { return settled_.load(std::memory_order_acquire) || is_drained(); }
  // REQUIRES: settled; the store says that this mount is alone, and the cache is no older than
  // that.
  void turn_sole() { mode_.store(Mode::kSole, std::memory_order_seq_cst); }

 private:
  bool is_drained() const;

  struct alignas(64) Shard {
    std::atomic<std::int64_t> sole_stays{0};
  };
  static constexpr std::size_t kShards = 16;  // workers rarely meet on one

  std::atomic<Mode> mode_;
  std::atomic<bool> settled_{true};
  std::array<Shard, kShards> shards_;
};

}  // namespace symnas::fs
