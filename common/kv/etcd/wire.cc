#include "common/kv/etcd/wire.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "common/base/check.h"

namespace symnas::kv::wire {

namespace {

using Relation = Compare::Relation;
using Target = Compare::Target;

etcdserverpb::Compare::CompareResult encode(Relation relation) {
  switch (relation) {
    case Relation::kEqual: return etcdserverpb::Compare::EQUAL;
    case Relation::kGreater: return etcdserverpb::Compare::GREATER;
    case Relation::kLess: return etcdserverpb::Compare::LESS;
    case Relation::kNotEqual: return etcdserverpb::Compare::NOT_EQUAL;
  }
  CHECK(false, "relation out of its enum");
  return etcdserverpb::Compare::EQUAL;
}

void encode(const Compare& compare, etcdserverpb::Compare& out) {
  out.set_key(compare.range.key);
  out.set_range_end(compare.range.end);
  out.set_result(encode(compare.relation));
  switch (compare.target) {
    case Target::kVersion:
      out.set_target(etcdserverpb::Compare::VERSION);
      out.set_version(compare.number);
      return;
    case Target::kCreateRevision:
      out.set_target(etcdserverpb::Compare::CREATE);
      out.set_create_revision(compare.number);
      return;
    case Target::kModRevision:
      out.set_target(etcdserverpb::Compare::MOD);
      out.set_mod_revision(compare.number);
      return;
    case Target::kValue:
      out.set_target(etcdserverpb::Compare::VALUE);
      out.set_value(compare.value);
      return;
  }
}

void encode(const Txn& txn, etcdserverpb::TxnRequest& out);

void encode(const Op& op, etcdserverpb::RequestOp& out) {
  switch (op.kind) {
    case Op::Kind::kPut:
      out.mutable_request_put()->set_key(op.range.key);
      out.mutable_request_put()->set_value(op.value);
      return;
    case Op::Kind::kDelete:
      out.mutable_request_delete_range()->set_key(op.range.key);
      out.mutable_request_delete_range()->set_range_end(op.range.end);
      return;
    case Op::Kind::kRange: {
      etcdserverpb::RangeRequest& range = *out.mutable_request_range();
      range.set_key(op.range.key);
      range.set_range_end(op.range.end);
      range.set_limit(op.limit);
      range.set_revision(op.revision.value());
      range.set_keys_only(op.keys_only);
      range.set_count_only(op.count_only);
      return;
    }
    case Op::Kind::kTxn: encode(*op.txn, *out.mutable_request_txn()); return;
  }
}

void encode(const Txn& txn, etcdserverpb::TxnRequest& out) {
  out.mutable_compare()->Reserve(static_cast<int>(txn.compares.size()));
  for (const Compare& compare : txn.compares) encode(compare, *out.add_compare());
  for (const Op& op : txn.success) encode(op, *out.add_success());
  for (const Op& op : txn.failure) encode(op, *out.add_failure());
}

KeyValue decode(mvccpb::KeyValue& kv) {
  KeyValue out;
  out.key = std::move(*kv.mutable_key());
  out.value = std::move(*kv.mutable_value());
  out.create_revision = Revision(kv.create_revision());
  out.mod_revision = Revision(kv.mod_revision());
  out.version = kv.version();
  return out;
}

Result<OpResult> decode(etcdserverpb::ResponseOp& response) {
  OpResult out;
  switch (response.response_case()) {
    case etcdserverpb::ResponseOp::kResponsePut: out.kind = Op::Kind::kPut; return out;
    case etcdserverpb::ResponseOp::kResponseDeleteRange:
      out.kind = Op::Kind::kDelete;
      out.count = response.response_delete_range().deleted();
      return out;
    case etcdserverpb::ResponseOp::kResponseRange: {
      etcdserverpb::RangeResponse& range = *response.mutable_response_range();
      out.kvs.reserve(static_cast<std::size_t>(range.kvs_size()));
      for (mvccpb::KeyValue& kv : *range.mutable_kvs()) out.kvs.push_back(decode(kv));
      out.count = range.count();
      out.more = range.more();
      return out;
    }
    case etcdserverpb::ResponseOp::kResponseTxn: {
      out.kind = Op::Kind::kTxn;
      SYMNAS_ASSIGN(TxnResult nested, wire::decode(*response.mutable_response_txn()));
      out.txn = std::make_shared<TxnResult>(std::move(nested));
      return out;
    }
    case etcdserverpb::ResponseOp::RESPONSE_NOT_SET: break;
  }
  return fail(ErrorCode::kInternal, "etcd answered an operation with nothing");
}

}  // namespace

etcdserverpb::TxnRequest encode(const Txn& txn) {
  etcdserverpb::TxnRequest out;
  encode(txn, out);
  return out;
}

Result<TxnResult> decode(etcdserverpb::TxnResponse& response) {
  TxnResult out;
  out.succeeded = response.succeeded();
  out.revision = Revision(response.header().revision());
  out.results.reserve(static_cast<std::size_t>(response.responses_size()));
  for (etcdserverpb::ResponseOp& op : *response.mutable_responses()) {
    SYMNAS_ASSIGN(OpResult result, decode(op));
    out.results.push_back(std::move(result));
  }
  return out;
}

etcdserverpb::WatchRequest encode_watch(const KeyRange& range, Revision start_revision) {
  etcdserverpb::WatchRequest out;
  etcdserverpb::WatchCreateRequest& create = *out.mutable_create_request();
  create.set_key(range.key);
  create.set_range_end(range.end);
  create.set_start_revision(start_revision.value());
  return out;
}

std::vector<WatchEvent> decode_events(etcdserverpb::WatchResponse& response) {
  std::vector<WatchEvent> out;
  out.reserve(static_cast<std::size_t>(response.events_size()));
  for (mvccpb::Event& event : *response.mutable_events()) {
    WatchEvent& to = out.emplace_back();
    to.deleted = event.type() == mvccpb::Event::DELETE;
    to.kv = decode(*event.mutable_kv());
  }
  return out;
}

bool is_read_only(const Txn& txn) {
  const auto reads_only = [](const std::vector<Op>& ops) {
    return std::all_of(ops.begin(), ops.end(), [](const Op& op) {
      return op.kind == Op::Kind::kRange || (op.kind == Op::Kind::kTxn && is_read_only(*op.txn));
    });
  };
  return reads_only(txn.success) && reads_only(txn.failure);
}

}  // namespace symnas::kv::wire
