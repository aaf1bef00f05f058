#include "fsal_cluster/state/share_modes.h"

#include <algorithm>
#include <chrono>
#include <ranges>
#include <utility>
#include <vector>

#include "common/base/bytes.h"
#include "common/base/log.h"
#include "common/kv/keys.h"
#include "fsal_cluster/state/file_locks.h"
#include "fsal_cluster/state/served.h"
#include "fsal_cluster/types/limits.h"

namespace symnas::fs {
namespace {

bool left_by(const ShareTable::Others& marks, const std::string& vnfs) {
  return std::ranges::any_of(marks, [&](const auto& mark) { return mark.second.vnfs == vnfs; });
}

}  // namespace

ShareModes::ShareModes(kv::Session& session, const env::Clock& clock, ShareTable& table,
                       const Peers& peers, const Gate& gate, Options options)
    : session_(session),
      clock_(clock),
      table_(table),
      peers_(peers),
      gate_(gate),
      options_(std::move(options)),
      loaded_ns_(clock.mono_ns()),
      former_dropped_(table.newest() && !left_by(table.others(kNoFile), options_.vnfs)),
      thread_([this] { run(); }) {}

ShareModes::~ShareModes() { stop(); }

void ShareModes::stop() {
  stop_ = true;
  table_.wake();
  if (thread_.joinable()) thread_.join();
}

bool ShareModes::may_have_opens() const { return !former_dropped_ || table_.has_opens(); }

bool ShareModes::is_settled() const {
  if (former_dropped_) return true;
  const std::int64_t since_ns = std::max(loaded_ns_, gate_.open_since_ns());
  return gate_.is_open() &&
         clock_.mono_ns() - since_ns > kUnclaimedLeases * options_.lease_s * 1'000'000'000;
}

RecordedShare ShareModes::share(ShareMode mode, bool asks) const {
  return {mode, asks, is_settled(), options_.vnfs};
}

Result<Revision> ShareModes::record(Ino ino, const RecordedShare& share, kv::Growth growth,
                                    std::vector<kv::Compare> unchanged) {
  kv::Mutation mutation;
  mutation.growth = growth;
  mutation.compares = std::move(unchanged);
  mutation.writes = {
      kv::put(kv::keys::share(options_.fs, ino, options_.mount), encode_share(share))};
  SYMNAS_ASSIGN(const kv::Committed done, session_.commit_blocking(std::move(mutation)));
  if (!done.succeeded) return fail(ErrorCode::kConflict, "another mount has opened the file");
  table_.note_own(ino, share);
  return done.revision;
}

Status ShareModes::forget(Ino ino, kv::Compare unchanged) {
  kv::Mutation mutation;
  mutation.growth = kv::Growth::kMustGo;
  mutation.compares = {std::move(unchanged)};
  mutation.writes = {kv::erase(kv::keys::share(options_.fs, ino, options_.mount))};
  SYMNAS_ASSIGN(const kv::Committed done, session_.commit_blocking(std::move(mutation)));
  if (done.succeeded) table_.note_own(ino, std::nullopt);
  return {};
}

Result<ShareModes::Looked> ShareModes::look(Ino ino) {
  const kv::KeyRange range = kv::prefix_range(kv::keys::shares_of(options_.fs, ino));
  SYMNAS_ASSIGN(const kv::OpResult found, session_.range(range, 0));
  Looked out;
  std::int64_t newest = 0;
  for (const kv::KeyValue& kv : found.kvs) {
    newest = std::max(newest, kv.mod_revision.value());
    const MountId id{read_be64(kv.key, kv.key.size() - 8)};
    const auto share = parse_share(kv.value);
    if (!share)
      return fail(ErrorCode::kCorrupt, "the share record of inode " + std::to_string(ino.value()) +
                                           " by mount " + std::to_string(id.value()) +
                                           " cannot be read: run `symnas fs check`");
    if (id != options_.mount) out.others.emplace(id, *share);
  }
  // A record that is put later has a higher revision; one that goes away only makes room.
  out.unchanged.range = range;
  out.unchanged.target = kv::Compare::Target::kModRevision;
  out.unchanged.relation = kv::Compare::Relation::kLess;
  out.unchanged.number = newest + 1;
  return out;
}

ShareAnswer ShareModes::judge(const Looked& looked, ShareMode after, bool is_reclaim) const {
  auto answer = ShareAnswer::kGranted;
  for (const auto& [id, share] : looked.others) {
    if (!conflict(share.mode, after)) continue;
    if (share.vnfs != options_.vnfs) return ShareAnswer::kDenied;
    // Left by a former mount of this VNFS: its client will reclaim it, or not, which shows later.
    if (!is_reclaim) answer = ShareAnswer::kLater;
  }
  return answer;
}

// Asked in this order: the living mounts are known as of a revision at which all their records are
// known, too.
std::optional<std::vector<MountId>> ShareModes::living(Revision at_least) const {
  const auto known = peers_.newest();
  if (!known || *known < at_least) return std::nullopt;
  auto living = peers_.living();
  const auto until = peers_.newest();
  const auto heard = table_.newest();
  if (!living || !until || !heard || *heard < *until) return std::nullopt;
  return living;
}

bool ShareModes::has_all_at_hand(const std::vector<MountId>& living) const {
  const auto marks = table_.others(kNoFile);
  return is_settled() && std::ranges::all_of(marks, [&](const auto& mark) {
           return std::ranges::find(living, mark.first) != living.end();
         });
}

ShareModes::FirstOpen::FirstOpen(ShareTable& table, Ino ino, ShareMode mode)
    : table_(table), turn_(table.take_turn(ino)), ino_(ino), mode_(mode) {}

void ShareModes::FirstOpen::count() {
  if (recorded_) table_.note_own(ino_, recorded_);
  table_.count(ino_, {}, mode_);
}

ShareModes::FirstOpen ShareModes::first_open(Ino ino, ShareMode mode) {
  FirstOpen open(table_, ino, mode);
  if (mode.deny == 0) return open;
  open.recorded_ = RecordedShare{mode, true, true, options_.vnfs};
  open.writes_ = {
      kv::put(kv::keys::share(options_.fs, ino, options_.mount), encode_share(*open.recorded_))};
  return open;
}

bool ShareModes::has_heard_of(Revision revision) const {
  const std::int64_t deadline_ns = clock_.mono_ns() + kShareAskMs * 1'000'000;
  for (;;) {
    const auto heard = table_.newest();
    if (heard && *heard >= revision) return true;
    if (stop_ || clock_.mono_ns() > deadline_ns) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(kShareAskPollMs));
  }
}

