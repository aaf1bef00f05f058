#include "fsal_cluster/mount/membership_keeper.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "common/base/log.h"
#include "common/kv/keys.h"
#include "fsal_cluster/types/limits.h"

namespace symnas::fs {

namespace keys = kv::keys;

MembershipKeeper::MembershipKeeper(kv::Session& session, const env::Clock& clock,
                                   Membership& membership, Peers& peers, FsId fs, MountId self,
                                   Actions actions)
    : session_(session),
      clock_(clock),
      membership_(membership),
      peers_(peers),
      fs_(fs),
      self_(self),
      actions_(std::move(actions)),
      random_(static_cast<std::uint64_t>(clock.mono_ns()) ^ self.value()) {
  peers_.on_change([this] { loop_.wake(); });
  loop_.start(0, [this] { return turn(); });
}

MembershipKeeper::~MembershipKeeper() {
  peers_.on_change(nullptr);
  loop_.stop();
}

MembershipView MembershipKeeper::look() const {
  MembershipView view;
  view.self = self_;
  view.mode = membership_.is_sole() ? Membership::Mode::kSole : Membership::Mode::kShared;
  view.draining = !membership_.settle();
  view.solo = peers_.solo();
  view.solo_wanted = peers_.solo_wanted();
  view.no_others = peers_.no_others();
  view.ended = peers_.ended();
  return view;
}

std::int64_t MembershipKeeper::turn() {
  for (;;) {
    const MembershipView view = look();
    const MembershipStep step = plan_.next(view, clock_.mono_ns(), random_.next());
    if (step.kind != MembershipStep::Kind::kWait) {
      const Status done = act(step, view);
      if (loop_.stopping()) return Loop::kNever;
      if (done) {
        if (step.kind == MembershipStep::Kind::kTakeOver) plan_.taken_over(step.ended);
        continue;
      }
      const ErrorCode code = done.error().code;
      if (code == ErrorCode::kEnded || code == ErrorCode::kShutdown) return Loop::kNever;
      log::warn("filesystem {}: {}", fs_.value(), done.error().message);
      plan_.failed(step, clock_.mono_ns() + kKeeperRetryMs * 1'000'000);
      if (step.kind == MembershipStep::Kind::kMakeRoom &&
          loop_.stopped_within(kKeeperRetryMs * 1'000'000))
        return Loop::kNever;
      continue;
    }
    std::int64_t span_ns = kKeeperPollMs * 1'000'000;
    if (step.wake_ns)
      span_ns = std::clamp<std::int64_t>(*step.wake_ns - clock_.mono_ns(), 0, span_ns);
    return span_ns;
  }
}

Status MembershipKeeper::act(const MembershipStep& step, const MembershipView& view) {
  switch (step.kind) {
    case MembershipStep::Kind::kWait: return {};
    case MembershipStep::Kind::kMakeRoom: return make_room(view);
    case MembershipStep::Kind::kTakeOver: return actions_.take_over(step.ended);
    case MembershipStep::Kind::kBecomeSole: return become_sole(view);
  }
  return {};
}

Status MembershipKeeper::make_room(const MembershipView& view) {
  if (membership_.is_sole()) membership_.begin_shared();
  if (!membership_.settle()) return {};  // the plan comes back when they have ended
  kv::Mutation mutation;
  mutation.growth = kv::Growth::kMustGo;
  mutation.compares = {kv::mod_revision_is(keys::solo(fs_), view.solo->revision)};
  mutation.writes = {kv::erase(keys::solo(fs_)), kv::erase(keys::want_solo(fs_))};
  SYMNAS_ASSIGN(const kv::Committed done, session_.commit_blocking(std::move(mutation)));
  // Without this wait the plan would give `solo` back again until the image shows that it is gone.
  if (done.succeeded && wait_until_applied(done.revision))
    log::info("filesystem {}: shared with other mounts from now on", fs_.value());
  return {};
}

Result<bool> MembershipKeeper::put_solo() {
  // Read before the barrier: a claim made before the read is in the image after the barrier; one
  // made later has changed the claim key, which the transaction compares.
  SYMNAS_ASSIGN(const kv::OpResult claim,
                session_.range(kv::single_key(keys::mount_claim(fs_)), 1));
  SYMNAS_TRY(session_.barrier());
  if (!peers_.no_others() || peers_.solo_wanted() || peers_.solo()) return false;
  kv::Mutation mutation;
  mutation.growth = kv::Growth::kMustGo;
  mutation.compares = {
      kv::key_absent(keys::solo(fs_)), kv::key_absent(keys::want_solo(fs_)),
      kv::mod_revision_is(keys::mount_claim(fs_),
                          claim.kvs.empty() ? Revision{0} : claim.kvs.front().mod_revision)};
  mutation.writes = {kv::put(keys::solo(fs_), std::to_string(self_.value()))};
  SYMNAS_ASSIGN(const kv::Committed done, session_.commit_blocking(std::move(mutation)));
  return done.succeeded && wait_until_applied(done.revision);
}

Status MembershipKeeper::become_sole(const MembershipView& view) {
  if (!view.solo) {
    SYMNAS_ASSIGN(const bool put, put_solo());
    if (!put) return {};
  } else if (!wait_until_applied(view.solo->revision)) {
    return {};
  }
  SYMNAS_TRY(actions_.turning_sole());
  membership_.turn_sole();
  log::info("filesystem {}: this mount is alone with it from now on", fs_.value());
  return {};
}

bool MembershipKeeper::wait_until_applied(Revision revision) {
  while (session_.applied() < revision)
    if (loop_.stopped_within(kHeartbeatPollNs)) return false;
  return true;
}

}  // namespace symnas::fs
