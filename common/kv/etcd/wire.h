// Translation between the Store's types and etcd's messages. Thread-safe: pure functions.
#pragma once

#include <vector>

#include "common/base/result.h"
#include "common/kv/etcd/rpc.pb.h"
#include "common/kv/store.h"

namespace symnas::kv::wire {

etcdserverpb::TxnRequest encode(const Txn& txn);
// Moves the keys and values out of `response`.
// Errors: kInternal when an answer carries nothing where the request asked for something.
Result<TxnResult> decode(etcdserverpb::TxnResponse& response);

etcdserverpb::WatchRequest encode_watch(const KeyRange& range, Revision start_revision);
// Moves the events out of `response`.
std::vector<WatchEvent> decode_events(etcdserverpb::WatchResponse& response);

// True when no branch of the transaction puts or deletes: sending it twice cannot hurt.
bool is_read_only(const Txn& txn);

}  // namespace symnas::kv::wire
