#include "vnfsd/records/events.h"

#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "common/kv/event_keys.h"
#include "vnfsd/records/limits.h"

namespace symnas::vnfsd {
namespace {

// "NOUN NAME: ...": the name; "": the text begins otherwise.
std::string subject(const std::string& text, std::string_view noun) {
  if (!text.starts_with(noun) || text.size() <= noun.size() || text[noun.size()] != ' ') return "";
  const std::size_t colon = text.find(':', noun.size());
  if (colon == std::string::npos) return "";
  std::string name = text.substr(noun.size() + 1, colon - noun.size() - 1);
  return name.find(' ') == std::string::npos ? name : "";
}

}  // namespace

records::EventRecord make_event(std::string_view kind, const std::string& text,
                                std::int64_t at_ns) {
  records::EventRecord record;
  record.set_kind(std::string(kind));
  record.set_at_ns(at_ns);
  record.set_vnfs(subject(text, "vnfs"));
  record.set_head(subject(text, "head"));
  record.set_text(text.substr(0, kEventTextBytesMax));
  return record;
}

Status EventRing::resume(kv::Store& store, std::int64_t deadline_ms) {
  SYMNAS_ASSIGN(
      const kv::OpResult read,
      kv::range_blocking(store, kv::prefix_range(kv::keys::kEvents + head_ + "/"), 0, deadline_ms));
  std::uint64_t last = 0;
  for (const kv::KeyValue& kv : read.kvs) {
    records::EventRecord record;
    if (!record.ParseFromString(kv.value))
      return fail(ErrorCode::kCorrupt, fmt::format("{}: cannot be parsed", kv.key));
    last = std::max(last, record.sequence());
  }
  const MutexLock lock(mutex_);
  next_ = std::max(next_, last + 1);
  return {};
}

std::optional<kv::Op> EventRing::put(records::EventRecord event) {
  const MutexLock lock(mutex_);
  if (next_ == 0) return std::nullopt;
  event.set_sequence(next_++);
  return kv::put(kv::keys::event(head_, event.sequence() % kEventsPerHead),
                 event.SerializeAsString());
}

Result<EventPage> read_events(kv::Store& store, Revision after, std::int64_t deadline_ms) {
  kv::Txn txn;
  txn.success.push_back(kv::get_range(kv::prefix_range(kv::keys::kEvents)));
  SYMNAS_ASSIGN(const kv::TxnResult read, kv::txn_blocking(store, std::move(txn), deadline_ms));
  EventPage page;
  page.revision = read.revision;
  std::map<std::string, std::size_t> newer;  // by head
  for (const kv::KeyValue& kv : read.results.at(0).kvs) {
    if (kv.mod_revision <= after) continue;
    StoredEvent& event = page.events.emplace_back();
    event.revision = kv.mod_revision;
    event.by = kv.key.substr(kv::keys::kEvents.size());
    event.by.resize(event.by.find('/'));
    if (!event.record.ParseFromString(kv.value))
      return fail(ErrorCode::kCorrupt, fmt::format("{}: cannot be parsed", kv.key));
    // Every place of its ring was written again since: it may have been more than once.
    if (++newer[event.by] == kEventsPerHead && after != Revision{}) page.lost.push_back(event.by);
  }
  std::sort(page.events.begin(), page.events.end(), [](const auto& a, const auto& b) {
    return std::tuple(a.revision, a.by, a.record.sequence()) <
           std::tuple(b.revision, b.by, b.record.sequence());
  });
  return page;
}

nlohmann::json events_document(const EventPage& page) {
  nlohmann::json events = nlohmann::json::array();
  for (const StoredEvent& event : page.events) {
    nlohmann::json one = {{"revision", event.revision.value()}, {"by", event.by},
                          {"at_ns", event.record.at_ns()},      {"kind", event.record.kind()},
                          {"head", event.record.head()},        {"vnfs", event.record.vnfs()},
                          {"text", event.record.text()}};
    if (event.record.has_blackout_ms()) one["blackout_ms"] = event.record.blackout_ms();
    events.push_back(std::move(one));
  }
  return {{"events", events}, {"revision", page.revision.value()}, {"lost", page.lost}};
}

}  // namespace symnas::vnfsd
