#include "fsal_cluster/data/quota_gate.h"

#include "fsal_cluster/quota/limits.h"

namespace symnas::fs {
namespace {

bool is_the_end(const Error& error) {
  return error.code == ErrorCode::kEnded || error.code == ErrorCode::kShutdown ||
         error.code == ErrorCode::kFenced;
}

}  // namespace

Task<Status> QuotaGate::identify(FileState& f, QuotaAsking& asking) {
  const Result<InodeRecord> record = co_await read_inode(context_, f);
  if (!record) co_return tl::unexpected(record.error());
  asking.subjects = subjects_of(record->inode);
  co_return Status{};
}

Status QuotaGate::admit(FileState& f, QuotaAsking& asking, std::uint64_t blocks) {
  if (blocks == 0) return {};
  const auto verdict = context_.quotas()->admit(
      f.charge, asking.subjects, {static_cast<std::int64_t>(blocks), 0}, asking.caller);
  if (!verdict) return tl::unexpected(verdict.error());
  asking.look_due = *verdict == Quotas::Verdict::kLookFirst;
  if (!asking.look_due) asking.caller.own.blocks += static_cast<std::int64_t>(blocks);
  return {};
}

std::vector<FilePtr> QuotaGate::files_with_charges() const {
  std::vector<FilePtr> out;
  for (const Ino ino : context_.attention.files()) {
    FilePtr f = table_.find(ino);
    if (!f) continue;
    bool charged = false;
    {
      const MutexLock lock(f->mutex);
      charged = f->loaded && !f->charge.usage().none() && f->has_growth();
    }
    if (charged) out.push_back(std::move(f));
  }
  return out;
}

Task<Status> QuotaGate::look(QuotaAsking& asking) {
  asking.look_due = false;
  asking.caller.own = {};
  if (++asking.looks > kAdmitTriesMax)
    co_return fail(ErrorCode::kBusy, "quota: others use it up in parallel; try again");
  Status status = co_await record();
  if (status) status = co_await pass_barrier(context_);
  if (!status) co_return status;
  Turn seen;
  context_.quotas()->when_seen(
      [this, &seen] { context_.background->post([&seen] { seen.deliver({}); }); });
  co_await seen;
  context_.quotas()->looked(asking.subjects);
  asking.caller.looked = Quotas::Looked::kYes;
  co_return Status{};
}

Task<Status> QuotaGate::record() {
  Join commits;
  for (const FilePtr& f : files_with_charges()) {
    // What could not be recorded stays charged; the operation that asks is not to blame.
    committer_.commit_idle(f, DropFlag::kMay, [done = commits.callback()](Status status) {
      done(status || is_the_end(status.error()) ? std::move(status) : Status());
    });
  }
  Status status = co_await commits;
  co_return status;
}

}  // namespace symnas::fs