bool ShareModes::can_deny() const {
  const std::int64_t deadline_ns = clock_.mono_ns() + kShareAskMs * 1'000'000;
  for (;;) {
    if (const auto now = living(Revision{})) return has_all_at_hand(*now);
    if (stop_ || clock_.mono_ns() > deadline_ns) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(kShareAskPollMs));
  }
}

bool ShareModes::all_have_recorded(Ino ino, Revision asked) {
  const std::int64_t deadline_ns = clock_.mono_ns() + kShareAskMs * 1'000'000;
  for (;;) {
    if (const auto now = living(asked)) {
      const auto others = table_.others(ino);
      const bool all = std::ranges::all_of(*now, [&](MountId id) {
        const auto found = others.find(id);
        return found != others.end() && found->second.complete;
      });
      if (!has_all_at_hand(*now)) return false;  // waiting would not change that
      if (all) return true;
    }
    if (stop_ || clock_.mono_ns() > deadline_ns) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(kShareAskPollMs));
  }
}

Result<ShareAnswer> ShareModes::change(Ino ino, ShareMode before, ShareMode after,
                                       bool is_reclaim) {
  switch (table_.try_change(ino, before, after)) {
    case ShareTable::Tried::kCounted: return ShareAnswer::kGranted;
    case ShareTable::Tried::kDenied: return ShareAnswer::kDenied;
    case ShareTable::Tried::kAskStore: break;
  }
  const ShareTable::Turn turn = table_.take_turn(ino);
  if (!contains(before, after)) return change_recorded(ino, before, after, is_reclaim);
  // The modes that the open gives up are given up in any case. That is recorded before the answer
  // where possible, because the open's owner may tell others.
  table_.count(ino, before, after);
  const auto own = table_.own(ino);
  const ShareMode opens = table_.opens(ino);
  if (own && own->mode != opens && !record(ino, share(opens, own->asks), kv::Growth::kMustGo))
    table_.wake();
  return ShareAnswer::kGranted;
}

