// Recovers what an ended mount has left: tokens with the write flag (contents may have changed, so
// change must change), and groups.
#include <future>

#include <fmt/core.h>

#include "common/base/bytes.h"
#include "common/base/log.h"
#include "fsal_cluster/data/mount_recovery.h"
#include "fsal_cluster/data/wait_for.h"
#include "fsal_cluster/schema/inode.h"

namespace symnas::fs {
namespace {

constexpr std::int64_t kTokenPage = 1000;
constexpr std::size_t kBumpsAtOnce = 64;  // four full batches of the session

struct FoundToken {
  Ino ino;
  Revision revision;
};

}  // namespace

Status MountRecovery::recover_ended_mount(MountId ended) {
  const RunningOperation running(context_.running);
  const std::string prefix = kv::keys::tokens(context_.options.fs);
  kv::KeyRange range = kv::prefix_range(prefix);
  std::vector<FoundToken> found;
  for (bool more = true; more;) {
    SYMNAS_ASSIGN(const kv::OpResult page, context_.session.range(range, kTokenPage));
    for (const kv::KeyValue& kv : page.kvs) {
      if (kv.key.size() != prefix.size() + 16) {
        return fail(ErrorCode::kCorrupt, "unreadable token key " + to_hex(kv.key));
      }
      if (read_be64(kv.key, prefix.size() + 8) != ended.value()) continue;
      found.push_back({Ino{read_be64(kv.key, prefix.size())}, kv.mod_revision});
    }
    more = page.more && !page.kvs.empty();
    if (more) range.key = page.kvs.back().key + '\0';
  }
  // Data for which the bump stands must not be lost after it: the ended mount's volatile writes may
  // still be in the LUNs' caches, where this mount's clients see them.
  if (!found.empty()) SYMNAS_TRY(flush_volume());
  for (std::size_t begin = 0; begin < found.size(); begin += kBumpsAtOnce) {
    std::vector<std::future<Status>> answers;
    for (std::size_t i = begin; i < std::min(found.size(), begin + kBumpsAtOnce); ++i) {
      const auto promise = std::make_shared<std::promise<Status>>();
      answers.push_back(promise->get_future());
      bump_operation(found[i].ino, found[i].revision, ended,
                     [promise](Status status) { promise->set_value(std::move(status)); });
    }
    Status first;
    for (auto& answer : answers) {
      Status status = answer.get();
      if (!status && first) first = std::move(status);
    }
    SYMNAS_TRY(std::move(first));
  }
  SYMNAS_TRY(erase_wants(ended));
  return context_.space->take_over(ended);
}

Status MountRecovery::erase_wants(MountId ended) {
  const std::string prefix = kv::keys::wants(context_.options.fs);
  SYMNAS_ASSIGN(const kv::OpResult read, context_.session.range(kv::prefix_range(prefix), 0));
  for (const kv::KeyValue& kv : read.kvs) {
    records::WantRecord want;
    if (kv.key.size() != prefix.size() + 8 || !want.ParseFromString(kv.value) ||
        want.mount() != ended.value())
      continue;
    SYMNAS_TRY(
        wait_for(tokens_.erase_want(Ino{read_be64(kv.key, prefix.size())}, kv.mod_revision)));
  }
  return {};
}

Status MountRecovery::flush_volume() {
  const auto promise = std::make_shared<std::promise<Status>>();
  auto answer = promise->get_future();
  context_.volume->flush([promise](Status status) { promise->set_value(std::move(status)); });
  return answer.get();
}

Detached MountRecovery::bump_operation(Ino ino, Revision token_revision, MountId owner,
                                       StatusCallback done) {
  const RunningOperation running(context_.running);
  Status status = co_await bump(ino, token_revision, owner);
  done(std::move(status));
}

// Erases the token in the transaction that gives the inode new times, so that no crash can come
// between them.
Task<Status> MountRecovery::bump(Ino ino, Revision token_revision, MountId owner) {
  const std::string token = kv::keys::token(context_.options.fs, ino, owner);
  for (int round = 0;; ++round) {
    if (round >= kConflictRetriesMax) {
      co_return fail(ErrorCode::kConflict,
                     fmt::format("inode {}: its record kept changing", ino.value()));
    }
    const std::string ended = kv::keys::mount_ended(context_.options.fs, owner);
    std::vector<std::string> keys{context_.inode_key(ino), token, ended};
    Awaited<Result<std::vector<kv::CachedValue>>> answer;
    context_.session.read_async(std::move(keys), answer.callback());
    const Result<std::vector<kv::CachedValue>> values = co_await answer;
    if (!values) co_return tl::unexpected(values.error());
    const kv::CachedValue& record = (*values)[0];
    const kv::CachedValue& held = (*values)[1];
    if (!held.value || held.mod_revision != token_revision) co_return Status{};  // done already
    if (!(*values)[2].value && round == 0) {
      // Another mount may have recovered everything, and this mount's cache may not have heard of
      // the token yet.
      const Status passed = co_await pass_barrier(context_);
      if (!passed) co_return passed;
      continue;
    }
    if (!(*values)[2].value) {
      co_return fail(ErrorCode::kInternal,
                     fmt::format("mount {} has not ended: its tokens stay", owner.value()));
    }
    records::TokenRecord flag;
    records::Inode inode;
    if (!flag.ParseFromString(*held.value)) flag.set_wrote(true);  // nobody knows
    const bool readable = record.value && inode.ParseFromString(*record.value);
    if (record.value && !readable) {
      // Nobody is shown a change of it now, and who restores the record gives it a new one.
      log::warn("inode {}: its record cannot be read: run symnas fs check", ino.value());
    }
    kv::Mutation mutation;
    mutation.growth = kv::Growth::kMustGo;
    mutation.compares.push_back(kv::mod_revision_is(token, token_revision));
    mutation.compares.push_back(kv::key_exists(ended));
    mutation.writes.push_back(kv::erase(token));
    if (readable && flag.wrote()) {
      context_.session.saw_time_ns(inode.ctime_ns());
      const std::int64_t now_ns = context_.session.next_time_ns();
      inode.set_mtime_ns(now_ns);
      inode.set_ctime_ns(now_ns);
      mutation.compares.push_back(
          kv::mod_revision_is(context_.inode_key(ino), record.mod_revision));
      mutation.writes.push_back(kv::put(context_.inode_key(ino), changed_inode(inode)));
    }
    const Result<kv::Committed> committed = co_await commit_mutation(context_, mutation);
    if (!committed) co_return tl::unexpected(committed.error());
    if (committed->succeeded) co_return Status{};
  }
}

}  // namespace symnas::fs
