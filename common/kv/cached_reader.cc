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

void CachedReader::load_next(const std::shared_ptr<Load>& load) {
  if (load->next == load->missing.size()) {
    load->done(std::move(load->values));
    return;
  }
  const std::size_t first = load->next;
  const std::size_t end =
      std::min(load->missing.size(), first + static_cast<std::size_t>(kReadKeysMax));
  load->next = end;
  std::vector<Op> gets;
  std::vector<std::uint64_t> pins;
  for (std::size_t i = first; i < end; ++i) {
    const std::string& key = load->keys[load->missing[i]];
    pins.push_back(context_.cache.pin(key));  // before the read is sent
    gets.push_back(get(key));
  }
  context_.counters.cache_loads.fetch_add(end - first, std::memory_order_relaxed);
  context_.read(std::move(gets), [this, keep = context_.keep_alive(), load, first, end,
                                  pins = std::move(pins)](Result<TxnResult> answer) {
    CHECK(!answer || answer->results.size() == end - first, "one result per range");
    for (std::size_t i = first; i < end; ++i) {
      const std::string& key = load->keys[load->missing[i]];
      if (answer) {
        auto& kvs = answer->results[i - first].kvs;
        Cache::Fact fact{std::nullopt, answer->revision};
        if (!kvs.empty()) fact = {std::move(kvs.front().value), kvs.front().mod_revision};
        load->values[load->missing[i]] =
            context_.cache.settle(key, std::move(fact), answer->revision, pins[i - first]);
      }
      context_.cache.unpin(key, pins[i - first]);
    }
    if (!answer) {
      load->done(tl::unexpected<Error>(answer.error()));
    } else {
      load_next(load);
    }
  });
}

}  // namespace symnas::kv
