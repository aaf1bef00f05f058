#include "common/kv/cached_reader.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "common/base/check.h"
#include "common/kv/limits.h"

namespace symnas::kv {

std::optional<CachedValue> CachedReader::peek(const std::string& key) {
  auto known = context_.cache.peek(key);
  if (known) context_.counters.cache_hits.fetch_add(1, std::memory_order_relaxed);
  return known;
}

std::optional<CachedReader::Values> CachedReader::peek_all(const std::vector<std::string>& keys) {
  Values values;
  values.reserve(keys.size());
  for (const auto& key : keys) {
    auto known = peek(key);
    if (!known) return std::nullopt;
    values.push_back(std::move(*known));
  }
  return values;
}

void CachedReader::read(std::vector<std::string> keys, Callback done) {
  if (context_.is_closed()) {
    done(tl::unexpected<Error>(context_.close_error()));
    return;
  }
  auto load = std::make_shared<Load>();
  load->values.resize(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (auto known = peek(keys[i])) {
      load->values[i] = std::move(*known);
    } else {
      load->missing.push_back(i);
    }
  }
  load->keys = std::move(keys);
  load->done = std::move(done);
  load_next(load);
}

void CachedReader::await_own(const std::vector<std::string>& keys,
                             std::function<void(Status)> done) {
  std::vector<Op> gets;
  gets.reserve(keys.size());
  for (const auto& key : keys) gets.push_back(get(key));
  committer_.when_landed(footprint_of_read(gets), committer_.newest_shown(), std::move(done));
}

void CachedReader::range(KeyRange range, std::int64_t limit,
                         std::function<void(Result<OpResult>)> done) {
  look({get_range(std::move(range), limit)}, [done = std::move(done)](Result<TxnResult> answer) {
    if (!answer) {
      done(tl::unexpected<Error>(std::move(answer.error())));
      return;
    }
    CHECK(!answer->results.empty(), "one result per range");
    done(std::move(answer->results.front()));
  });
}

void CachedReader::look(std::vector<Op> gets, std::function<void(Result<TxnResult>)> done) {
  Footprint looked = footprint_of_read(gets);
  context_.read(std::move(gets), [this, keep = context_.keep_alive(), looked = std::move(looked),
                                  done = std::move(done)](Result<TxnResult> answer) {
    if (!answer) {
      done(std::move(answer));
      return;
    }
    const Revision revision = answer->revision;
    committer_.when_landed(looked, revision,
                           [done, answer = std::move(answer)](const Status& landed) mutable {
                             if (!landed) answer = tl::unexpected<Error>(landed.error());
                             done(std::move(answer));
                           });
  });
}

void CachedReader::load_next(const LoadRef& load) {
  if (load->next == load->missing.size()) {
    load->done(std::move(load->values));
    return;
  }
  const std::size_t first = load->next;
  load->next = std::min(load->missing.size(), first + static_cast<std::size_t>(kReadKeysMax));
  std::vector<Op> gets;
  load->pins.clear();
  for (std::size_t i = first; i < load->next; ++i) {
    const std::string& key = load->keys[load->missing[i]];
    load->pins.push_back(context_.cache.pin(key));  // before the read is sent
    gets.push_back(get(key));
  }
  context_.counters.cache_loads.fetch_add(gets.size(), std::memory_order_relaxed);
  look(std::move(gets),
       [this, keep = context_.keep_alive(), load, first](Result<TxnResult> answer) {
         if (answer) settle(load, first, std::move(*answer));
         for (std::size_t i = first; i < load->next; ++i) {
           context_.cache.unpin(load->keys[load->missing[i]], load->pins[i - first]);
         }
         if (!answer) {
           load->done(tl::unexpected<Error>(answer.error()));
         } else {
           load_next(load);
         }
       });
}

void CachedReader::settle(const LoadRef& load, std::size_t first, TxnResult answer) {
  CHECK(answer.results.size() == load->next - first, "one result per range");
  Revision newest;
  for (const OpResult& result : answer.results)
    if (!result.kvs.empty()) newest = std::max(newest, result.kvs.front().mod_revision);
  committer_.note_shown(newest);
  for (std::size_t i = first; i < load->next; ++i) {
    auto& kvs = answer.results[i - first].kvs;
    Cache::Fact fact{std::nullopt, answer.revision};
    if (!kvs.empty()) fact = {std::move(kvs.front().value), kvs.front().mod_revision};
    const std::size_t at = load->missing[i];
    load->values[at] = context_.cache.settle(load->keys[at], std::move(fact), answer.revision,
                                             load->pins[i - first]);
  }
}

}  // namespace symnas::kv
