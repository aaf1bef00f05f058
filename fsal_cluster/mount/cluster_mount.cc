#include "fsal_cluster/mount/cluster_mount.h"

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
#include "fsal_cluster/ops/quota.h"
#include "fsal_cluster/ops/readdir.h"
#include "fsal_cluster/ops/readlink.h"
#include "fsal_cluster/ops/rename.h"
#include "fsal_cluster/ops/retry.h"
#include "fsal_cluster/ops/rmdir.h"
#include "fsal_cluster/ops/setattr.h"
#include "fsal_cluster/ops/statfs.h"
#include "fsal_cluster/ops/symlink.h"
#include "fsal_cluster/ops/unlink.h"
#include "fsal_cluster/ops/xattrs.h"
#include "fsal_cluster/schema/inode.h"

namespace symnas::fs {

ClusterMount::ClusterMount(const env::Clock& clock, Parts parts)
    : clock_(clock),
      random_(static_cast<std::uint64_t>(clock.mono_ns())),
      parts_(std::move(parts)),
      inos_(*parts_.session, FsId{parts_.claim.filesystem.fsid()}),
      context_{.session = *parts_.session,
               .data = *parts_.data,
               .open_files = open_files_,
               .inos = inos_,
               .flights = flights_,
               .hasher = parts_.hasher,
               .fs = FsId{parts_.claim.filesystem.fsid()},
               .mount = parts_.claim.id,
               .block_bytes = parts_.claim.filesystem.block_bytes(),
               .acls = parts_.claim.filesystem.acls_and_xattrs(),
               .membership = *parts_.membership,
               .gate = parts_.gate.get(),
               .replies = parts_.replies.get(),
               .quotas = parts_.quotas.get(),
               .pause = [this](int attempt) { pause(attempt); }},
      file_count_(*parts_.session, clock, parts_.quota->gauge(), context_.fs),
      access_times_(*parts_.session, clock, context_.fs,
                    parts_.records_access_times && parts_.claim.filesystem.access_times()) {}

ClusterMount::~ClusterMount() {
  // The sweep and the data wait for what the gate holds, so the gate lets it go first.
  heartbeat_.reset();
  parts_.gate->shut_down();
  // A mount whose opening has failed has no keeper: nobody recovers the tokens of ended mounts.
  parts_.data->stop_waiting();
  end_threads();
}

template <class T>
Result<T> ClusterMount::gated(Result<T> outcome) {
  if (parts_.gate->wait_to_answer(clock_.mono_ns()) == Gate::Passage::kOpen) return outcome;
  return fail(ErrorCode::kShutdown, "the mount is being closed: the outcome is not reported");
}

template <class T>
std::function<void(Result<T>)> ClusterMount::gated(std::function<void(Result<T>)> done) {
  return [this, began_ns = clock_.mono_ns(), done = std::move(done)](Result<T> outcome) {
    if (parts_.gate->may_answer(began_ns)) {
      done(std::move(outcome));
      return;
    }
    // A std::function must be copyable; an outcome with a buffer is not.
    auto held = std::make_shared<Result<T>>(std::move(outcome));
    parts_.gate->answer(began_ns, [done, held](Gate::Passage passage) {
      if (passage == Gate::Passage::kOpen) {
        done(std::move(*held));
      } else {
        done(fail(ErrorCode::kShutdown, "the mount is being closed: the outcome is not reported"));
      }
    });
  };
}

void ClusterMount::pause(int attempt) {
  std::this_thread::sleep_for(
      std::chrono::microseconds(conflict_pause_us(attempt, random_.next())));
}

Status ClusterMount::recover(std::optional<std::vector<Ino>> orphans) {
  orphan_watch_ = std::make_unique<OrphanWatch>(context_, *parts_.orphans, *parts_.peers,
                                                parts_.claim.create_revision);
  heartbeat_ = std::make_unique<Heartbeat>(
      *parts_.session, clock_, *parts_.gate, context_.fs, parts_.claim.id, parts_.proof,
      [this](records::HeartbeatRecord& record) { report(record); });
  shares_ = std::make_unique<ShareModes>(*parts_.session, clock_, *parts_.share_table,
                                         *parts_.peers, *parts_.gate,
                                         ShareModes::Options{.fs = context_.fs,
                                                             .mount = parts_.claim.id,
                                                             .vnfs = parts_.vnfs_name,
                                                             .lease_s = parts_.nfs_lease_s});
  context_.shares = shares_.get();
  std::vector<records::FileInUse> in_use;
  for (const MountEntry& ended : parts_.claim.ended) {
    const bool clean = ended.ended->clean();
    if (clean && ended.record.vnfs_id() == parts_.vnfs.value())
      in_use.assign(ended.ended->in_use().begin(), ended.ended->in_use().end());
    // Nobody has to wait for what a closed mount has left: the keeper takes that over later. A
    // token is the exception: a sole mount looks at no token of another mount, and the later
    // recovery would give the file new times after those that its clients have set.
    const TokenTable::Holds holds = parts_.tokens->holds(ended.id);
    if (clean && holds == TokenTable::Holds::kNothing) continue;
    if (clean && holds == TokenTable::Holds::kTokens)
      log::warn("{} has closed but left tokens: they are recovered first", describe(ended));
    SYMNAS_TRY(recover_ended(ended.id, describe(ended)));
  }
  parts_.claim.ended.clear();
  if (!orphans) {
    SYMNAS_ASSIGN(orphans, list_orphans(*parts_.session, context_.fs));
  }
  sweep_ = std::make_unique<OrphanSweep>(context_, std::move(*orphans));
  parts_.replies->start_sweep();
  lock_clearing_ = std::make_unique<LockClearing>(context_, *parts_.locks, *parts_.lock_orders,
                                                  parts_.release_locks);
  keeper_ = std::make_unique<MembershipKeeper>(
      *parts_.session, clock_, *parts_.membership, *parts_.peers, context_.fs, parts_.claim.id,
      MembershipKeeper::Actions{.turning_sole = [this] { return turning_sole(); },
                                .take_over = [this](MountId ended) { return take_over(ended); }});
  usage_keeper_ = std::make_unique<UsageKeeper>(
      *parts_.session, *parts_.usage,
      UsageKeeper::Options{.fs = context_.fs,
                           .self = parts_.claim.id,
                           .block_bytes = context_.block_bytes,
                           .others = [this] { return parts_.peers->living(); }});
  parts_.data->fetch(in_use);
  return {};
}

void ClusterMount::report(records::HeartbeatRecord& record) {
  const SpaceAnnouncement space = parts_.data->announcement();
  record.set_quiesced(static_cast<std::uint64_t>(space.quiesced.value()));
  record.set_allocated_blocks(space.allocated_blocks);
  record.set_needs_space(space.needs_space);
  record.set_quota_mode(UsageTable::pack(parts_.usage->mode()));
  record.set_looked(static_cast<std::uint64_t>(orphan_watch_->looked().value()));
}

Status ClusterMount::turning_sole() {
  SYMNAS_TRY(parts_.locks->turning_sole());
  parts_.data->turned_sole();
  return {};
}

Status ClusterMount::take_over(MountId ended) {
  SYMNAS_ASSIGN(const kv::CachedValue record,
                parts_.session->read(kv::keys::mount(context_.fs, ended)));
  if (!record.value) {
    // Another mount has recovered it already; only an end record without its mount may be left to
    // remove.
    return recover_ended(ended, "mount " + std::to_string(ended.value()));
  }
  SYMNAS_ASSIGN(
      records::MountRecord parsed,
      parse_record<records::MountRecord>(*record.value, "mount " + std::to_string(ended.value())));
  return recover_ended(
      ended, describe(MountEntry{ended, std::move(parsed), record.mod_revision, std::nullopt}));
}

// Recovers the tokens first, then removes all keys of the mount at once, so that the end record
// lives as long as anything for which it is the proof.
Status ClusterMount::recover_ended(MountId ended, const std::string& name) {
  SYMNAS_TRY(parts_.data->recover_ended_mount(ended));
  SYMNAS_TRY(erase_holds(ended));
  const FsId fs = context_.fs;
  kv::Mutation mutation;
  mutation.growth = kv::Growth::kMustGo;
  mutation.compares = {kv::key_exists(kv::keys::mount_ended(fs, ended))};
  mutation.writes = {kv::erase(kv::keys::mount(fs, ended)),
                     kv::erase(kv::keys::mount_ended(fs, ended)),
                     kv::erase(kv::keys::heartbeat(fs, ended)),
                     kv::erase_range(kv::prefix_range(kv::keys::mount_slots(fs, ended)))};
  SYMNAS_ASSIGN(const kv::Committed done, parts_.session->commit_blocking(std::move(mutation)));
  log::info("filesystem {}: recovered {}{}", parts_.claim.filesystem.name(), name,
            done.succeeded ? "" : " (removed already)");
  return {};
}

Status ClusterMount::erase_holds(MountId ended) {
  const std::string table = kv::keys::holds(context_.fs);
  SYMNAS_ASSIGN(const kv::OpResult holds, parts_.session->range(kv::prefix_range(table), 0));
  for (const kv::KeyValue& kv : holds.kvs) {
    if (kv.key.size() != table.size() + 16) continue;
    if (read_be64(kv.key, table.size() + 8) != ended.value()) continue;
    kv::Mutation mutation;
    mutation.growth = kv::Growth::kMustGo;
    mutation.writes = {kv::erase(kv.key)};
    SYMNAS_TRY(parts_.session->commit_blocking(std::move(mutation)));
  }
  return {};
}

// The keeper ends last: the others may wait for a token of an ended mount, which the keeper
// recovers.
void ClusterMount::end_threads() {
  parts_.replies->stop();
  usage_keeper_.reset();
  if (orphan_watch_) orphan_watch_->stop();
  if (shares_) shares_->stop();
  if (sweep_) sweep_->stop();
  lock_clearing_.reset();
  keeper_.reset();
  file_count_.stop();
  access_times_.stop();
}

Status ClusterMount::close() {
  if (closed_.exchange(true)) return {};
  end_threads();
  parts_.data->stop_fetching();
  std::vector<records::FileInUse> in_use = parts_.data->files_in_use();
  SYMNAS_TRY(parts_.data->flush_all());
  SYMNAS_TRY(parts_.locks->record_unlocks());
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
      kv::put(kv::keys::mount_ended(context_.fs, parts_.claim.id), record.SerializeAsString())};
  // No client can reclaim an open that it never had through this mount: so nobody has to wait for
  // reclaims.
  if (shares_ && !shares_->may_have_opens())
    mutation.writes.push_back(kv::erase(kv::keys::share(context_.fs, Ino{0}, parts_.claim.id)));
  const auto done = parts_.session->commit_blocking(std::move(mutation));
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
  if (!parts_.gate->is_open()) return std::nullopt;
  if (known && *known && (*known)->nlink == 0) return std::nullopt;  // the rest may have to wait
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
Result<Renamed> ClusterMount::rename(const Credentials& who, const Handle& from_dir,
                                     const std::string& from_name, const Handle& to_dir,
                                     const std::string& to_name) {
  return gated(fs::rename(context_, who, from_dir, from_name, to_dir, to_name));
}
Result<DirectoryPage> ClusterMount::readdir(const Handle& dir, std::uint64_t cookie,
                                            std::size_t entries_max) {
  return gated(fs::readdir(context_, dir, cookie, entries_max));
}
Result<std::string> ClusterMount::get_xattr(const Credentials& who, const Handle& handle,
                                            const std::string& name) {
  return gated(fs::get_xattr(context_, who, handle, name));
}
Result<std::vector<XattrName>> ClusterMount::list_xattrs(const Credentials& who,
                                                         const Handle& handle,
                                                         std::uint64_t cookie) {
  return gated(fs::list_xattrs(context_, who, handle, cookie));
}
Status ClusterMount::may_change_xattrs(const Handle& handle) {
  if (has_xattrs()) return usable_without_name(handle);
  return fail(ErrorCode::kNotSupported,
              "filesystem " + parts_.claim.filesystem.name() + " has no extended attributes");
}
Status ClusterMount::set_xattr(const Credentials& who, const Handle& handle,
                               const std::string& name, const std::string& value,
                               XattrOption option) {
  Status outcome = may_change_xattrs(handle);
  if (outcome) outcome = fs::set_xattr(context_, who, handle, name, value, option);
  return gated(std::move(outcome));
}
Status ClusterMount::remove_xattr(const Credentials& who, const Handle& handle,
                                  const std::string& name) {
  Status outcome = may_change_xattrs(handle);
  if (outcome) outcome = fs::remove_xattr(context_, who, handle, name);
  return gated(std::move(outcome));
}
Result<SpaceUse> ClusterMount::statfs(const std::optional<Handle>& at) {
  return gated(space_at(at));
}
Result<SpaceUse> ClusterMount::space_at(const std::optional<Handle>& at) {
  SYMNAS_ASSIGN(const FileUse files, file_count_.use());
  SYMNAS_ASSIGN(SpaceUse space, fs::statfs(context_, files));
  if (!parts_.usage->limits_anything()) return space;
  const auto hold = [&](const Subject& subject) {
    const auto standing =
        standing_of(*parts_.usage, subject, parts_.claim.filesystem.block_bytes(), 0);
    if (standing) space = within(space, *standing);
  };
  hold({SubjectKind::kFilesystem, 0});
  if (!at) return space;
  SYMNAS_ASSIGN(const Node node, require_node(context_, *at));
  if (node.record.tree() != 0) hold({SubjectKind::kTree, node.record.tree()});
  return space;
}
Result<std::optional<QuotaStanding>> ClusterMount::quota_of(const Credentials& who,
                                                            const Subject& subject) {
  using Answer = Result<std::optional<QuotaStanding>>;
  if (const Status may = may_ask(who, subject); !may)
    return gated(Answer(tl::unexpected(may.error())));
  return gated(Answer(standing_of(*parts_.usage, subject, parts_.claim.filesystem.block_bytes(),
                                  parts_.session->next_time_ns())));
}
Result<Attributes> ClusterMount::resolve(const std::string& path) {
  return gated(fs::resolve(context_, path));
}

Result<std::optional<Handle>> ClusterMount::done_before(const Call& call) {
  SYMNAS_ASSIGN(const std::optional<Done> done, parts_.replies->find(call));
  if (!done) return std::optional<Handle>();
  return std::optional<Handle>(Handle{context_.fs, done->ino, done->generation});
}

void ClusterMount::opened(const Handle& handle) { open_files_.opened(handle.ino); }

void ClusterMount::closed(const Handle& handle) {
  const OpenFiles::Closed closed = open_files_.closed(handle.ino);
  if (!parts_.membership->is_sole()) {
    orphan_watch_->wake();
  } else if (closed == OpenFiles::Closed::kLastOfOrphan) {
    sweep_->last_closed(handle.ino);
  }
}

Result<ShareAnswer> ClusterMount::share(const Handle& handle, ShareMode before, ShareMode after,
                                        bool is_reclaim) {
  // Nobody is told the answer to a change that only gives something up: it needs no gate.
  if (contains(before, after)) return shares_->change(handle.ino, before, after, is_reclaim);
  // A file may have been made with an open that denies something.
  SYMNAS_ASSIGN(const std::optional<Node> node, find_node(context_, handle.ino));
  const bool is_own = handle.generation.value() == parts_.claim.id.value() ||
                      parts_.membership->enter().sole();  // then no other mount makes files
  if (node && !is_own && !shares_->has_heard_of(node->mod_revision)) return ShareAnswer::kLater;
  return gated(shares_->change(handle.ino, before, after, is_reclaim));
}
bool ClusterMount::is_denied(const Handle& handle, std::uint8_t bits) const {
  return shares_->is_denied(handle.ino, bits);
}

void ClusterMount::read(const Handle& handle, FileOffset offset, std::size_t bytes,
                        ReadCallback done) {
  access_times_.note(handle.ino);
  parts_.data->read(handle, offset, bytes, gated(std::move(done)));
}
void ClusterMount::write(const Handle& handle, FileOffset offset, std::span<const std::byte> data,
                         WriteStability wanted, WriteCallback done) {
  parts_.data->write(handle, offset, data, wanted, gated(std::move(done)));
}
void ClusterMount::commit(const Handle& handle, StatusCallback done) {
  parts_.data->commit(handle, gated(std::move(done)));
}
Status ClusterMount::allocate(const Handle& handle, FileOffset offset, std::uint64_t bytes) {
  return gated(parts_.data->allocate(handle, offset, bytes));
}
Status ClusterMount::deallocate(const Handle& handle, FileOffset offset, std::uint64_t bytes) {
  return gated(parts_.data->deallocate(handle, offset, bytes));
}
Result<std::optional<Sought>> ClusterMount::seek(const Handle& handle, FileOffset offset,
                                                 Content content) {
  return gated(parts_.data->seek(handle, offset, content));
}

}  // namespace symnas::fs
