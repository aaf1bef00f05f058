// CachedReader: reads through the cache. Each read loads the keys that are missing with
// linearizable reads of its own. It never joins a load that was sent before it arrived: that answer
// might be older than what this reader must see (INV-4).
//
// Thread class: thread-safe.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/kv/session_context.h"

namespace symnas::kv {

class CachedReader {
 public:
  using Values = std::vector<CachedValue>;
  using Callback = std::function<void(Result<Values>)>;

  explicit CachedReader(SessionContext& context) : context_(context) {}

  // The key's value, if it is cached.
  std::optional<CachedValue> peek(const std::string& key);
  // The values of all keys, if each of them is cached.
  std::optional<Values> peek_all(const std::vector<std::string>& keys);
  // As Session::read_async. Calls `done` at once when everything is cached.
  void read(std::vector<std::string> keys, Callback done);

 private:
  struct Load {
    std::vector<std::string> keys;
    Values values;
    std::vector<std::size_t> missing;  // indices into keys
    std::size_t next = 0;              // index into `missing`: first key not asked for yet
    Callback done;
  };
  void load_next(const std::shared_ptr<Load>& load);

  SessionContext& context_;
};

}  // namespace symnas::kv
