// CachedReader: reads through the cache. Missing keys are loaded with one linearizable read each
// time: a read never joins a load that was sent before it arrived, whose answer might be older than
// what the reader must see (INV-4). An answer that may show an own batch before the cache does
// waits for that batch: a reader that has seen a part of a change finds all of it.
//
// Thread class: thread-safe.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/kv/committer.h"
#include "common/kv/session_context.h"

namespace symnas::kv {

class CachedReader {
 public:
  using Values = std::vector<CachedValue>;
  using Callback = std::function<void(Result<Values>)>;

  CachedReader(SessionContext& context, Committer& committer)
      : context_(context), committer_(committer) {}

  // The key's value, if it is cached.
  std::optional<CachedValue> peek(const std::string& key);
  // The values of all keys, if each of them is cached.
  std::optional<Values> peek_all(const std::vector<std::string>& keys);
  // As Session::read_async. Calls `done` at once when everything is cached.
  void read(std::vector<std::string> keys, Callback done);
  // As Session::await_own. `done` runs at once when nothing is under way.
  void await_own(const std::vector<std::string>& keys, std::function<void(Status)> done);
  // As Session::range.
  void range(KeyRange range, std::int64_t limit, std::function<void(Result<OpResult>)> done);

 private:
  struct Load {
    std::vector<std::string> keys;
    Values values;
    std::vector<std::size_t> missing;  // indices into keys
    std::size_t next = 0;              // of missing: the first that has not been asked for yet
    std::vector<std::uint64_t> pins;   // of the missing ones that are being asked for
    Callback done;
  };
  using LoadRef = std::shared_ptr<Load>;
  void load_next(const LoadRef& load);
  void settle(const LoadRef& load, std::size_t first, TxnResult answer);
  // Sends a read; its answer comes when no own batch that it may show is under way any more.
  void look(std::vector<Op> gets, std::function<void(Result<TxnResult>)> done);

  SessionContext& context_;
  Committer& committer_;
};

}  // namespace symnas::kv
