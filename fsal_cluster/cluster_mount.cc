#include "fsal_cluster/cluster_mount.h"

#include <chrono>
#include <thread>
#include <utility>

#include "common/base/bytes.h"
#include "common/base/log.h"
#include "common/kv/keys.h"
#include "fsal_cluster/ops/create.h"
#include "fsal_cluster/ops/getattr.h"
#include "fsal_cluster/ops/link.h"
#include "fsal_cluster/ops/lookup.h"
#include "fsal_cluster/ops/mkdir.h"
#include "fsal_cluster/ops/mknod.h"
#include "fsal_cluster/ops/nodes.h"
#include "fsal_cluster/ops/orphan.h"
#include "fsal_cluster/ops/readdir.h"
#include "fsal_cluster/ops/readlink.h"
#include "fsal_cluster/ops/rename.h"
#include "fsal_cluster/ops/retry.h"
#include "fsal_cluster/ops/rmdir.h"
#include "fsal_cluster/ops/setattr.h"
#include "fsal_cluster/ops/statfs.h"
#include "fsal_cluster/ops/symlink.h"
#include "fsal_cluster/ops/unlink.h"
#include "fsal_cluster/schema/inode.h"

namespace symnas::fs {

ClusterMount::ClusterMount(const env::Clock& clock, Parts parts)
    : clock_(clock),
      claim_(std::move(parts.claim)),
      random_(static_cast<std::uint64_t>(clock.mono_ns())),
      gate_(std::move(parts.gate)),
      membership_(std::move(parts.membership)),
      peers_(std::move(parts.peers)),
      orphans_(std::move(parts.orphans)),
      tokens_(std::move(parts.tokens)),
      share_table_(std::move(parts.share_table)),
      lock_orders_(std::move(parts.lock_orders)),
      release_locks_(std::move(parts.release_locks)),
      vnfs_(parts.vnfs),
      vnfs_name_(std::move(parts.vnfs_name)),
      nfs_lease_s_(parts.nfs_lease_s),
      quota_(std::move(parts.quota)),
      proof_(std::move(parts.proof)),
      session_(std::move(parts.session)),
      data_(std::move(parts.data)),
      locks_(std::move(parts.locks)),
      replies_(std::move(parts.replies)),
      inos_(*session_, FsId{claim_.filesystem.fsid()}),
      context_{.session = *session_,
               .data = *data_,
               .open_files = open_files_,
               .inos = inos_,
               .flights = flights_,
               .hasher = parts.hasher,
               .fs = FsId{claim_.filesystem.fsid()},
               .mount = claim_.id,
               .block_bytes = claim_.filesystem.block_bytes(),
               .membership = *membership_,
               .gate = gate_.get(),
               .replies = replies_.get(),
               .pause = [this](int attempt) { pause(attempt); }} {}

ClusterMount::~ClusterMount() {
  // What the gate holds would keep the sweep and the data waiting.
  heartbeat_.reset();
  gate_->shut_down();
  end_threads();
}

template <class T>
Result<T> ClusterMount::gated(Result<T> outcome) {
  if (gate_->wait() == Gate::Passage::kOpen) return outcome;
  return fail(ErrorCode::kShutdown, "the mount is being closed: the outcome is not told");
}

template <class T>
std::function<void(Result<T>)> ClusterMount::gated(std::function<void(Result<T>)> done) {
  return [this, done = std::move(done)](Result<T> outcome) {
    if (gate_->is_open()) {
      done(std::move(outcome));
      return;
    }
    // A std::function must be copyable, an outcome with a buffer is not.
    auto held = std::make_shared<Result<T>>(std::move(outcome));
    gate_->pass([done, held](Gate::Passage passage) {
      if (passage == Gate::Passage::kOpen) {
        done(std::move(*held));
      } else {
        done(fail(ErrorCode::kShutdown, "the mount is being closed: the outcome is not told"));
      }
    });
  };
}

void ClusterMount::pause(int attempt) {
  std::this_thread::sleep_for(
      std::chrono::microseconds(conflict_pause_us(attempt, random_.next())));
}

Status ClusterMount::recover(std::optional<std::vector<Ino>> orphans) {
  orphan_watch_ =
      std::make_unique<OrphanWatch>(context_, *orphans_, *peers_, claim_.create_revision);
  heartbeat_ =
      std::make_unique<Heartbeat>(*session_, clock_, *gate_, context_.fs, claim_.id, proof_,
                                  [this](records::HeartbeatRecord& record) { report(record); });
  shares_ = std::make_unique<ShareModes>(
      *session_, clock_, *share_table_, *peers_, *gate_,
      ShareModes::Options{
          .fs = context_.fs, .mount = claim_.id, .vnfs = vnfs_name_, .lease_s = nfs_lease_s_});
  std::vector<records::FileInUse> in_use;
  for (const MountEntry& ended : claim_.ended) {
    const bool clean = ended.ended->clean();
    if (clean && ended.record.vnfs_id() == vnfs_.value())
      in_use.assign(ended.ended->in_use().begin(), ended.ended->in_use().end());
    // Nobody has to wait for what it has left: the keeper takes that over. Not so a token: a sole
    // mount looks at nobody's, and would give the file new times behind what its clients set.
    const TokenTable::Holds holds = tokens_->holds(ended.id);
    if (clean && holds == TokenTable::Holds::kNothing) continue;
    if (clean && holds == TokenTable::Holds::kTokens)
      log::warn("{} has closed and left tokens: taken over first", describe(ended));
    SYMNAS_TRY(recover_ended(ended.id, describe(ended)));
  }
  claim_.ended.clear();
  if (!orphans) {
    SYMNAS_ASSIGN(orphans, list_orphans(*session_, context_.fs));
  }
  sweep_ = std::make_unique<OrphanSweep>(context_, std::move(*orphans));
  replies_->start_sweep();
  lock_clearing_ = std::make_unique<LockClearing>(context_, *locks_, *lock_orders_, release_locks_);
  keeper_ = std::make_unique<MembershipKeeper>(
      *session_, clock_, *membership_, *peers_, context_.fs, claim_.id,
      MembershipKeeper::Actions{.turning_sole = [this] { return turning_sole(); },
                                .take_over = [this](MountId ended) { return take_over(ended); }});
  data_->fetch(in_use);
  return {};
}

void ClusterMount::report(records::HeartbeatRecord& record) {
  const SpaceAnnouncement space = data_->announcement();
  record.set_quiesced(static_cast<std::uint64_t>(space.quiesced.value()));
  record.set_allocated_blocks(space.allocated_blocks);
  record.set_needs_space(space.needs_space);
  record.set_looked(static_cast<std::uint64_t>(orphan_watch_->looked().value()));
}

Status ClusterMount::turning_sole() {
  SYMNAS_TRY(locks_->turning_sole());
  data_->turned_sole();
  return {};
}

Status ClusterMount::take_over(MountId ended) {
  SYMNAS_ASSIGN(const kv::CachedValue record, session_->read(kv::keys::mount(context_.fs, ended)));
  if (!record.value) {
    // Another mount has been faster; only an end record without its mount is left to be removed.
    return recover_ended(ended, "mount " + std::to_string(ended.value()));
  }
  SYMNAS_ASSIGN(
      records::MountRecord parsed,
      parse_record<records::MountRecord>(*record.value, "mount " + std::to_string(ended.value())));
  return recover_ended(
      ended, describe(MountEntry{ended, std::move(parsed), record.mod_revision, std::nullopt}));
}

// The end record outlives what it is the proof for: tokens first, then all keys of the mount at
// once.
Status ClusterMount::recover_ended(MountId ended, const std::string& name) {
  SYMNAS_TRY(data_->recover_ended_mount(ended));
  SYMNAS_TRY(erase_holds(ended));
  const FsId fs = context_.fs;
  kv::Mutation mutation;
  mutation.growth = kv::Growth::kMustGo;
  mutation.compares = {kv::key_exists(kv::keys::mount_ended(fs, ended))};
  mutation.writes = {kv::erase(kv::keys::mount(fs, ended)),
                     kv::erase(kv::keys::mount_ended(fs, ended)),
                     kv::erase(kv::keys::heartbeat(fs, ended)),
                     kv::erase_range(kv::prefix_range(kv::keys::mount_slots(fs, ended)))};
  SYMNAS_ASSIGN(const kv::Committed done, session_->commit_blocking(std::move(mutation)));
  log::info("filesystem {}: took over from {}{}", claim_.filesystem.name(), name,
            done.succeeded ? "" : " (removed already)");
  return {};
}

Status ClusterMount::erase_holds(MountId ended) {
  const std::string table = kv::keys::holds(context_.fs);
  SYMNAS_ASSIGN(const kv::OpResult holds, session_->range(kv::prefix_range(table), 0));
  for (const kv::KeyValue& kv : holds.kvs) {
    if (kv.key.size() != table.size() + 16) continue;
    if (read_be64(kv.key, table.size() + 8) != ended.value()) continue;
    kv::Mutation mutation;
    mutation.growth = kv::Growth::kMustGo;
    mutation.writes = {kv::erase(kv.key)};
    SYMNAS_TRY(session_->commit_blocking(std::move(mutation)));
  }
  return {};
}

// The keeper last: the others may wait for a token of an ended mount, which it takes over.
void ClusterMount::end_threads() {
  replies_->stop();
  if (orphan_watch_) orphan_watch_->stop();
  if (shares_) shares_->stop();
  if (sweep_) sweep_->stop();
  lock_clearing_.reset();
  keeper_.reset();
}

Status ClusterMount::close() {
  if (closed_.exchange(true)) return {};
  end_threads();
  data_->stop_fetching();
  std::vector<records::FileInUse> in_use = data_->files_in_use();
  SYMNAS_TRY(data_->flush_all());
  SYMNAS_TRY(locks_->record_unlocks());
  heartbeat_.reset();
  return write_end_record(std::move(in_use));
}

Status ClusterMount::write_end_record(std::vector<records::FileInUse> in_use) {
  records::EndRecord record;
  record.set_by("self");
  record.set_proof("clean close");
  record.set_clean(true);
  for (records::FileInUse& file : in_use) *record.add_in_use() = std::move(file);
  record.set_ended_ns(clock_.wall_ns());
  kv::Mutation mutation;
  mutation.growth = kv::Growth::kMustGo;
  mutation.writes = {
      kv::put(kv::keys::mount_ended(context_.fs, claim_.id), record.SerializeAsString())};
  // Nobody has to wait for clients of this mount to reclaim what they never had.
  if (shares_ && !shares_->may_have_opens())
    mutation.writes.push_back(kv::erase(kv::keys::share(context_.fs, Ino{0}, claim_.id)));
  const auto done = session_->commit_blocking(std::move(mutation));
  return done ? Status() : Status(tl::unexpected<Error>(done.error()));
}

Status ClusterMount::usable_without_name(const Handle& handle) {
  SYMNAS_ASSIGN(const std::optional<Node> node, find_node(context_, handle.ino));
  if (!node || node->record.nlink() > 0) return {};
  if (orphan_watch_->may_use(handle.ino, node->mod_revision)) return {};
  return fail(ErrorCode::kStale,
              "inode " + std::to_string(handle.ino.value()) + ": its last name is gone");
}

Result<Attributes> ClusterMount::lookup(const Handle& dir, const std::string& name) {
  return gated(fs::lookup(context_, dir, name));
}
Result<Attributes> ClusterMount::getattr(const Handle& handle) {
  auto found = fs::getattr(context_, handle);
  if (found && found->nlink == 0) {
    const Status usable = usable_without_name(handle);
    if (!usable) found = tl::unexpected(usable.error());
  }
  return gated(std::move(found));
}
std::optional<Result<Attributes>> ClusterMount::getattr_from_cache(const Handle& handle,
                                                                   Freshness freshness) {
  auto known = fs::getattr_from_cache(context_, handle, freshness);
  if (!gate_->is_open()) return std::nullopt;
  if (known && *known && (*known)->nlink == 0) return std::nullopt;  // may have to wait
  return known;
}
Result<Attributes> ClusterMount::setattr(const Credentials& who, const Handle& handle,
                                         const SetAttributes& changes) {
  const Status usable = usable_without_name(handle);
  if (!usable) return gated(Result<Attributes>(tl::unexpected(usable.error())));
  return gated(fs::setattr(context_, who, handle, changes));
}
Result<Created> ClusterMount::create(const Credentials& who, const Handle& dir,
                                     const std::string& name, CreateMode mode,
                                     std::uint64_t verifier, const NewNode& node) {
  return gated(fs::create(context_, who, dir, name, mode, verifier, node));
}
Result<Created> ClusterMount::mkdir(const Credentials& who, const Handle& dir,
                                    const std::string& name, const NewNode& node) {
  return gated(fs::mkdir(context_, who, dir, name, node));
}
Result<Created> ClusterMount::mknod(const Credentials& who, const Handle& dir,
                                    const std::string& name, const NewNode& node) {
  return gated(fs::mknod(context_, who, dir, name, node));
}
Result<Created> ClusterMount::symlink(const Credentials& who, const Handle& dir,
                                      const std::string& name, const NewNode& node) {
  return gated(fs::symlink(context_, who, dir, name, node));
}
Result<std::string> ClusterMount::readlink(const Handle& handle) {
  return gated(fs::readlink(context_, handle));
}
Result<DirectoryChange> ClusterMount::link(const Credentials& who, const Handle& target,
                                           const Handle& dir, const std::string& name) {
  return gated(fs::link(context_, who, target, dir, name));
}
Result<DirectoryChange> ClusterMount::unlink(const Credentials& who, const Handle& dir,
                                             const std::string& name) {
  return gated(fs::unlink(context_, who, dir, name));
}
Result<DirectoryChange> ClusterMount::rmdir(const Credentials& who, const Handle& dir,
                                            const std::string& name) {
  return gated(fs::rmdir(context_, who, dir, name));
}
Result<Mount::Renamed> ClusterMount::rename(const Credentials& who, const Handle& from_dir,
                                            const std::string& from_name, const Handle& to_dir,
                                            const std::string& to_name) {
  return gated(fs::rename(context_, who, from_dir, from_name, to_dir, to_name));
}
Result<DirectoryPage> ClusterMount::readdir(const Handle& dir, std::uint64_t cookie,
                                            std::size_t entries_max) {
  return gated(fs::readdir(context_, dir, cookie, entries_max));
}
Result<SpaceUse> ClusterMount::statfs() { return gated(fs::statfs(context_)); }
Result<Attributes> ClusterMount::resolve(const std::string& path) {
  return gated(fs::resolve(context_, path));
}

Result<std::optional<Handle>> ClusterMount::done_before(const Call& call) {
  SYMNAS_ASSIGN(const std::optional<Done> done, replies_->find(call));
  if (!done) return std::optional<Handle>();
  return std::optional<Handle>(Handle{context_.fs, done->ino, done->generation});
}

void ClusterMount::opened(const Handle& handle) { open_files_.opened(handle.ino); }

void ClusterMount::closed(const Handle& handle) {
  const OpenFiles::Closed closed = open_files_.closed(handle.ino);
  if (!membership_->is_sole()) {
    orphan_watch_->wake();
  } else if (closed == OpenFiles::Closed::kLastOfOrphan) {
    sweep_->last_closed(handle.ino);
  }
}

Result<ShareAnswer> ClusterMount::share(const Handle& handle, ShareMode before, ShareMode after,
                                        bool is_reclaim) {
  auto answer = shares_->change(handle.ino, before, after, is_reclaim);
  // What is given up is told to nobody.
  return contains(before, after) ? std::move(answer) : gated(std::move(answer));
}
bool ClusterMount::is_denied(const Handle& handle, std::uint8_t bits) const {
  return shares_->is_denied(handle.ino, bits);
}

void ClusterMount::read(const Handle& handle, FileOffset offset, std::size_t bytes,
                        ReadCallback done) {
  data_->read(handle, offset, bytes, gated(std::move(done)));
}
void ClusterMount::write(const Handle& handle, FileOffset offset, std::span<const std::byte> data,
                         WriteStability wanted, WriteCallback done) {
  data_->write(handle, offset, data, wanted, gated(std::move(done)));
}
void ClusterMount::commit(const Handle& handle, StatusCallback done) {
  data_->commit(handle, gated(std::move(done)));
}

}  // namespace symnas::fs
