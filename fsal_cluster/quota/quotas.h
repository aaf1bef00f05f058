// Quotas: decides whether an operation of this mount may use more. Limits are held before anything
// is allocated or written: what has been acknowledged is always recorded, over the limit or not.
//
// How far several mounts may pass a hard limit: each may use at most a window of it (window_of())
// between two looks at what the others have recorded. A look ("synchronisation") is: the mount
// records what it has acknowledged, then passes a barrier. Of all mounts, the one that has looked
// last has seen everything but what the others have used since their own last look, so with M
// mounts the usage is at most limit + (M - 1) * window, and never above the limit with one. An
// operation that takes a window or more at once (ALLOCATE) is admitted after a look although others
// have used some of the window meanwhile, or it would wait for ever: it counts with its size.
//
// Who is refused has been looked up: "over the limit" is never said from an old view, nor because
// of what other operations of this mount were admitted and have not recorded: that may be counted
// as recorded already, or be given up.
//
// Thread class: thread-safe; under its mutex only UsageTable's is taken.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "common/base/keyed_repeats.h"
#include "common/base/result.h"
#include "common/base/thread_annotations.h"
#include "fsal_cluster/quota/limits.h"
#include "fsal_cluster/quota/subject.h"
#include "fsal_cluster/quota/usage_table.h"

namespace symnas::fs {

// How much of a limit one mount may use between two looks. Pure.
Usage window_of(const records::QuotaLimit& limit, std::uint32_t block_bytes);

class Quotas {
 public:
  // What was admitted and is not in a record yet. Gives back what is left of it.
  class Charge {
   public:
    Charge() = default;
    Charge(Charge&& other) noexcept
        : owner_(std::exchange(other.owner_, nullptr)),
          subjects_(other.subjects_),
          usage_(std::exchange(other.usage_, {})) {}
    Charge& operator=(Charge&& other) noexcept;
    ~Charge() { release_all(); }
    // It is recorded now, or given up. Takes at most what is left.
    void release(Usage usage);
    void release_all() { release(usage_); }
    const Usage& usage() const { return usage_; }

   private:
    friend class Quotas;
    Quotas* owner_ = nullptr;
    Subjects subjects_;
    Usage usage_;
  };

  enum class Verdict : std::uint8_t {
    kGranted,
    kLookFirst,  // record what is acknowledged, pass a barrier, call looked(), and ask again
  };
  // Whether the caller has looked since its operation began.
  enum class Looked : std::uint8_t { kNo, kYes };
  // Of root, which only limits of trees stop, as on XFS. Its usage counts.
  enum class Exempt : std::uint8_t { kNo, kYes };

  struct Caller {
    Exempt exempt = Exempt::kNo;
    Looked looked = Looked::kNo;
    // What this operation has been admitted since it looked: an operation that asks piece by piece
    // does not fill the window for itself.
    Usage own;
  };

  // What it needs of its mount. All may be called at any time; only `barrier` may block.
  struct Means {
    std::uint32_t block_bytes = 4096;
    std::function<bool()> others;          // whether there are other mounts
    std::function<std::int64_t()> now_ns;  // filesystem time
    std::function<Status()> barrier;       // Session::barrier
    std::string filesystem{};              // its name, for the log
  };
  Quotas(UsageTable& table, Means means)
      : table_(table), block_bytes_(means.block_bytes), means_(std::move(means)) {}

  // Whether there is any limit: if not, nothing below needs to be called. Takes no lock.
  bool any() const { return table_.limits_anything(); }
  // Roots of directory trees in which not everything has its number yet. nullopt: unknown, the
  // watch is lost. REQUIRES, to know what others have recorded: a barrier before.
  std::optional<std::map<Ino, std::uint32_t>> trees_being_marked() const {
    return table_.trees_being_marked();
  }
  // Adds to `charge`, whose subjects become these. Errors: kQuotaExceeded.
  Result<Verdict> admit(Charge& charge, const Subjects& subjects, Usage more, const Caller& caller);
  // Runs `action` once, when what other mounts have recorded is seen: at once, unless the watch is
  // lost. A look waits for that between its barrier and looked(). See UsageTable::when_complete.
  void when_seen(std::function<void()> action) { table_.when_complete(std::move(action)); }
  // Nobody waits any more.
  void stop() { table_.stop(); }
  // A look has ended: what was acknowledged before it is recorded, and the cache has passed a
  // barrier.
  void looked(const Subjects& subjects);
  // For operations that may block and have nothing in memory but themselves: asks, looks, and asks
  // again.
  // Errors: kQuotaExceeded, those of Session::barrier.
  Status admit_blocking(Charge& charge, const Subjects& subjects, Usage more, Exempt exempt,
                        const std::function<Status(const Subjects&)>& record);

 private:
  struct Pending {
    Usage usage;  // admitted, not recorded
    Usage since;  // admitted since the last look
  };
  void release(const Subjects& subjects, Usage usage);
  // What an admission is judged by, beside the limit and what is used.
  struct Moment {
    Caller caller;
    bool several = true;  // there are other mounts
    std::int64_t now_ns = 0;
  };
  Result<Verdict> judge(const Subject& subject, Usage more, const Moment& moment) const
      REQUIRES(mutex_);
  // Counts it, and logs it now and then.
  void note_refusal(const Subject& subject, const Error& why, std::int64_t now_ns) REQUIRES(mutex_);
  void move_charge(Charge& charge, const Subjects& subjects) REQUIRES(mutex_);
  void give_back(const Subjects& subjects, Usage usage) REQUIRES(mutex_);

  UsageTable& table_;
  const std::uint32_t block_bytes_;
  const Means means_;
  mutable Mutex mutex_;
  std::map<Subject, Pending> pending_ GUARDED_BY(mutex_);
  // About which subjects that were refused the log has a line.
  log::KeyedRepeats<Subject> refusals_ GUARDED_BY(mutex_){kRefusalPauseNs, kRefusalsKnownMax};
};

}  // namespace symnas::fs
