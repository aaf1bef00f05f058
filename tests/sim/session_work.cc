#include "tests/sim/session_work.h"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "common/kv/session.h"
#include "tests/sim/runtime/simulation.h"
#include "tests/sim/session_keys.h"

namespace symnas::sim {
namespace {

using kv::Mutation;

constexpr std::int64_t kNsPerMs = 1'000'000;
constexpr std::uint64_t kFillerKeys = 150;  // never written: they evict other keys from the cache

std::int64_t number_in(const std::optional<std::string>& value) {
  return value ? std::stoll(*value) : 0;
}

// Whether the thread goes on after an error. A change that was sent and not refused is uncertain.
bool refused(const Error& error) { return error.code == ErrorCode::kNoSpace; }

}  // namespace

void SessionWork::run(SessionMount& mount) {
  const std::uint64_t operations = 5 + below(25);
  Seen seen;
  const bool mostly_reads = mount.readers || below(4) == 0;
  for (std::uint64_t i = 0; i < operations; ++i) {
    bool go_on = true;
    switch (mostly_reads && below(4) > 0 ? 10 + below(3) : below(12)) {
      case 0: go_on = put_unique(mount); break;
      case 1: go_on = scratch(mount); break;
      case 2:
      case 3: go_on = append(mount); break;
      case 4: go_on = strict_read(mount); break;
      case 5: go_on = strict_range(mount); break;
      case 6: go_on = together(mount); break;
      case 7: go_on = beside(mount, seen); break;
      case 10: go_on = churn(mount); break;
      case 11: go_on = look(mount, seen); break;
      case 12: go_on = strict_read(mount); break;
      default: go_on = increment(mount, seen); break;
    }
    if (!go_on) break;
    if (!mostly_reads && below(8) == 0) sleep_ns(static_cast<std::int64_t>(below(5 * kNsPerMs)));
  }
}

bool SessionWork::increment(SessionMount& mount, Seen& seen) {
  const std::string key = counter_key(below(kCounters));
  for (;;) {
    const auto value = mount.session->read(key);
    if (!value) return false;
    if (value->value) {
      if (value->mod_revision < seen[key]) fail("a read went back");
      seen[key] = value->mod_revision;
    }
    Mutation mutation;
    mutation.compares = {
        kv::mod_revision_is(key, value->value ? value->mod_revision : Revision(0))};
    const std::int64_t next = number_in(value->value) + 1;
    mutation.writes = {kv::put(key, std::to_string(next) + mount.tag())};
    if (below(2) == 0) mutation.merged_puts = {kv::put(watched_key("Tdir"), mount.tag())};
    ++promises_.uncertain[key];
    const auto done = mount.session->commit_blocking(std::move(mutation));
    if (!done && !refused(done.error())) return false;
    --promises_.uncertain[key];
    if (!done) return true;
    if (!done->succeeded) {
      check_conflict(key, value->value ? value->mod_revision : Revision(0));
      continue;
    }
    ++promises_.counted[key];
    promises_.acknowledged.emplace_back(key, done->revision);
    const auto own = mount.session->peek(key);
    if (own && number_in(own->value) < next) {
      fail("an own change of revision " + std::to_string(done->revision.value()) +
           " is followed by the value of revision " + std::to_string(own->mod_revision.value()) +
           ": " + own->value.value_or("nothing"));
    }
    seen[key] = done->revision;
    return true;
  }
}

bool SessionWork::append(SessionMount& mount) {
  const std::string token = "t" + std::to_string(promises_.next_unique++) + mount.tag();
  for (;;) {
    const auto value = mount.session->read(log_key());
    if (!value) return false;
    const Revision revision = value->value ? value->mod_revision : Revision(0);
    Mutation mutation;
    mutation.compares = {kv::mod_revision_is(log_key(), revision)};
    mutation.writes = {kv::put(log_key(), value->value.value_or("") + token)};
    promises_.maybe_logged.insert(token);
    const auto done = mount.session->commit_blocking(std::move(mutation));
    if (!done && !refused(done.error())) return false;
    promises_.maybe_logged.erase(token);
    if (!done) {
      promises_.never_logged.insert(token);
      return true;
    }
    if (done->succeeded) {
      promises_.logged.insert(token);
      promises_.acknowledged.emplace_back(log_key(), done->revision);
      return true;
    }
    check_conflict(log_key(), revision);
  }
}

bool SessionWork::put_unique(SessionMount& mount) {
  const std::string key = watched_key("U" + std::to_string(promises_.next_unique++));
  Mutation mutation;
  mutation.writes = {kv::put(key, "x" + mount.tag())};
  promises_.maybe_put.insert(key);
  const auto done = mount.session->commit_blocking(std::move(mutation));
  if (!done && !refused(done.error())) return false;
  promises_.maybe_put.erase(key);
  if (!done) {
    promises_.never_put.insert(key);
    return true;
  }
  if (!done->succeeded) fail("a put without compares conflicts with nothing");
  promises_.put_once[key] = done->revision;
  promises_.acknowledged.emplace_back(key, done->revision);
  return true;
}

// Two keys in one operation: both or none (SessionRun::check_store).
bool SessionWork::together(SessionMount& mount) {
  const auto left = mount.session->read(watched_key("P1"));
  if (!left) return false;
  const Revision revision = left->value ? left->mod_revision : Revision(0);
  Mutation mutation;
  mutation.compares = {kv::mod_revision_is(watched_key("P1"), revision)};
  const std::string value = std::to_string(promises_.next_unique++) + mount.tag();
  mutation.writes = {kv::put(watched_key("P1"), value), kv::put(watched_key("P2"), value)};
  const auto done = mount.session->commit_blocking(std::move(mutation));
  if (!done) return refused(done.error());
  if (!done->succeeded) check_conflict(watched_key("P1"), revision);
  return true;
}

// Compares a key that it does not write, sometimes with an old revision.
bool SessionWork::beside(SessionMount& mount, const Seen& seen) {
  const std::string key = counter_key(below(kCounters));
  const auto old = seen.find(key);
  Mutation mutation;
  mutation.compares = {kv::mod_revision_is(key, old == seen.end() ? Revision(0) : old->second)};
  mutation.writes = {kv::put(watched_key("B"), "b" + mount.tag())};
  const auto done = mount.session->commit_blocking(std::move(mutation));
  return done || refused(done.error());
}

bool SessionWork::churn(SessionMount& mount) {
  std::vector<std::string> filler;
  for (int i = 0; i < 20; ++i) {
    filler.push_back(watched_key("F" + std::to_string(below(kFillerKeys))));
  }
  return mount.session->read(filler).has_value();
}

// Not strict: the value may be older than the store's, but never older than what this thread has
// seen.
bool SessionWork::look(SessionMount& mount, Seen& seen) {
  const std::string key = counter_key(below(kCounters));
  const auto value = mount.session->read(key);
  if (!value) return false;
  if (value->mod_revision < seen[key]) fail("a read went back");
  if (value->value) seen[key] = value->mod_revision;
  return true;
}

bool SessionWork::scratch(SessionMount& mount) {
  const std::string key = scratch_key(below(kScratchKeys));
  const auto before = mount.session->read(key);
  if (!before) return false;
  Mutation mutation;
  bool deletes_all = false;
  switch (below(4)) {
    case 0:
      mutation.writes = {kv::erase_range(kv::prefix_range(scratch_prefix()))};
      deletes_all = true;
      break;
    case 1: mutation.writes = {kv::erase(key)}; break;
    default: mutation.writes = {kv::put(key, "s" + mount.tag())};
  }
  const auto done = mount.session->commit_blocking(std::move(mutation));
  if (!done) return refused(done.error());
  if (!done->succeeded) fail("a change without compares conflicts with nothing");
  for (std::uint64_t i = 0; deletes_all && i < kScratchKeys; ++i) {
    const auto seen = mount.session->peek(scratch_key(i));
    if (seen && seen->value && seen->mod_revision < done->revision) fail("deleted, but cached");
  }
  return true;
}

bool SessionWork::strict_read(SessionMount& mount) {
  const std::string key = counter_key(below(kCounters));
  const std::int64_t floor = promises_.counted[key];
  if (!mount.session->barrier()) return false;
  const auto value = mount.session->read(key);
  if (!value) return false;
  if (number_in(value->value) < floor) fail("a strict read missed an acknowledged change");
  return true;
}

bool SessionWork::strict_range(SessionMount& mount) {
  const std::string key = counter_key(below(kCounters));
  const std::int64_t floor = promises_.counted[key];
  const auto read = mount.session->range(kv::single_key(key), 0);
  if (!read) return false;
  const std::int64_t now = read->kvs.empty() ? 0 : std::stoll(read->kvs.front().value);
  if (now < floor) fail("a range read missed an acknowledged change");
  return true;
}

void SessionWork::check_conflict(const std::string& key, Revision compared) const {
  const auto now = stored(server_, key);
  if ((now ? now->mod_revision : Revision(0)) == compared) {
    fail("a conflict was answered, but the compared key has not changed");
  }
}

}  // namespace symnas::sim
