#include "fsal_cluster/quota/accounting_session.h"

#include <algorithm>
#include <optional>

#include "common/kv/usage_keys.h"
#include "fsal_cluster/quota/limits.h"
#include "fsal_cluster/quota/subject.h"
#include "fsal_cluster/quota/usage_record.h"
#include "fsal_cluster/schema/records.pb.h"

namespace symnas::fs {
namespace {

Error unparsable(const char* what) {
  return Error{ErrorCode::kCorrupt, std::string(what) + ": the stored record cannot be parsed"};
}

}  // namespace

std::vector<AccountingSession::Write> AccountingSession::inode_writes(
    const kv::Mutation& mutation) const {
  const std::string prefix = kv::keys::table(fs_, 'w', 'I');
  std::vector<Write> out;
  for (std::size_t i = 0; i < mutation.writes.size(); ++i) {
    const kv::Op& op = mutation.writes[i];
    if (op.range.key.size() != prefix.size() + 8 || !op.range.key.starts_with(prefix)) continue;
    Write write{i, op.range.key, std::nullopt};
    for (const kv::Compare& compare : mutation.compares) {
      if (compare.range.key == write.key && compare.target == kv::Compare::Target::kModRevision &&
          compare.relation == kv::Compare::Relation::kEqual)
        write.compared = Revision{compare.number};
    }
    out.push_back(std::move(write));
  }
  return out;
}

void AccountingSession::commit(kv::Mutation mutation, kv::CommitCallback done) {
  const UsageTable::Mode mode = table_.mode();
  if (mode.off()) {
    inner_->commit(std::move(mutation), std::move(done));
    return;
  }
  std::vector<Write> writes = inode_writes(mutation);
  if (writes.empty()) {
    inner_->commit(std::move(mutation), std::move(done));
    return;
  }
  std::vector<kv::CachedValue> before(writes.size());
  std::vector<std::string> missing;
  for (std::size_t i = 0; i < writes.size(); ++i) {
    if (!writes[i].compared) continue;
    const auto cached = inner_->peek(writes[i].key);
    if (cached) {
      before[i] = *cached;
    } else {
      missing.push_back(writes[i].key);
    }
  }
  if (missing.empty()) {
    account(std::move(mutation), writes, before, mode, std::move(done));
    return;
  }
  std::vector<std::string> keys;
  for (const Write& write : writes) keys.push_back(write.key);
  inner_->read_async(std::move(keys),
                     [this, mutation = std::move(mutation), writes, mode,
                      done = std::move(done)](Result<std::vector<kv::CachedValue>> read) mutable {
                       if (!read) {
                         done(tl::unexpected(read.error()));
                         return;
                       }
                       account(std::move(mutation), writes, *read, mode, std::move(done));
                     });
}

void AccountingSession::account(kv::Mutation mutation, const std::vector<Write>& writes,
                                const std::vector<kv::CachedValue>& before, UsageTable::Mode mode,
                                kv::CommitCallback done) {
  Usages delta;
  for (std::size_t i = 0; i < writes.size(); ++i) {
    const Write& write = writes[i];
    bool counted = false;
    if (write.compared) {
      // What was decided from is no longer there: the compare cannot hold.
      if (before[i].mod_revision != *write.compared || !before[i].value) {
        done(kv::Committed{});
        return;
      }
      records::Inode inode;
      if (!inode.ParseFromString(*before[i].value))
        return done(tl::unexpected(unparsable("inode")));
      counted = inode.usage_epoch() == mode.epoch;
      if (counted) add(delta, subjects_of(inode), -usage_of(inode));
    }
    kv::Op& op = mutation.writes[write.op];
    if (op.kind != kv::Op::Kind::kPut) continue;
    records::Inode inode;
    if (!inode.ParseFromString(op.value)) return done(tl::unexpected(unparsable("inode")));
    const bool count = counted || mode.counts();
    inode.set_usage_epoch(count ? mode.epoch : 0);
    op.value = inode.SerializeAsString();
    if (count) add(delta, subjects_of(inode), usage_of(inode));
  }
  if (delta.empty()) {
    inner_->commit(std::move(mutation), std::move(done));
    return;
  }
  commit_counted(std::move(mutation), std::move(delta), mode.epoch, std::move(done));
}

void AccountingSession::commit_counted(kv::Mutation mutation, Usages delta, std::uint32_t epoch,
                                       kv::CommitCallback done) {
  std::optional<UsageSlots::Taken> taken;
  {
    const MutexLock lock(mutex_);
    if (slots_epoch_ < epoch) {
      slots_.restart();
      slots_epoch_ = epoch;
    }
    if (slots_epoch_ == epoch) taken = slots_.take(delta);
  }
  if (!taken) {
    done(fail(ErrorCode::kBusy, "usage: too many changes at once; try again"));
    return;
  }
  mutation.writes.push_back(
      kv::put(kv::keys::usage_slot(fs_, epoch, mount_, taken->slot), encode_usage(taken->after)));
  inner_->commit(
      std::move(mutation), [this, taken = std::move(*taken), delta = std::move(delta), epoch,
                            done = std::move(done)](Result<kv::Committed> committed) mutable {
        const bool succeeded = committed && committed->succeeded;
        if (succeeded) table_.changed(committed->revision, delta);
        give_back(std::move(taken), epoch,
                  succeeded ? UsageSlots::Outcome::kSucceeded : UsageSlots::Outcome::kNothing);
        done(std::move(committed));
      });
}

void AccountingSession::give_back(UsageSlots::Taken taken, std::uint32_t epoch,
                                  UsageSlots::Outcome outcome) {
  const MutexLock lock(mutex_);
  if (slots_epoch_ != epoch) return;
  const std::size_t before = slots_.full();
  slots_.give_back(std::move(taken), outcome);
  if (before <= kUsageSlotsFullMax && slots_.full() > kUsageSlotsFullMax && wake_) wake_();
}

void AccountingSession::when_slots_are_full(std::function<void()> wake) {
  const MutexLock lock(mutex_);
  wake_ = std::move(wake);
}

Result<kv::Mutation> AccountingSession::to_bases(const Usages& usages, std::uint32_t epoch) {
  std::vector<std::string> keys;
  for (const auto& [subject, usage] : usages)
    keys.push_back(
        kv::keys::usage_base(fs_, epoch, static_cast<std::uint8_t>(subject.kind), subject.id));
  SYMNAS_ASSIGN(const std::vector<kv::CachedValue> bases, inner_->read(keys));
  kv::Mutation mutation;
  mutation.growth = kv::Growth::kMustGo;
  std::size_t i = 0;
  for (const auto& [subject, usage] : usages) {
    const kv::CachedValue& base = bases[i];
    mutation.compares.push_back(
        kv::mod_revision_is(keys[i], base.value ? base.mod_revision : Revision{0}));
    Usages sum;
    if (base.value) {
      auto read = decode_usage(*base.value);
      if (!read) return tl::unexpected(unparsable("usage base"));
      sum = std::move(*read);
    }
    add(sum, subject, usage);
    mutation.writes.push_back(sum.empty() ? kv::erase(keys[i])
                                          : kv::put(keys[i], encode_usage(sum)));
    ++i;
  }
  return mutation;
}

Result<bool> AccountingSession::fold_full_slot() {
  std::optional<UsageSlots::Full> full;
  std::uint32_t epoch = 0;
  {
    const MutexLock lock(mutex_);
    full = slots_.take_full();
    epoch = slots_epoch_;
  }
  if (!full) return false;
  Result<bool> folded = false;
  for (int tries = 0; folded && !*folded && tries < kFoldTriesMax; ++tries)
    folded = fold_once(*full, epoch);
  give_back(std::move(full->taken), epoch,
            folded && *folded ? UsageSlots::Outcome::kSucceeded : UsageSlots::Outcome::kNothing);
  return folded;
}

Result<bool> AccountingSession::fold_once(const UsageSlots::Full& full, std::uint32_t epoch) {
  SYMNAS_ASSIGN(kv::Mutation mutation, to_bases(full.usages, epoch));
  mutation.writes.push_back(
      kv::put(kv::keys::usage_slot(fs_, epoch, mount_, full.taken.slot), encode_usage({})));
  SYMNAS_ASSIGN(const kv::Committed done, inner_->commit_blocking(std::move(mutation)));
  if (done.succeeded) return true;
  SYMNAS_TRY(inner_->barrier());  // shows the bases that others have put
  return false;
}

Status AccountingSession::fold(const UsageTable::ForeignSlot& slot, const kv::Compare& proof) {
  const auto key = parse_quota_key(fs_, slot.key);
  if (!key) return fail(ErrorCode::kCorrupt, "usage slot: no such key");
  SYMNAS_ASSIGN(kv::Mutation mutation, to_bases(slot.usages, key->epoch));
  mutation.compares.push_back(proof);
  mutation.compares.push_back(kv::mod_revision_is(slot.key, slot.revision));
  mutation.writes.push_back(kv::erase(slot.key));
  const auto done = inner_->commit_blocking(std::move(mutation));
  return done ? Status() : Status(tl::unexpected(done.error()));
}

}  // namespace symnas::fs
