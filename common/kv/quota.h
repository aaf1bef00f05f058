// Levels of etcd's quota: how much of it is left, and which operations are still admitted.
//
// etcd refuses every transaction with a put once its database file has reached the quota. Then a
// session can commit nothing, removals included, because every batch puts its slot. So growth is
// refused before that, in two steps: the room kept back lets files be removed, and mounts end and
// move, until there is room again.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "common/base/result.h"
#include "common/kv/store.h"

namespace symnas::kv {

// The effect of an operation on the database.
enum class Growth : std::uint8_t {
  kGrows,    // adds records: refused from kReserve on
  kChanges,  // replaces records: refused at kCritical
  kMustGo,   // removes, ends, gives back, proves, or records what was promised: never refused
};

enum class QuotaLevel : std::uint8_t { kFree, kReserve, kCritical };

// In per mille of the quota, and of what is in use: etcd uses free pages inside the file again
// before the file grows.
inline constexpr std::int64_t kQuotaReservePermille = 800;
inline constexpr std::int64_t kQuotaCriticalPermille = 900;
// A level ends this far below its limit, so that an operation is not admitted and refused in turn.
inline constexpr std::int64_t kQuotaHysteresisPermille = 20;
// From here on the file may reach the quota with its next step of growth: then the free pages
// inside it are all the room there is.
inline constexpr std::int64_t kQuotaFilePermille = 950;

// A twentieth of the quota does not fill between two looks: two such steps lie within each level's
// share. Several heads that create as fast as etcd commits make 2 to 4 MB/s of records and history.
inline constexpr std::int64_t kQuotaGrowthPerMs = 8 * 1024;
inline constexpr std::int64_t kQuotaLookMaxMs = 1'500;
inline constexpr std::int64_t kQuotaLookMinMs = 50;
// How often the level must be judged, in ms. Pure. 0 bytes: there is no quota.
std::int64_t quota_look_ms(std::int64_t quota_bytes);

struct QuotaUse {
  std::int64_t in_use_permille = 0;     // of the fullest member that can be reached
  std::int64_t allocated_permille = 0;  // of the largest file
  bool refused = false;  // some member has raised the alarm, or its file is too large
  bool known = false;    // some member could be reached
};

// Pure. REQUIRES: quota_bytes > 0.
QuotaUse quota_use(std::int64_t quota_bytes, const std::vector<MemberStatus>& members);
// The level that follows `now`; the same level when nothing is known. Pure.
QuotaLevel next_level(QuotaLevel now, const QuotaUse& use);
const char* name_of(QuotaLevel level);

// The level as several threads see it. Thread-safe.
class QuotaGauge {
 public:
  // 0: there is no limit.
  explicit QuotaGauge(std::int64_t quota_bytes) : quota_bytes_(quota_bytes) {}

  std::int64_t quota_bytes() const { return quota_bytes_; }
  // Takes what the members say now. REQUIRES: one caller at a time.
  void look(const std::vector<MemberStatus>& members);
  std::int64_t in_use_permille() const { return in_use_permille_.load(std::memory_order_relaxed); }
  QuotaLevel level() const { return level_.load(std::memory_order_relaxed); }
  // Errors: kNoSpace (the message says what to do).
  Status admit(Growth growth) const;

 private:
  const std::int64_t quota_bytes_;
  std::atomic<QuotaLevel> level_{QuotaLevel::kFree};
  std::atomic<std::int64_t> in_use_permille_{0};
};

}  // namespace symnas::kv
