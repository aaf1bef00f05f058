#include "common/kv/etcd/calls.h"

#include <grpc/support/time.h>

#include <algorithm>
#include <chrono>
#include <string_view>

#include "common/base/log.h"
#include "common/kv/etcd/wire.h"

namespace symnas::kv::etcd {

namespace {
Error shutdown_error() { return Error{ErrorCode::kShutdown, "etcd: store closed"}; }
}  // namespace

void prepare(grpc::ClientContext& context, SteadyClock::duration left) {
  const auto micros = std::chrono::duration_cast<std::chrono::microseconds>(left).count();
  context.set_deadline(
      gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC), gpr_time_from_micros(micros, GPR_TIMESPAN)));
  context.AddMetadata("hasleader", "true");
}

// --- transaction

TxnCall::TxnCall(Loop& loop, SteadyClock::time_point deadline, const Txn& txn, TxnCallback done)
    : Operation(loop, deadline),
      kind_(wire::is_read_only(txn) ? Request::kReadOnly : Request::kMayWrite),
      request_(wire::encode(txn)),
      done_(std::move(done)) {}

void TxnCall::start(Member& member) {
  member_ = member.index;
  reader_.reset();
  context_.emplace();
  auto left = deadline_ - SteadyClock::now();
  // A read that waits for a member that is gone must leave time to ask another member.
  if (kind_ == Request::kReadOnly) {
    left = std::min<SteadyClock::duration>(left, std::chrono::milliseconds(kTryTimeoutMs));
  }
  prepare(*context_, left);
  reader_ = member.kv->PrepareAsyncTxn(&*context_, request_, &loop_.queue());
  reader_->StartCall();
  reader_->Finish(&response_, &status_, static_cast<Operation*>(this));
}

void TxnCall::give_up(Error error) { done_(tl::unexpected<Error>(std::move(error))); }

void TxnCall::complete(bool /*ok*/) {
  loop_.finished(*this);
  if (status_.ok()) {
    done_(wire::decode(response_));
    return;
  }
  if (loop_.stopping()) {
    done_(tl::unexpected<Error>(shutdown_error()));
    return;
  }
  fail_or_resend(error_of(status_, kind_));
}

void TxnCall::fail_or_resend(Error error) {
  if (blames_member(error)) {
    log::debug("etcd: try at {} failed: {}", loop_.endpoint(member_), error.message);
    loop_.member_failed(member_);
    if (kind_ == Request::kReadOnly && SteadyClock::now() < deadline_) {
      loop_.submit(shared_from_this());
      return;
    }
  }
  done_(tl::unexpected<Error>(std::move(error)));
}

void TxnCall::cancel() { context_->TryCancel(); }

// --- compaction

CompactCall::CompactCall(Loop& loop, SteadyClock::time_point deadline, Revision revision,
                         std::function<void(Status)> done)
    : Operation(loop, deadline), done_(std::move(done)) {
  request_.set_revision(revision.value());
}

void CompactCall::start(Member& member) {
  member_ = member.index;
  prepare(context_, deadline_ - SteadyClock::now());
  reader_ = member.kv->PrepareAsyncCompact(&context_, request_, &loop_.queue());
  reader_->StartCall();
  reader_->Finish(&response_, &status_, static_cast<Operation*>(this));
}

void CompactCall::give_up(Error error) { done_(tl::unexpected<Error>(std::move(error))); }

void CompactCall::complete(bool /*ok*/) {
  loop_.finished(*this);
  if (status_.ok()) {
    done_({});
    return;
  }
  Error error = loop_.stopping() ? shutdown_error() : error_of(status_, Request::kMayWrite);
  if (blames_member(error)) loop_.member_failed(member_);
  done_(tl::unexpected<Error>(std::move(error)));
}

// --- status

StatusCall::StatusCall(Loop& loop, SteadyClock::time_point deadline, std::size_t member,
                       std::function<void(MemberStatus)> done)
    : Operation(loop, deadline), member_(member), done_(std::move(done)) {}

void StatusCall::start(Member& member) {
  // The call does not set "hasleader": a member that has lost its leader still reports its state.
  const auto left = deadline_ - SteadyClock::now();
  const auto micros = std::chrono::duration_cast<std::chrono::microseconds>(left).count();
  context_.set_deadline(
      gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC), gpr_time_from_micros(micros, GPR_TIMESPAN)));
  reader_ = member.maintenance->PrepareAsyncStatus(&context_, {}, &loop_.queue());
  reader_->StartCall();
  reader_->Finish(&response_, &status_, static_cast<Operation*>(this));
}

void StatusCall::give_up(Error error) {
  MemberStatus out;
  out.endpoint = loop_.endpoint(member_);
  out.error = std::move(error.message);
  done_(std::move(out));
}

void StatusCall::complete(bool /*ok*/) {
  loop_.finished(*this);
  done_(answer());
}

MemberStatus StatusCall::answer() const {
  MemberStatus out;
  out.endpoint = loop_.endpoint(member_);
  out.current = loop_.current_member() == member_;
  if (!status_.ok()) {
    out.error = status_.error_message();
    return out;
  }
  out.reachable = true;
  out.leader = response_.leader() != 0 && response_.leader() == response_.header().member_id();
  out.no_space_alarm = std::any_of(
      response_.errors().begin(), response_.errors().end(),
      [](std::string_view error) { return error.find("NOSPACE") != std::string_view::npos; });
  out.db_size_bytes = response_.db_size();
  out.db_in_use_bytes = response_.db_size_in_use();
  out.revision = Revision(response_.header().revision());
  return out;
}

}  // namespace symnas::kv::etcd
