// The unary calls of an EtcdStore: transaction, compaction, status.
//
// Thread class: see Operation.
#pragma once

#include <grpcpp/grpcpp.h>

#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "common/kv/etcd/errors.h"
#include "common/kv/etcd/limits.h"
#include "common/kv/etcd/loop.h"
#include "common/kv/etcd/rpc.grpc.pb.h"
#include "common/kv/store.h"

namespace symnas::kv::etcd {

// Prepares a call that ends after `left`; a member without a leader refuses it at once.
void prepare(grpc::ClientContext& context, SteadyClock::duration left);

class TxnCall final : public Operation {
 public:
  TxnCall(Loop& loop, SteadyClock::time_point deadline, const Txn& txn, TxnCallback done);
  void start(Member& member) override;
  void give_up(Error error) override;
  void complete(bool ok) override;
  void cancel() override;
  bool leaves(std::size_t member) const override { return member == member_; }

 private:
  void fail_or_resend(Error error);

  const Request kind_;
  const etcdserverpb::TxnRequest request_;
  TxnCallback done_;
  // The member that the running try was sent to.
  std::size_t member_ = 0;
  std::optional<grpc::ClientContext> context_;
  std::unique_ptr<grpc::ClientAsyncResponseReader<etcdserverpb::TxnResponse>> reader_;
  etcdserverpb::TxnResponse response_;
  grpc::Status status_;
};

class CompactCall final : public Operation {
 public:
  CompactCall(Loop& loop, SteadyClock::time_point deadline, Revision revision,
              std::function<void(Status)> done);
  void start(Member& member) override;
  void give_up(Error error) override;
  void complete(bool ok) override;
  void cancel() override { context_.TryCancel(); }
  bool leaves(std::size_t member) const override { return member == member_; }

 private:
  etcdserverpb::CompactionRequest request_;
  std::function<void(Status)> done_;
  std::size_t member_ = 0;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientAsyncResponseReader<etcdserverpb::CompactionResponse>> reader_;
  etcdserverpb::CompactionResponse response_;
  grpc::Status status_;
};

class StatusCall final : public Operation {
 public:
  StatusCall(Loop& loop, SteadyClock::time_point deadline, std::size_t member,
             std::function<void(MemberStatus)> done);
  void start(Member& member) override;
  void give_up(Error error) override;
  void complete(bool ok) override;
  void cancel() override { context_.TryCancel(); }
  bool leaves(std::size_t) const override { return false; }
  std::optional<std::size_t> pinned() const override { return member_; }

 private:
  MemberStatus answer() const;

  const std::size_t member_;
  std::function<void(MemberStatus)> done_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientAsyncResponseReader<etcdserverpb::StatusResponse>> reader_;
  etcdserverpb::StatusResponse response_;
  grpc::Status status_;
};

}  // namespace symnas::kv::etcd
