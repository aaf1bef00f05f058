// KeyedRepeats: which messages about something (a client, a user) are written: the first about each
// in a period, and about so many of them. A caller that is refused comes again thousands of times,
// and there may be any number of callers.
//
// Pure; the caller brings the time. Thread-compatible. Invariant: it knows at most `keys_max` keys;
// while so many had a message within a period, others get none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

namespace symnas::log {

template <typename Key>
class KeyedRepeats {
 public:
  KeyedRepeats(std::int64_t period_ns, std::size_t keys_max)
      : period_ns_(period_ns), keys_max_(keys_max) {}

  // Whether the message about `key` is to be written. now_ns: monotonic.
  bool is_due(const Key& key, std::int64_t now_ns) {
    std::erase_if(written_ns_, [&](const auto& one) { return now_ns - one.second >= period_ns_; });
    if (written_ns_.size() >= keys_max_) return false;
    return written_ns_.try_emplace(key, now_ns).second;
  }

 private:
  std::int64_t period_ns_;
  std::size_t keys_max_;
  std::map<Key, std::int64_t> written_ns_;
};

}  // namespace symnas::log
