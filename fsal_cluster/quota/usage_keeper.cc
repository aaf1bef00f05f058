#include "fsal_cluster/quota/usage_keeper.h"

#include <algorithm>
#include <string>
#include <utility>

#include "common/base/log.h"
#include "common/kv/keys.h"
#include "common/kv/usage_keys.h"
#include "fsal_cluster/quota/limits.h"
#include "fsal_cluster/schema/inode.h"

namespace symnas::fs {
namespace {

const char* name_of(records::QuotaMode::State state) {
  return state == records::QuotaMode::ON ? "every inode is counted, limits hold" : "counting";
}

}  // namespace

records::QuotaGrace grace_of(const records::QuotaLimit& limit, const Usage& used,
                             std::uint32_t block_bytes, const records::QuotaGrace& before,
                             std::int64_t now_ns) {
  const auto since = [now_ns](std::uint64_t soft, std::uint64_t unit, std::int64_t use,
                              std::int64_t was) {
    if (soft == 0 || use <= static_cast<std::int64_t>(soft / unit)) return std::int64_t{0};
    return was != 0 ? was : now_ns;
  };
  records::QuotaGrace out;
  out.set_bytes_since_ns(
      since(limit.bytes_soft(), block_bytes, used.blocks, before.bytes_since_ns()));
  out.set_inodes_since_ns(since(limit.inodes_soft(), 1, used.inodes, before.inodes_since_ns()));
  return out;
}

UsageKeeper::UsageKeeper(AccountingSession& session, UsageTable& table, Options options)
    : session_(session),
      table_(table),
      options_(std::move(options)),
      marker_(session, options_.fs, options_.self) {
  session_.when_slots_are_full([this] { loop_.wake(); });
  loop_.start(kQuotaTurnNs, [this] {
    const Status done = turn();
    if (!done && done.error().code != ErrorCode::kShutdown &&
        done.error().code != ErrorCode::kEnded)
      log::warn("filesystem {}: usage is not kept: {}; tried again", options_.fs.value(),
                done.error().message);
    return done && marker_.is_busy() ? kMarkPauseNs : kQuotaTurnNs;
  });
}

void UsageKeeper::stop() {
  session_.when_slots_are_full(nullptr);
  loop_.stop();
}

bool UsageKeeper::is_first(const std::vector<MountId>& others) const {
  return others.empty() || options_.self < others.front();
}

Status UsageKeeper::turn() {
  const UsageTable::Mode mode = table_.mode();
  if (mode.off()) return {};
  for (;;) {
    SYMNAS_ASSIGN(const bool folded, session_.fold_full_slot());
    if (!folded || loop_.stopping()) break;
  }
  const auto others = options_.others();
  if (!others || !is_first(*others)) return {};
  SYMNAS_TRY(fold_ended(*others));
  if (!mode.on()) return advance(mode, *others);
  SYMNAS_TRY(keep_graces());
  return marker_.turn(table_.trees(), [this] { return loop_.stopping(); });
}

Status UsageKeeper::fold_ended(const std::vector<MountId>& others) {
  std::vector<MountId> living = others;
  living.push_back(options_.self);
  for (const UsageTable::ForeignSlot& slot : table_.slots_of_others(living)) {
    if (loop_.stopping()) return {};
    const auto key = parse_quota_key(options_.fs, slot.key);
    if (!key) continue;
    const std::string mount = kv::keys::mount(options_.fs, key->mount);
    SYMNAS_ASSIGN(const kv::CachedValue record, session_.read(mount));
    const kv::Compare proof = record.value
                                  ? kv::key_exists(kv::keys::mount_ended(options_.fs, key->mount))
                                  : kv::key_absent(mount);
    SYMNAS_TRY(session_.fold(slot, proof));
  }
  return {};
}

Result<bool> UsageKeeper::all_know(UsageTable::Mode mode, const std::vector<MountId>& others) {
  for (const MountId other : others) {
    SYMNAS_ASSIGN(const kv::CachedValue value,
                  session_.read(kv::keys::heartbeat(options_.fs, other)));
    records::HeartbeatRecord heartbeat;
    if (!value.value || !heartbeat.ParseFromString(*value.value)) return false;
    if (heartbeat.quota_mode() != UsageTable::pack(mode)) return false;
  }
  return true;
}

Status UsageKeeper::advance(UsageTable::Mode mode, const std::vector<MountId>& others) {
  SYMNAS_ASSIGN(const bool known, all_know(mode, others));
  if (!known) return {};
  if (mode.state == records::QuotaMode::ARMING) return put_mode(mode, records::QuotaMode::COUNTING);
  SYMNAS_ASSIGN(const std::size_t uncounted, scan(mode.epoch));
  if (uncounted > 0 || loop_.stopping()) return {};
  return put_mode(mode, records::QuotaMode::ON);
}

Status UsageKeeper::put_mode(UsageTable::Mode from, records::QuotaMode::State to) {
  const std::string key = kv::keys::quota_mode(options_.fs);
  SYMNAS_ASSIGN(const kv::CachedValue value, session_.read(key));
  records::QuotaMode record;
  if (!value.value || !record.ParseFromString(*value.value)) return {};
  if (record.epoch() != from.epoch || record.state() != from.state) return {};
  record.set_state(to);
  kv::Mutation mutation;
  mutation.compares = {kv::mod_revision_is(key, value.mod_revision)};
  mutation.writes = {kv::put(key, record.SerializeAsString())};
  SYMNAS_ASSIGN(const kv::Committed done, session_.commit_blocking(std::move(mutation)));
  if (done.succeeded) log::info("filesystem {}: usage: {}", options_.fs.value(), name_of(to));
  return {};
}

Result<std::size_t> UsageKeeper::scan(std::uint32_t epoch) {
  const kv::KeyRange all = kv::prefix_range(kv::keys::table(options_.fs, 'w', 'I'));
  std::string from = all.key;
  std::size_t uncounted = 0;
  for (;;) {
    SYMNAS_ASSIGN(const kv::OpResult page, session_.range(kv::KeyRange{from, all.end}, kScanPage));
    std::vector<kv::KeyValue> some;
    for (const kv::KeyValue& kv : page.kvs) {
      records::Inode inode;
      if (!inode.ParseFromString(kv.value) || inode.usage_epoch() == epoch) continue;
      some.push_back(kv);
      ++uncounted;
      if (some.size() < kScanPerTransaction) continue;
      SYMNAS_TRY(touch(some));
      some.clear();
    }
    SYMNAS_TRY(touch(some));
    if (!page.more || page.kvs.empty() || loop_.stopping()) return uncounted;
    from = page.kvs.back().key + '\0';
  }
}

// Only the session adds something to the records, so neither times nor change move.
Status UsageKeeper::touch(const std::vector<kv::KeyValue>& some) {
  if (some.empty()) return {};
  kv::Mutation mutation;
  mutation.growth = kv::Growth::kMustGo;
  for (const kv::KeyValue& kv : some) {
    records::Inode inode;
    if (!inode.ParseFromString(kv.value)) continue;
    inode.set_content_revision(content_revision(inode, kv.mod_revision).value());
    mutation.compares.push_back(kv::mod_revision_is(kv.key, kv.mod_revision));
    mutation.writes.push_back(kv::put(kv.key, inode.SerializeAsString()));
  }
  const auto done = session_.commit_blocking(std::move(mutation));
  // One that somebody has changed meanwhile is counted by that, or found by the next scan.
  return done ? Status() : Status(tl::unexpected(done.error()));
}

Status UsageKeeper::keep_graces() {
  for (const auto& [subject, limit] : table_.held()) {
    const records::QuotaGrace before = table_.grace(subject);
    const records::QuotaGrace now = grace_of(limit.record, table_.total(subject),
                                             options_.block_bytes, before, session_.next_time_ns());
    if (now.bytes_since_ns() == before.bytes_since_ns() &&
        now.inodes_since_ns() == before.inodes_since_ns())
      continue;
    const std::string key =
        kv::keys::quota_grace(options_.fs, static_cast<std::uint8_t>(subject.kind), subject.id);
    kv::Mutation mutation;
    mutation.growth = kv::Growth::kMustGo;
    // A grace lives as long as its limit: whoever removes that one erases it.
    const auto limit_key = [this](const Subject& of) {
      return kv::keys::quota_limit(options_.fs, static_cast<std::uint8_t>(of.kind), of.id);
    };
    mutation.compares = {kv::key_exists(limit_key(limit.whose))};
    // An own limit that is set meanwhile begins with a whole grace.
    if (limit.whose != subject) mutation.compares.push_back(kv::key_absent(limit_key(subject)));
    const bool none = now.bytes_since_ns() == 0 && now.inodes_since_ns() == 0;
    mutation.writes = {none ? kv::erase(key) : kv::put(key, now.SerializeAsString())};
    SYMNAS_TRY(session_.commit_blocking(std::move(mutation)));
  }
  return {};
}

}  // namespace symnas::fs
