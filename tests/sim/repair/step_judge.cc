#include "tests/sim/repair/step_judge.h"

#include <algorithm>
#include <set>

#include "common/base/bytes.h"
#include "common/kv/keys.h"
#include "common/kv/repair_keys.h"
#include "fsal_cluster/schema/records.pb.h"
#include "tests/sim/product_check.h"
#include "tests/support/forwarding_store.h"

namespace symnas::sim {

namespace {

namespace keys = kv::keys;
using fs::check::Fault;
using fs::check::Finding;

// A step never brings one of these about, whatever it repairs.
constexpr Fault kNeverMore[] = {
    Fault::kUnreadableNames, Fault::kUnreadableInode,   Fault::kUnreadableChunk,
    Fault::kNameTwice,       Fault::kDirectoryNames,    Fault::kCycle,
    Fault::kStamp,           Fault::kReverseMissing,    Fault::kReverseDiffers,
    Fault::kReverseOverlaps, Fault::kTwoOwners,         Fault::kExtent,
    Fault::kOrphanTakesLive, Fault::kUnreadableReverse, Fault::kNameOfNothing};

std::size_t count(const std::vector<Finding>& findings, Fault fault) {
  return static_cast<std::size_t>(std::count_if(
      findings.begin(), findings.end(), [&](const Finding& f) { return f.damage.fault == fault; }));
}

std::size_t count(const std::vector<Finding>& findings, const Finding& like) {
  return static_cast<std::size_t>(std::count_if(
      findings.begin(), findings.end(),
      [&](const Finding& f) { return f.damage.fault == like.damage.fault && f.ino == like.ino; }));
}

// Passes on what a repair sends.
class RecordedStore final : public test::ForwardingStore {
 public:
  RecordedStore(kv::Store& store, std::string records)
      : ForwardingStore(store), records_(std::move(records)) {}
  void txn(kv::Txn txn, kv::TryOptions options, kv::TxnCallback done) override {
    bool changes = false;
    bool recorded = false;
    for (const kv::Op& op : txn.success) {
      if (op.kind == kv::Op::Kind::kRange) continue;
      const bool record = op.range.key.starts_with(records_);
      changes = changes || !record;
      recorded = recorded || (record && op.kind == kv::Op::Kind::kPut);
    }
    if (changes && !recorded) fail("a repair changes something without a record of it");
    ForwardingStore::txn(std::move(txn), options, std::move(done));
  }

