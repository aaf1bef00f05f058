#include "fsal_cluster/mount/lock_clearing.h"

#include <chrono>
#include <utility>

#include "common/base/log.h"
#include "fsal_cluster/ops/nodes.h"
#include "fsal_cluster/schema/inode.h"
#include "fsal_cluster/types/limits.h"

namespace symnas::fs {

LockClearing::LockClearing(Context& context, FileLocks& locks, LockOrders& orders,
                           ReleaseLocks release)
    : context_(context),
      locks_(locks),
      orders_(orders),
      release_(std::move(release)),
      thread_([this] { run(); }) {}

LockClearing::~LockClearing() {
  orders_.stop();
  thread_.join();
}

void LockClearing::run() {
  while (!orders_.stopping()) {
    bool failed = false;
    for (const LockOrder& order : orders_.wait(kLockOrderWaitMs)) {
      if (orders_.stopping()) return;
      const Status done = carry_out(order);
      if (done) continue;
      failed = true;
      log::info("order about locks of inode {} not carried out yet: {}", order.ino.value(),
                done.error().message);
    }
    if (failed) std::this_thread::sleep_for(std::chrono::milliseconds(kLockOrderRetryMs));
  }
}

Result<bool> LockClearing::is_given(const LockOrder& order) {
  SYMNAS_ASSIGN(const kv::OpResult found, context_.session.range(kv::single_key(order.key), 1));
  return !found.kvs.empty() && found.kvs.front().mod_revision == order.revision;
}

Status LockClearing::clear(const LockOrder& order) {
  Status looked;
  const auto begin = [&] {
    const auto given = is_given(order);
    if (!given) looked = tl::unexpected<Error>(given.error());
    return given && *given && orders_.is_valid(order) &&
           locks_.is_recorded_as(order.ino, order.owner, order.lock_revision);
  };
  const auto end = [&] {
    log::warn("locks of inode {} are cleared by an administrator", order.ino.value());
    // record_unlocks() below records what cannot be recorded now.
    static_cast<void>(
        locks_.unlock(order.ino, order.owner, 0, UINT64_MAX, FileLocks::Record::kNow));
  };
  SYMNAS_ASSIGN(const std::optional<Node> node, find_node(context_, order.ino));
  if (node && release_) {
    SYMNAS_TRY(release_(handle_of(context_, *node), order.owner, begin, end));
  } else if (begin()) {
    end();
  }
  SYMNAS_TRY(looked);
  return locks_.record_unlocks();
}

Status LockClearing::carry_out(const LockOrder& order) {
  if (!orders_.is_valid(order)) {
    log::warn("an order to clear locks of inode {} is too old: nothing is done", order.ino.value());
  } else if (order.kind == records::LockOrder::CLEAR) {
    SYMNAS_TRY(clear(order));
  } else if (locks_.is_recorded_as(order.ino, order.owner, order.lock_revision)) {
    SYMNAS_TRY(locks_.revoke_if_away(order.ino, order.owner, order.wanted));
  }
  kv::Mutation mutation;
  mutation.growth = kv::Growth::kMustGo;
  mutation.compares = {kv::mod_revision_is(order.key, order.revision)};
  mutation.writes = {kv::erase(order.key)};
  // A failed compare means that the order was taken back, or given again.
  SYMNAS_TRY(context_.session.commit_blocking(std::move(mutation)));
  orders_.done(order);
  return {};
}

}  // namespace symnas::fs