Result<ShareAnswer> ShareModes::change_recorded(Ino ino, ShareMode before, ShareMode after,
                                                bool is_reclaim) {
  std::optional<Revision> asked;
  for (int attempt = 0; attempt < kConflictRetriesMax && !stop_; ++attempt) {
    const ShareMode wanted = table_.opens(ino, before) | after;
    if (conflict(table_.opens(ino, before), after)) return ShareAnswer::kDenied;
    const auto own = table_.own(ino);
    if (own && contains(own->mode, wanted)) {  // opens that came since have seen it
      table_.count(ino, before, after);
      return ShareAnswer::kGranted;
    }
    SYMNAS_ASSIGN(Looked looked, look(ino));
    std::vector<kv::Compare> unchanged;
    // The record of a former mount of this VNFS still denies what that mount has denied: no mount
    // has to be asked.
    const auto former = std::ranges::find_if(looked.others, [&](const auto& other) {
      return other.second.vnfs == options_.vnfs && contains(other.second.mode, after);
    });
    if (is_reclaim && former != looked.others.end()) {
      unchanged = {kv::key_exists(kv::keys::share(options_.fs, ino, former->first))};
    } else if (after.deny != 0) {
      if (!can_deny()) return ShareAnswer::kLater;
      if (!asked) {
        SYMNAS_ASSIGN(asked, record(ino, share(table_.opens(ino), true), kv::Growth::kGrows));
      }
      if (!all_have_recorded(ino, *asked)) return ShareAnswer::kLater;
      SYMNAS_ASSIGN(looked, look(ino));
    }
    const ShareAnswer answer = judge(looked, after, is_reclaim);
    if (answer != ShareAnswer::kGranted) return answer;
    if (after.deny == 0 && !own && looked.others.empty()) {
      table_.count(ino, before, after);
      return ShareAnswer::kGranted;
    }
    unchanged.push_back(looked.unchanged);
    // When the store runs out of room, only an open that denies something new is refused.
    const auto growth = after.deny == 0 || is_reclaim ? kv::Growth::kMustGo : kv::Growth::kGrows;
    const auto recorded = record(ino, share(wanted, wanted.deny != 0), growth, unchanged);
    if (!recorded && recorded.error().code == ErrorCode::kConflict) continue;
    SYMNAS_TRY(recorded);
    table_.count(ino, before, after);
    return ShareAnswer::kGranted;
  }
  return ShareAnswer::kLater;
}

void ShareModes::run() {
  std::int64_t cleaned_ns = clock_.mono_ns();
  while (!stop_) {
    const bool all = look_around();
    if (clock_.mono_ns() - cleaned_ns > kShareCleanMs * 1'000'000) {
      cleaned_ns = clock_.mono_ns();
      const auto note = [](const Status& done) {
        if (!done) log::info("old share records are not removed yet: {}", done.error().message);
      };
      if (is_settled()) note(drop_former());
      note(drop_unserved());
      for (const Ino ino : table_.recorded()) {
        if (stop_) return;
        note(clean(ino));
      }
    }
    table_.wait(all ? kShareCleanMs : kShareTurnMs);
  }
}

bool ShareModes::look_around() {
  bool all = true;
  for (const Ino ino : table_.recorded()) {
    if (stop_) return true;
    const Result<bool> done = attend(ino);
    if (!done) log::info("share record of inode {} is late: {}", ino.value(), done.error().message);
    if (done && !*done) all = false;
  }
  return all;
}