 private:
  const std::string records_;
};

}  // namespace

fs::check::Context whole_context(MountWorld& world, const std::vector<kv::KeyValue>& dump) {
  fs::check::Context context = product_context(dump, world.fs(), world.volume_blocks());
  context.vnfses.emplace();
  for (const kv::KeyValue& kv : dump) {
    if (kv.key.starts_with(keys::kVnfs)) context.vnfses->insert(kv.key.substr(keys::kVnfs.size()));
    if (kv.key == keys::kMountIdCounter) context.next_mount = std::stoull(kv.value);
  }
  return context;
}

StepJudge::StepJudge(MountWorld& world, Process& people) : world_(world) {
  observer_ = std::make_unique<Observer>(
      world.server_ptr(), kv::prefix_range(keys::repairs_of(world.fs())),
      [this](const std::vector<kv::WatchEvent>& events, Revision revision) {
        for (const kv::WatchEvent& event : events)
          if (!event.deleted) seen_.emplace_back(event.kv.key, revision);
        wake(&seen_);
      });
  spawn(people, "judge", [this] {
    for (;;) {
      wait_until(&seen_, "a step", [this] { return judged_ < seen_.size(); });
      const auto [key, revision] = seen_[judged_];
      judge(key, revision);
      ++judged_;
      wake(this);
    }
  });
}

void StepJudge::expect(const fs::repair::Plan& plan) {
  for (std::size_t i = 0; i < plan.steps.size(); ++i)
    expected_[keys::repair(plan.fs, plan.revision, i)] = plan.steps[i];
}

std::unique_ptr<kv::Store> StepJudge::store_of(kv::Store& store) const {
  return std::make_unique<RecordedStore>(store, keys::repairs_of(world_.fs()));
}

void StepJudge::wait_judged() {
  wait_until(this, "the judge", [this] { return judged_ == seen_.size(); });
}

StepJudge::Keys StepJudge::at(Revision revision) const {
  const NoSwitch keeps_the_turn;
  kv::MemStore store(kv::MemStoreOptions{.server = world_.server_ptr()});
  kv::Txn look;
  look.success = {kv::get_range({std::string(1, '\0'), std::string(1, '\xff')})};
  look.success.front().revision = revision;
  Keys out;
  store.txn(std::move(look), {}, [&out](Result<kv::TxnResult> read) {
    if (!read) return;  // compacted
    for (kv::KeyValue& kv : read->results.front().kvs) out[kv.key] = std::move(kv);
  });
  return out;
}

std::vector<Finding> StepJudge::findings(const Keys& keys) const {
  std::vector<kv::KeyValue> dump;
  for (const auto& [key, kv] : keys) dump.push_back(kv);
  return product_findings(dump, whole_context(world_, dump));
}

void StepJudge::judge(const std::string& log_key, Revision revision) {
  const auto step = expected_.find(log_key);
  if (step == expected_.end()) fail("a record of a step that nobody planned");
  const Keys before = at(Revision{revision.value() - 1});
  const Keys after = at(revision);
  if (before.empty() || after.empty()) return;  // etcd has discarded them
  trace("judges: %s", step->second.text.c_str());
  judge_findings(step->second, before, after);
  judge_holders(step->second, before);
}

void StepJudge::judge_findings(const fs::repair::Step& step, const Keys& before,
                               const Keys& after) const {
  const std::vector<Finding> old = findings(before);
  const std::vector<Finding> now = findings(after);
  // Two steps: the directory first; the mount that has the lock obeys an order.
  const bool first_of_two =
      step.text.starts_with("makes the directory /lost+found") || step.text.starts_with("orders ");
  // That a key has gone which was changed without the stamp makes the stamp no less right.
  // Nor is a counter of mounts wrong that was set for a file that has gone since: ids only grow.
  // Nor is the filesystem's time too late when a mount has advanced it meanwhile.
  const bool ahead = step.finding.damage.fault == Fault::kCtimeAhead;
  const bool may_have_gone = step.finding.damage.fault == Fault::kStamp ||
                             step.finding.damage.fault == Fault::kMountCounter ||
                             (ahead && (step.changes.empty() || count(old, step.finding) == 0));
  // An empty /lost+found that nothing needs any more does no harm.
  const bool needs_none = may_have_gone || step.text.starts_with("makes the directory /lost+found");
  // While the root is missing, a name that leads to it is one that leads nowhere.
  const bool hidden =
      step.finding.damage.fault == Fault::kNameOfRoot && count(old, Fault::kRootMissing) > 0;
  if (!needs_none && !hidden && count(old, step.finding) == 0)
    fail("a step was carried out whose reason had gone: " + step.object + ": " + step.text);
  if (!first_of_two && !may_have_gone && !hidden &&
      count(now, step.finding) >= count(old, step.finding))
    fail("a step has not repaired what it was made for: " + step.object + ": " + step.text);
  for (const Fault fault : kNeverMore) {
    if (count(now, fault) <= count(old, fault)) continue;
    // It was one before, through the directory that was missing.
    const bool shows = step.finding.damage.fault == Fault::kNamesWithoutDirectory;
    if (shows && fault == Fault::kCycle) continue;
    // Nor was the map of what is no file looked at.
    constexpr Fault kOfMaps[] = {Fault::kTwoOwners, Fault::kExtent, Fault::kReverseMissing,
                                 Fault::kReverseDiffers};
    const bool map_shows = step.finding.damage.fault == Fault::kUnknownType;
    if (map_shows && std::count(std::begin(kOfMaps), std::end(kOfMaps), fault) > 0) continue;
    for (const Finding& finding : now) {
      if (finding.damage.fault == fault)
        fail("the step '" + step.object + ": " + step.text + "' leads to: inode " +
             std::to_string(finding.ino.value()) + ": " + finding.text);
    }
  }
}

// By the records: what may a mount remember?
void StepJudge::judge_holders(const fs::repair::Step& step, const Keys& before) const {
  const FsId fs = world_.fs();
  std::set<std::string> alive;  // keys of mounts
  std::set<std::uint64_t> held;
  const std::string mounts = keys::mounts(fs);
  const std::string tokens = keys::table(fs, 'w', 'K');
  for (const auto& [key, kv] : before) {
    if (key.starts_with(mounts)) {
      const std::string mount = key.substr(0, mounts.size() + 8);
      key.size() == mount.size() ? void(alive.insert(mount)) : void(alive.erase(mount));
    }
    if (key.starts_with(tokens)) held.insert(read_be64(key, tokens.size()));
  }
  const std::string chunks = keys::table(fs, 'w', 'M');
  for (const fs::repair::Change& change : step.changes) {
    if (change.key.starts_with(chunks)) {
      const bool alone = before.contains(keys::solo(fs));
      const bool remembered = alone || held.contains(read_be64(change.key, chunks.size()));
      if (!alive.empty() && remembered)
        fail("a map is changed that a mount remembers: " + step.object + ": " + step.text);
    }
    // No mount owns blocks that are not there.
    if (step.finding.damage.fault == Fault::kGroupOffVolume) continue;
    if (!change.key.starts_with(keys::group_owners(fs)) || !before.contains(change.key)) continue;
    const kv::KeyValue& owner = before.at(change.key);
    for (const std::string& mount : alive) {
      if (before.at(mount).create_revision <= owner.mod_revision)
        fail("a group is taken that a living mount may own: " + step.object + ": " + step.text);
    }
  }
}

}  // namespace symnas::sim
