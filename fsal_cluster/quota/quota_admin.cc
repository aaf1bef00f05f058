#include "fsal_cluster/quota/quota_admin.h"

#include <utility>
#include <vector>

#include "common/kv/usage_keys.h"
#include "fsal_cluster/quota/admin_change.h"
#include "fsal_cluster/quota/usage_table.h"
#include "fsal_cluster/types/limits.h"

namespace symnas::fs {
namespace {

std::uint8_t kind_of(const Subject& subject) { return static_cast<std::uint8_t>(subject.kind); }

// The graces that begin anew with a new limit.
kv::Op erase_graces(FsId fs, const Subject& subject) {
  const auto all_of = [fs](SubjectKind kind) {
    const auto number = static_cast<std::uint8_t>(kind);
    return kv::erase_range({kv::keys::quota_grace(fs, number, 0),
                            kv::keys::quota_grace(fs, static_cast<std::uint8_t>(number + 1), 0)});
  };
  if (subject.kind == SubjectKind::kEachUser) return all_of(SubjectKind::kUser);
  if (subject.kind == SubjectKind::kEachGroup) return all_of(SubjectKind::kGroup);
  return kv::erase(kv::keys::quota_grace(fs, kind_of(subject), subject.id));
}

Result<records::QuotaMode> mode_of(const std::optional<kv::KeyValue>& kv) {
  records::QuotaMode mode;
  if (kv && !mode.ParseFromString(kv->value))
    return fail(ErrorCode::kCorrupt, "quota: the stored mode cannot be parsed");
  return mode;
}

}  // namespace

Result<bool> switch_quotas(kv::Store& store, FsId fs, QuotaSwitch to) {
  const std::string key = kv::keys::quota_mode(fs);
  const auto plan = [&](const std::optional<kv::KeyValue>& now) -> Result<PlannedChange> {
    SYMNAS_ASSIGN(records::QuotaMode mode, mode_of(now));
    const bool off = mode.state() == records::QuotaMode::OFF;
    if (off == (to == QuotaSwitch::kOff)) return PlannedChange();
    PlannedChange planned;
    std::vector<kv::Op>& writes = planned.writes;
    if (to == QuotaSwitch::kOn) {
      mode.set_epoch(mode.epoch() + 1);
      mode.set_state(records::QuotaMode::ARMING);
      // What earlier epochs have left; a mount that was late may have put some after they ended.
      writes.push_back(
          kv::erase_range({kv::keys::usage_bases(fs, 0), kv::keys::usage_bases(fs, mode.epoch())}));
      writes.push_back(
          kv::erase_range({kv::keys::usage_slots(fs, 0), kv::keys::usage_slots(fs, mode.epoch())}));
    } else {
      mode.set_state(records::QuotaMode::OFF);
    }
    writes.push_back(kv::put(key, mode.SerializeAsString()));
    return planned;
  };
  return change_record(store, fs, key, plan);
}

Result<records::QuotaLimit> edited(records::QuotaLimit limit, const LimitEdit& edit) {
  if (limit.ByteSizeLong() == 0) {
    limit.set_bytes_grace_s(kGraceDefaultS);
    limit.set_inodes_grace_s(kGraceDefaultS);
  }
  if (edit.bytes_hard) limit.set_bytes_hard(*edit.bytes_hard);
  if (edit.bytes_soft) limit.set_bytes_soft(*edit.bytes_soft);
  if (edit.inodes_hard) limit.set_inodes_hard(*edit.inodes_hard);
  if (edit.inodes_soft) limit.set_inodes_soft(*edit.inodes_soft);
  if (edit.bytes_grace_s) limit.set_bytes_grace_s(*edit.bytes_grace_s);
  if (edit.inodes_grace_s) limit.set_inodes_grace_s(*edit.inodes_grace_s);
  const auto above = [](std::uint64_t soft, std::uint64_t hard) {
    return hard != 0 && soft > hard;
  };
  if (above(limit.bytes_soft(), limit.bytes_hard()) ||
      above(limit.inodes_soft(), limit.inodes_hard()))
    return fail(ErrorCode::kInvalidArgument,
                "quota: the soft limit is above the hard one; set both in one command");
  return limit;
}

Status set_limit(kv::Store& store, FsId fs, const Subject& subject, const LimitEdit& edit,
                 Doing doing) {
  SYMNAS_ASSIGN(
      const kv::OpResult mode,
      kv::range_blocking(store, kv::single_key(kv::keys::quota_mode(fs)), 1, kAdminDeadlineMs));
  SYMNAS_ASSIGN(const records::QuotaMode known,
                mode_of(mode.kvs.empty() ? std::nullopt : std::optional(mode.kvs.front())));
  if (known.state() == records::QuotaMode::OFF)
    return fail(ErrorCode::kInvalidArgument,
                "quota: usage is not counted yet; run: symnas quota on FILESYSTEM");
  if (subject.kind == SubjectKind::kTree) {
    const std::string tree = kv::keys::quota_tree(fs, subject.id);
    SYMNAS_ASSIGN(const kv::OpResult there,
                  kv::range_blocking(store, kv::single_key(tree), 1, kAdminDeadlineMs));
    if (there.kvs.empty())
      return fail(ErrorCode::kNotFound, "quota: there is no directory " + to_string(subject));
  }
  const std::string key = kv::keys::quota_limit(fs, kind_of(subject), subject.id);
  const auto plan = [&](const std::optional<kv::KeyValue>& now) -> Result<PlannedChange> {
    records::QuotaLimit limit;
    if (now && !limit.ParseFromString(now->value))
      return fail(ErrorCode::kCorrupt, "quota: the stored limit cannot be parsed");
    SYMNAS_ASSIGN(const records::QuotaLimit next, edited(limit, edit));
    if (now && next.SerializeAsString() == now->value) return PlannedChange();
    PlannedChange planned;
    planned.writes = {kv::put(key, next.SerializeAsString())};
    // A limit lives as long as its tree.
    if (subject.kind == SubjectKind::kTree)
      planned.compares = {kv::key_exists(kv::keys::quota_tree(fs, subject.id))};
    // A new limit begins with a whole grace.
    if (!now) planned.writes.push_back(erase_graces(fs, subject));
    return planned;
  };
  const auto done = change_record(store, fs, key, plan, doing);
  return done ? Status() : Status(tl::unexpected<Error>(done.error()));
}

Status remove_limit(kv::Store& store, FsId fs, const Subject& subject, Doing doing) {
  const std::string key = kv::keys::quota_limit(fs, kind_of(subject), subject.id);
  const auto plan = [&](const std::optional<kv::KeyValue>& now) -> Result<PlannedChange> {
    if (!now) return PlannedChange();
    return PlannedChange{
        {}, {kv::erase(key), kv::erase(kv::keys::quota_grace(fs, kind_of(subject), subject.id))}};
  };
  SYMNAS_ASSIGN(const bool done, change_record(store, fs, key, plan, doing));
  if (done) return {};
  return fail(
      ErrorCode::kNotFound,
      to_string(subject) + ": has no limit; symnas quota ls FILESYSTEM lists those that have");
}

Result<QuotaReport> read_quotas(kv::Store& store, FsId fs) {
  // One read is one moment; its size is a few bytes for each user, group and slot.
  SYMNAS_ASSIGN(
      kv::OpResult all,
      kv::range_blocking(store, kv::prefix_range(kv::keys::quota_table(fs)), 0, kAdminDeadlineMs));
  UsageTable table(fs);
  table.on_image(all.kvs, Revision{1});
  QuotaReport out;
  out.mode.set_epoch(table.mode().epoch);
  out.mode.set_state(table.mode().state);
  for (const auto& [subject, usage] : table.totals()) out.rows[subject].used = usage;
  for (const auto& [subject, limit] : table.limits()) out.rows[subject].limit = limit;
  out.trees = table.trees();
  // What has the number of a tree that was removed belongs to none.
  std::erase_if(out.rows, [&](const auto& row) {
    return row.first.kind == SubjectKind::kTree && !out.trees.contains(row.first.id);
  });
  for (const auto& [id, tree] : out.trees) out.rows.try_emplace({SubjectKind::kTree, id});
  for (auto& [subject, row] : out.rows) {
    const auto held = table.limit(subject);
    if (!held) continue;
    row.limit = held->record;
    row.by_each = held->whose != subject;
    row.grace = table.grace(subject);
  }
  return out;
}

}  // namespace symnas::fs
