// AccountingSession: a Session that counts. Every transaction of a mount passes through it; when it
// puts or erases an inode record, and usage is counted, the transaction also puts a usage slot of
// this mount with what that changes for the inode's user, group, tree and filesystem. So the usage
// is exactly what the counted inode records say, after any crash.
//
// A record says itself in which epoch it is counted. One that is not counted yet is counted in full
// by the first transaction that puts it, and so are new ones: a scan that puts each record once
// (usage_keeper.h) brings counting to an end while clients work.
//
// Thread class: thread-safe. Under its mutex only Loop's is taken. Cost while nothing is counted:
// one atomic load. INV-3 and exactly once are the inner session's.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/base/ids.h"
#include "common/base/thread_annotations.h"
#include "common/kv/session.h"
#include "fsal_cluster/quota/usage_slots.h"
#include "fsal_cluster/quota/usage_table.h"

namespace symnas::fs {

class AccountingSession final : public kv::Session {
 public:
  // `table` outlives it, and is followed by `inner`.
  AccountingSession(std::unique_ptr<kv::Session> inner, UsageTable& table, FsId fs, MountId mount)
      : table_(table), fs_(fs), mount_(mount), inner_(std::move(inner)) {}

  // Counts, then commits. Errors: those of Session::commit; kCorrupt (an inode record cannot be
  // parsed), kBusy (kUsageSlotsMax operations are under way).
  void commit(kv::Mutation mutation, kv::CommitCallback done) override;

  // Moves a slot that is half full to the bases. False: there is none, or others kept changing the
  // bases. Blocks. Errors: those of Session.
  Result<bool> fold_full_slot();
  // `wake` is called when too many slots have become full; null: by nobody any more. It must not
  // wait, and not call the session.
  void when_slots_are_full(std::function<void()> wake);
  // The same of a slot of an ended mount, which is erased. `proof` that it has ended is compared.
  // The slot is left alone if somebody else was faster.
  Status fold(const UsageTable::ForeignSlot& slot, const kv::Compare& proof);

  Status admit(kv::Growth growth) const override { return inner_->admit(growth); }
  Result<std::vector<kv::CachedValue>> read(const std::vector<std::string>& keys) override {
    return inner_->read(keys);
  }
  using kv::Session::read;
  Status await_own(const std::vector<std::string>& keys) override {
    return inner_->await_own(keys);
  }
  std::optional<kv::CachedValue> peek(const std::string& key) override { return inner_->peek(key); }
  void read_async(std::vector<std::string> keys,
                  std::function<void(Result<std::vector<kv::CachedValue>>)> done) override {
    inner_->read_async(std::move(keys), std::move(done));
  }
  Result<kv::OpResult> range(kv::KeyRange range, std::int64_t limit) override {
    return inner_->range(std::move(range), limit);
  }
  Status barrier() override { return inner_->barrier(); }
  void barrier_async(std::function<void(Status)> done) override {
    inner_->barrier_async(std::move(done));
  }
  Revision applied() const override { return inner_->applied(); }
  std::int64_t next_time_ns() override { return inner_->next_time_ns(); }
  void saw_time_ns(std::int64_t time_ns) override { inner_->saw_time_ns(time_ns); }
  std::int64_t stamp_time_ns() const override { return inner_->stamp_time_ns(); }
  kv::SessionCounters counters() const override { return inner_->counters(); }

 private:
  // An inode record that a transaction writes.
  struct Write {
    std::size_t op = 0;  // of Mutation::writes
    std::string key;
    std::optional<Revision> compared;  // nullopt: a new inode
  };
  std::vector<Write> inode_writes(const kv::Mutation& mutation) const;
  // As commit(), with the records that the writes replace.
  void account(kv::Mutation mutation, const std::vector<Write>& writes,
               const std::vector<kv::CachedValue>& before, UsageTable::Mode mode,
               kv::CommitCallback done);
  void commit_counted(kv::Mutation mutation, Usages delta, std::uint32_t epoch,
                      kv::CommitCallback done);
  void give_back(UsageSlots::Taken taken, std::uint32_t epoch, UsageSlots::Outcome outcome);
  // False: another mount has changed a base meanwhile.
  Result<bool> fold_once(const UsageSlots::Full& full, std::uint32_t epoch);
  // The mutation that adds `usages` to the bases.
  Result<kv::Mutation> to_bases(const Usages& usages, std::uint32_t epoch);

  UsageTable& table_;
  const FsId fs_;
  const MountId mount_;
  Mutex mutex_;
  UsageSlots slots_ GUARDED_BY(mutex_);
  std::uint32_t slots_epoch_ GUARDED_BY(mutex_) = 0;
  std::function<void()> wake_ GUARDED_BY(mutex_);
  const std::unique_ptr<kv::Session> inner_;  // last: its callbacks use all else
};

}  // namespace symnas::fs
