#include "fsal_cluster/quota/quotas.h"

#include <algorithm>
#include <future>
#include <memory>
#include <vector>

#include <fmt/core.h>

#include "common/base/instance_counters.h"
#include "common/base/log.h"
#include "common/base/waiting.h"
#include "fsal_cluster/quota/limits.h"

namespace symnas::fs {
namespace {

std::int64_t blocks_of(std::uint64_t bytes, std::uint32_t block_bytes) {
  return static_cast<std::int64_t>(bytes / block_bytes);
}

// One side of a limit: bytes (counted in blocks), or inodes.
struct Side {
  std::optional<std::int64_t> hard;
  std::optional<std::int64_t> soft;
  std::int64_t used = 0;     // by everybody, as far as it is known
  std::int64_t pending = 0;  // admitted by this mount and not recorded
  std::int64_t own = 0;      // the caller's part of it
  std::int64_t more = 0;
  std::int64_t since = 0;  // admitted since the last look, without the caller's own
  std::int64_t window = 0;
  std::int64_t over_since_ns = 0;
  std::uint64_t grace_s = 0;
  const char* what = "";
};

std::vector<Subject> listed(const Subjects& subjects) {
  std::vector<Subject> out;
  subjects.for_each([&out](const Subject& subject) { out.push_back(subject); });
  return out;
}

// A limit below one block is a limit: nothing fits.
std::optional<std::int64_t> limit_of(std::uint64_t raw, std::uint64_t unit) {
  if (raw == 0) return std::nullopt;
  return static_cast<std::int64_t>(raw / unit);
}

enum class Finding : std::uint8_t { kFits, kMustLook, kOverHard, kOverSoft };

// Whether it is still over when the other operations of this mount record nothing.
bool is_over_for_good(const Side& side, std::int64_t limit) {
  return side.used + side.own + side.more > limit;
}

Finding find(const Side& side, bool several, Quotas::Looked looked, std::int64_t now_ns) {
  if (side.more <= 0) return Finding::kFits;
  const auto over = [&side](const std::optional<std::int64_t>& limit) {
    return limit && side.used + side.pending + side.more > *limit;
  };
  if (over(side.hard))
    return is_over_for_good(side, *side.hard) ? Finding::kOverHard : Finding::kMustLook;
  const auto grace_ns = static_cast<std::int64_t>(
      std::min<std::uint64_t>(side.grace_s, std::uint64_t{1} << 32) * 1'000'000'000);
  if (over(side.soft) && side.over_since_ns > 0 && side.grace_s > 0 &&
      now_ns - side.over_since_ns > grace_ns)
    return is_over_for_good(side, *side.soft) ? Finding::kOverSoft : Finding::kMustLook;
  const bool limited = side.hard || side.soft;
  if (!several || !limited || side.since <= 0 || side.since + side.more <= side.window)
    return Finding::kFits;
  const bool large = side.more >= side.window && looked == Quotas::Looked::kYes;
  return large && side.since <= side.window ? Finding::kFits : Finding::kMustLook;
}

}  // namespace

Usage window_of(const records::QuotaLimit& limit, std::uint32_t block_bytes) {
  const auto smaller = [](std::uint64_t hard, std::uint64_t soft) {
    if (hard == 0) return soft;
    return soft == 0 ? hard : std::min(hard, soft);
  };
  const std::uint64_t bytes =
      std::clamp(smaller(limit.bytes_hard(), limit.bytes_soft()) / kWindowDivisor, kWindowBytesMin,
                 kWindowBytesMax);
  const std::uint64_t inodes =
      std::clamp(smaller(limit.inodes_hard(), limit.inodes_soft()) / kWindowDivisor,
                 kWindowInodesMin, kWindowInodesMax);
  return {blocks_of(bytes, block_bytes), static_cast<std::int64_t>(inodes)};
}

Quotas::Charge& Quotas::Charge::operator=(Charge&& other) noexcept {
  if (this == &other) return *this;
  release_all();
  owner_ = std::exchange(other.owner_, nullptr);
  subjects_ = other.subjects_;
  usage_ = std::exchange(other.usage_, {});
  return *this;
}

void Quotas::Charge::release(Usage usage) {
  usage.blocks = std::clamp<std::int64_t>(usage.blocks, 0, usage_.blocks);
  usage.inodes = std::clamp<std::int64_t>(usage.inodes, 0, usage_.inodes);
  if (owner_ == nullptr || usage.none()) return;
  usage_ += -usage;
  owner_->release(subjects_, usage);
}

void Quotas::release(const Subjects& subjects, Usage usage) {
  const MutexLock lock(mutex_);
  give_back(subjects, usage);
}

void Quotas::give_back(const Subjects& subjects, Usage usage) {
  for (const Subject& subject : listed(subjects)) {
    const auto it = pending_.find(subject);
    if (it == pending_.end()) continue;
    it->second.usage += -usage;
    if (it->second.usage.none() && it->second.since.none()) pending_.erase(it);
  }
}

Result<Quotas::Verdict> Quotas::judge(const Subject& subject, Usage more,
                                      const Moment& moment) const {
  const auto held = table_.limit(subject);
  if (!held) return Verdict::kGranted;
  const records::QuotaLimit& limit = held->record;
  if (moment.several && !table_.complete()) return Verdict::kLookFirst;
  const Usage used = table_.total(subject);
  const records::QuotaGrace grace = table_.grace(subject);
  const Usage window = window_of(limit, block_bytes_);
  const Usage own = moment.caller.own;
  Pending pending;
  if (const auto it = pending_.find(subject); it != pending_.end()) pending = it->second;
  const Side sides[] = {
      {limit_of(limit.bytes_hard(), block_bytes_), limit_of(limit.bytes_soft(), block_bytes_),
       used.blocks, pending.usage.blocks, own.blocks, more.blocks,
       pending.since.blocks - own.blocks, window.blocks, grace.bytes_since_ns(),
       limit.bytes_grace_s(), "blocks"},
      {limit_of(limit.inodes_hard(), 1), limit_of(limit.inodes_soft(), 1), used.inodes,
       pending.usage.inodes, own.inodes, more.inodes, pending.since.inodes - own.inodes,
       window.inodes, grace.inodes_since_ns(), limit.inodes_grace_s(), "inodes"}};
  for (const Side& side : sides) {
    const Finding found = find(side, moment.several, moment.caller.looked, moment.now_ns);
    if (found == Finding::kFits) continue;
    // From an old view nobody is refused.
    if (found == Finding::kMustLook || moment.caller.looked == Looked::kNo)
      return Verdict::kLookFirst;
    const bool hard = found == Finding::kOverHard;
    return fail(
        ErrorCode::kQuotaExceeded,
        fmt::format("quota: {} uses {} of {} {} ({}); remove files, or have the limit "
                    "raised (symnas quota set)",
                    to_string(subject), side.used + side.own, hard ? *side.hard : *side.soft,
                    side.what, hard ? "hard limit" : "soft limit, its grace is over"));
  }
  return Verdict::kGranted;
}

void Quotas::note_refusal(const Subject& subject, const Error& why, std::int64_t now_ns) {
  ++instance_counters().quota_refusals;
  if (refusals_.is_due(subject, now_ns))
    log::warn("filesystem {}: {}", means_.filesystem, why.message);
}

// The file has another owner since: what is pending will be recorded as that one's.
void Quotas::move_charge(Charge& charge, const Subjects& subjects) {
  if (charge.owner_ != nullptr && !(charge.subjects_ == subjects)) {
    give_back(charge.subjects_, charge.usage_);
    for (const Subject& subject : listed(subjects)) pending_[subject].usage += charge.usage_;
  }
  charge.owner_ = this;
  charge.subjects_ = subjects;
}

Result<Quotas::Verdict> Quotas::admit(Charge& charge, const Subjects& subjects, Usage more,
                                      const Caller& caller) {
  const Moment moment{caller, means_.others(), means_.now_ns()};
  const MutexLock lock(mutex_);
  move_charge(charge, subjects);
  Result<Verdict> verdict = Verdict::kGranted;
  const std::vector<Subject> all = listed(subjects);
  for (const Subject& subject : all) {
    const bool exempt = caller.exempt == Exempt::kYes && subject.kind != SubjectKind::kTree;
    if (!exempt && verdict && *verdict == Verdict::kGranted) verdict = judge(subject, more, moment);
    if (!verdict) {
      note_refusal(subject, verdict.error(), moment.now_ns);
      return verdict;
    }
  }
  if (*verdict != Verdict::kGranted) return verdict;
  charge.usage_ += more;
  for (const Subject& subject : all) {
    Pending& pending = pending_[subject];
    pending.usage += more;
    pending.since += more;
  }
  return verdict;
}

void Quotas::looked(const Subjects& subjects) {
  const MutexLock lock(mutex_);
  for (const Subject& subject : listed(subjects)) {
    const auto it = pending_.find(subject);
    if (it == pending_.end()) continue;
    it->second.since = it->second.usage;
    if (it->second.usage.none()) pending_.erase(it);
  }
}

Status Quotas::admit_blocking(Charge& charge, const Subjects& subjects, Usage more, Exempt exempt,
                              const std::function<Status(const Subjects&)>& record) {
  Caller caller{exempt, Looked::kNo, {}};
  for (int tries = 0; tries < kAdmitTriesMax; ++tries) {
    SYMNAS_ASSIGN(const Verdict verdict, admit(charge, subjects, more, caller));
    if (verdict == Verdict::kGranted) return {};
    SYMNAS_TRY(record(subjects));
    SYMNAS_TRY(means_.barrier());
    const auto seen = std::make_shared<std::promise<void>>();
    when_seen([seen] { seen->set_value(); });
    wait_and_get(seen->get_future());
    looked(subjects);
    caller.looked = Looked::kYes;
  }
  return fail(ErrorCode::kBusy, "quota: others use it up in parallel; try again");
}

}  // namespace symnas::fs
