#include "fsal_cluster/reply/known_replies.h"

#include "common/base/bytes.h"
#include "fsal_cluster/reply/limits.h"
#include "fsal_cluster/reply/records.pb.h"

namespace symnas::fs {
namespace {

constexpr std::size_t kEpochAndPlace = 8 + 4;

bool is_of_former(const std::string& key, Epoch own) {
  return key.size() > kEpochAndPlace && read_be64(key, key.size() - kEpochAndPlace) < own.value();
}

}  // namespace

KnownReplies::KnownReplies(const std::vector<kv::KeyValue>& records, Epoch own,
                           std::int64_t now_ns) {
  for (const kv::KeyValue& kv : records) {
    records::ReplyRecord record;
    if (!is_of_former(kv.key, own) || !record.ParseFromString(kv.value)) continue;
    if (record.time_ns() < now_ns - kReplyAgeMaxNs) continue;
    const Done done{Ino{record.ino()}, Generation{record.generation()}};
    const auto [it, added] =
        calls_.emplace(Id{record.xid(), record.checksum(), record.operation()}, done);
    if (!added) it->second.reset();
  }
}

std::optional<Done> KnownReplies::find(const Call& call) const {
  const auto found = calls_.find(Id{call.xid, call.checksum, call.operation});
  return found == calls_.end() ? std::nullopt : found->second;
}

}  // namespace symnas::fs