Result<bool> ShareModes::attend(Ino ino) {
  const auto turn = table_.try_turn(ino);
  if (!turn) return false;
  const auto own = table_.own(ino);
  const auto others = table_.others(ino);
  const bool is_asked = std::ranges::any_of(others, [&](const auto& other) {
    return other.second.asks && other.second.vnfs != options_.vnfs;
  });
  const ShareMode opens = table_.opens(ino);
  const bool owes_answer = is_asked && is_settled() && (!own || !own->complete);
  const bool gave_up = own && own->mode != opens;
  if (!owes_answer && !gave_up) return true;
  SYMNAS_TRY(record(ino, share(opens, own && own->asks), kv::Growth::kMustGo));
  return true;
}

Status ShareModes::clean(Ino ino) {
  const auto turn = table_.try_turn(ino);
  const auto own = turn ? table_.own(ino) : std::nullopt;
  if (!own || own->mode.deny != 0) return {};
  if (own->asks) {
    SYMNAS_TRY(record(ino, share(table_.opens(ino), false), kv::Growth::kMustGo));
    return {};
  }
  SYMNAS_ASSIGN(const Looked looked, look(ino));
  const bool is_needed =
      std::ranges::any_of(looked.others, [](const auto& other) { return other.second.asks; });
  return is_needed ? Status() : forget(ino, looked.unchanged);
}

Status ShareModes::erase_of(const std::string& vnfs, std::optional<kv::Compare> guard) {
  const std::string table = kv::keys::shares(options_.fs);
  SYMNAS_ASSIGN(const kv::OpResult found, session_.range(kv::prefix_range(table), 0));
  const auto living = peers_.living();
  if (!living) return fail(ErrorCode::kUnavailable, "which mounts live is not known now");
  // Backwards, so that the record which says that there is something to erase goes last.
  for (const kv::KeyValue& kv : found.kvs | std::views::reverse) {
    if (stop_) return fail(ErrorCode::kShutdown, "the mount is being closed");
    const auto share = parse_share(kv.value);
    const MountId id{read_be64(kv.key, kv.key.size() - 8)};
    const bool lives = id == options_.mount || std::ranges::find(*living, id) != living->end();
    if (!share || share->vnfs != vnfs || lives) continue;
    kv::Mutation mutation;
    mutation.growth = kv::Growth::kMustGo;
    if (guard) mutation.compares = {*guard};
    mutation.writes = {kv::erase(kv.key)};
    SYMNAS_ASSIGN(const kv::Committed done, session_.commit_blocking(std::move(mutation)));
    if (!done.succeeded) return {};  // the VNFS is served again: its clients may reclaim
  }
  return {};
}

Status ShareModes::drop_former() {
  if (former_dropped_) return {};
  SYMNAS_TRY(erase_of(options_.vnfs, std::nullopt));
  former_dropped_ = true;
  return {};
}

Status ShareModes::drop_unserved() {
  const auto living = peers_.living();
  if (!living) return {};
  std::map<std::string, Unserved> still;
  for (const auto& [id, mark] : table_.others(kNoFile)) {
    if (mark.vnfs == options_.vnfs || std::ranges::find(*living, id) != living->end()) continue;
    const auto known = unserved_.find(mark.vnfs);
    still.try_emplace(mark.vnfs, known == unserved_.end() ? Unserved{clock_.mono_ns(), std::nullopt}
                                                          : known->second);
  }
  unserved_ = std::move(still);
  const std::int64_t two_leases_ns = kUnclaimedLeases * options_.lease_s * 1'000'000'000;
  for (auto& [vnfs, unserved] : unserved_) {
    // Mostly the next mount of the VNFS removes them before this mount has to read the store.
    const std::int64_t since_ns = std::max(unserved.since_ns, gate_.open_since_ns());
    if (clock_.mono_ns() - since_ns <= two_leases_ns) continue;
    SYMNAS_ASSIGN(const std::optional<Revision> claimed,
                  unserved_since(session_, options_.fs, vnfs));
    if (claimed && claimed == unserved.claimed) {
      log::warn("opens of {} are forgotten: no mount has served it for two leases", vnfs);
      SYMNAS_TRY(erase_of(vnfs, no_claim_since(options_.fs, *claimed)));
    }
    unserved = {clock_.mono_ns(), claimed};
  }
  return {};
}

}  // namespace symnas::fs
