#include "fsal_cluster/quota/usage_record.h"

#include "common/base/bytes.h"
#include "common/kv/usage_keys.h"

namespace symnas::fs {
namespace {

constexpr std::size_t kSubjectBytes = 5;

bool known_kind(std::uint32_t kind, SubjectKind last = SubjectKind::kTree) {
  return kind <= static_cast<std::uint32_t>(last);
}

// The subject at the end of a key.
std::optional<Subject> subject_at(const std::string& key, std::size_t at,
                                  SubjectKind last = SubjectKind::kTree) {
  if (key.size() != at + kSubjectBytes) return std::nullopt;
  const auto kind = static_cast<std::uint8_t>(key[at]);
  if (!known_kind(kind, last)) return std::nullopt;
  return Subject{static_cast<SubjectKind>(kind), read_be32(key, at + 1)};
}

}  // namespace

std::string encode_usage(const Usages& usages) {
  records::UsageRecord record;
  for (const auto& [subject, usage] : usages) {
    auto* count = record.add_counts();
    count->set_kind(static_cast<std::uint32_t>(subject.kind));
    count->set_id(subject.id);
    count->set_blocks(usage.blocks);
    count->set_inodes(usage.inodes);
  }
  return record.SerializeAsString();
}

std::optional<Usages> decode_usage(const std::string& value) {
  records::UsageRecord record;
  if (!record.ParseFromString(value)) return std::nullopt;
  Usages out;
  for (const records::UsageCount& count : record.counts()) {
    if (!known_kind(count.kind())) return std::nullopt;
    add(out, Subject{static_cast<SubjectKind>(count.kind()), count.id()},
        Usage{count.blocks(), count.inodes()});
  }
  return out;
}

std::optional<QuotaKey> parse_quota_key(FsId fs, const std::string& key) {
  const std::string table = kv::keys::quota_table(fs);
  if (key.size() <= table.size() || !key.starts_with(table)) return std::nullopt;
  QuotaKey out;
  const std::size_t at = table.size() + 1;
  switch (key[table.size()]) {
    case 'C': return key.size() == at ? std::optional(out) : std::nullopt;
    case 'L':
    case 'G': {
      out.part = static_cast<QuotaKey::Part>(key[table.size()]);
      const auto subject = subject_at(
          key, at,
          out.part == QuotaKey::Part::kLimit ? SubjectKind::kEachGroup : SubjectKind::kTree);
      if (!subject) return std::nullopt;
      out.subject = *subject;
      return out;
    }
    case 'T':
      out.part = QuotaKey::Part::kTree;
      if (key.size() != at + 4) return std::nullopt;
      out.subject = {SubjectKind::kTree, read_be32(key, at)};
      return out;
    case 'B': {
      out.part = QuotaKey::Part::kBase;
      if (key.size() != at + 4 + kSubjectBytes) return std::nullopt;
      out.epoch = read_be32(key, at);
      const auto subject = subject_at(key, at + 4);
      if (!subject) return std::nullopt;
      out.subject = *subject;
      return out;
    }
    case 'S': {
      out.part = QuotaKey::Part::kSlot;
      if (key.size() != at + 16) return std::nullopt;
      out.epoch = read_be32(key, at);
      out.mount = MountId{read_be64(key, at + 4)};
      out.slot = read_be32(key, at + 12);
      return out;
    }
    default: return std::nullopt;
  }
}

}  // namespace symnas::fs
