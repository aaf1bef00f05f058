#include "fsal_cluster/check/quota_usage.h"

#include <fmt/core.h>

#include "fsal_cluster/quota/usage_record.h"

namespace symnas::fs::check {
namespace {

Usage usage_in(const Usages& usages, const Subject& subject) {
  const auto it = usages.find(subject);
  return it == usages.end() ? Usage{} : it->second;
}

std::string text_of(const Usage& usage) {
  return fmt::format("{} blocks and {} inodes", usage.blocks, usage.inodes);
}

}  // namespace

void QuotaUsage::take_inode(Ino, const records::Inode& inode) {
  add(counted_[inode.usage_epoch()], subjects_of(inode), usage_of(inode));
}

bool QuotaUsage::take(const kv::KeyValue& kv) {
  const auto key = parse_quota_key(fs_, kv.key);
  if (!key) return false;
  const auto unparsable = [&] {
    findings_.add(Kind::kRecord, Ino{0}, "a record of quotas cannot be parsed");
  };
  switch (key->part) {
    case QuotaKey::Part::kMode:
      if (!mode_.ParseFromString(kv.value)) unparsable();
      return true;
    case QuotaKey::Part::kLimit:
      if (!records::QuotaLimit().ParseFromString(kv.value)) unparsable();
      return true;
    case QuotaKey::Part::kGrace:
      if (!records::QuotaGrace().ParseFromString(kv.value)) unparsable();
      return true;
    case QuotaKey::Part::kTree:
      if (!trees_[key->subject.id].ParseFromString(kv.value)) unparsable();
      return true;
    case QuotaKey::Part::kBase:
    case QuotaKey::Part::kSlot: break;
  }
  const auto usages = decode_usage(kv.value);
  if (!usages) {
    unparsable();
    return true;
  }
  add(recorded_[key->epoch], *usages);
  return true;
}

void QuotaUsage::finish() {
  if (mode_.state() == records::QuotaMode::OFF) return;
  const Usages& counted = counted_[mode_.epoch()];
  Usages all = counted;
  for (const auto& [subject, usage] : recorded_[mode_.epoch()]) all.try_emplace(subject);
  for (const auto& [subject, usage] : all) {
    const Usage says = usage_in(recorded_[mode_.epoch()], subject);
    const Usage has = usage_in(counted, subject);
    if (says == has) continue;
    findings_.add(Kind::kCounter, Ino{0},
                  fmt::format("usage of {}: {} are recorded, its counted inodes have {}; symnas "
                              "quota off and on counts anew",
                              to_string(subject), text_of(says), text_of(has)));
  }
  if (mode_.state() != records::QuotaMode::ON) return;
  for (const auto& [epoch, usages] : counted_) {
    if (epoch == mode_.epoch()) continue;
    findings_.add(Kind::kCounter, Ino{0},
                  fmt::format("{} inodes are not counted for quotas; symnas quota off and on "
                              "counts anew",
                              usage_in(usages, {SubjectKind::kFilesystem, 0}).inodes));
  }
}

}  // namespace symnas::fs::check
