#include "fsal_cluster/schema/counter.h"

#include <charconv>

#include "common/base/bytes.h"

namespace symnas::fs {

Result<Counter> parse_counter(const std::string& key, const kv::OpResult& read,
                              std::uint64_t first) {
  if (read.kvs.empty()) return Counter{first, Revision{0}};
  const std::string& text = read.kvs.front().value;
  Counter out{0, read.kvs.front().mod_revision};
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, out.next);
  if (text.empty() || parsed.ec != std::errc() || parsed.ptr != end || out.next < first)
    return fail(ErrorCode::kCorrupt, "counter " + to_hex(key) + ": holds \"" + to_hex(text) +
                                         "\" (hex), not a number from " + std::to_string(first));
  return out;
}

kv::Compare counter_unchanged(const std::string& key, const Counter& counter) {
  return kv::mod_revision_is(key, counter.mod_revision);
}

kv::Op counter_advanced(const std::string& key, const Counter& counter, std::uint64_t count) {
  return kv::put(key, std::to_string(counter.next + count));
}

}  // namespace symnas::fs
