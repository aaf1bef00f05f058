// ForwardingStore: hands everything on to another store. A test's store overrides what it changes.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "common/kv/store.h"

namespace symnas::test {

class ForwardingStore : public kv::Store {
 public:
  explicit ForwardingStore(kv::Store& store) : store_(store) {}

  void txn(kv::Txn txn, kv::TryOptions options, kv::TxnCallback done) override {
    store_.txn(std::move(txn), options, std::move(done));
  }
  std::unique_ptr<kv::Watch> watch(kv::KeyRange range, Revision start_revision,
                                   kv::WatchHandler* handler) override {
    return store_.watch(std::move(range), start_revision, handler);
  }
  Status compact(Revision revision, kv::TryOptions options) override {
    return store_.compact(revision, options);
  }
  std::vector<kv::MemberStatus> status(kv::TryOptions options) override {
    return store_.status(options);
  }

 private:
  kv::Store& store_;
};

}  // namespace symnas::test
