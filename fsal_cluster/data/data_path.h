// DataPath: implements FileData over a session, a volume and the pure parts of this folder. One
// file per operation: read.cc, write.cc, commit.cc, allocate.cc, deallocate.cc, seek.cc,
// set_size.cc, set_times.cc, removal.cc, sweep.cc, recover.cc; files.cc holds the table of files,
// attention.cc what the timer does.
//
// Thread class: thread-safe. Locks: table shard -> file -> space or attention list; nothing of the
// session, the volume or Background that may call back is called under one of them (Session::peek
// may be).
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <future>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/base/thread_annotations.h"
#include "common/base/waiting.h"
#include "common/kv/keys.h"
#include "fsal_cluster/data/attention_list.h"
#include "fsal_cluster/data/file_data.h"
#include "fsal_cluster/data/file_state.h"
#include "fsal_cluster/data/limits.h"
#include "fsal_cluster/data/running.h"
#include "fsal_cluster/data/task.h"
#include "fsal_cluster/space/background.h"
#include "fsal_cluster/space/space.h"

namespace symnas::fs {

// IoPin: while one lives, one I/O counts as running (INV-6).
class IoPin {
 public:
  explicit IoPin(Space& space) : space_(space), ticket_(space.begin_io()) {}
  ~IoPin() { space_.end_io(ticket_); }
  IoPin(const IoPin&) = delete;
  IoPin& operator=(const IoPin&) = delete;

 private:
  Space& space_;
  const Quiescence::Ticket ticket_;
};

class DataPath final : public FileData {
 public:
  using FilePtr = std::shared_ptr<FileState>;

  // As FileData::open; `background` is the caller's in tests.
  static Result<std::unique_ptr<DataPath>> open(kv::Session& session, const env::Clock& clock,
                                                std::shared_ptr<cvm::VolumeIo> volume,
                                                std::unique_ptr<Background> background,
                                                FileDataOptions options);
  ~DataPath() override;

  std::optional<Overlay> overlay(Ino ino) override;
  Result<kv::Committed> set_size(const Handle& handle, std::uint64_t size_bytes, MtimeIs mtime,
                                 std::function<Status(records::Inode&)> edit,
                                 std::optional<kv::Op> also = std::nullopt) override;
  Result<kv::Committed> set_times(const Handle& handle, std::function<Status(records::Inode&)> edit,
                                  std::optional<kv::Op> also = std::nullopt) override;
  Result<Removal> plan_removal(const Handle& handle, const records::Inode& record) override;
  void removed(Removal removal) override;
  void abandoned(Removal removal) override;
  void read(const Handle& handle, FileOffset offset, std::size_t bytes, ReadCallback done) override;
  void write(const Handle& handle, FileOffset offset, std::span<const std::byte> data,
             WriteStability wanted, WriteCallback done) override;
  void commit(const Handle& handle, StatusCallback done) override;
  Status allocate(const Handle& handle, FileOffset offset, std::uint64_t bytes) override;
  Status deallocate(const Handle& handle, FileOffset offset, std::uint64_t bytes) override;
  Result<std::optional<Sought>> seek(const Handle& handle, FileOffset offset,
                                     Content content) override;
  Status flush_all() override;
  Result<SpaceUse> space() override;
  Status sweep_orphan(Ino ino, const records::Orphan& orphan) override;
  Status recover_ended_mount(MountId ended) override;
  SpaceAnnouncement announcement() override { return space_->announcement(); }
  std::vector<kv::Op> tokens_at_create(Ino ino) override;
  void created(Ino ino) override;
  Status publish_foreign(Ino ino) override;
  void turned_sole() override;
  std::vector<records::FileInUse> files_in_use() override;
  void fetch(const std::vector<records::FileInUse>& files) override;
  void stop_fetching() override;
  void stop_waiting() override;

  // One round of what timers do; the data path calls it every kTickNs.
  void tick();

 private:
  struct Edit {
    std::function<Status(records::Inode&)> inode;
    std::optional<kv::Op> also;
    void add_to(kv::Mutation& mutation) const {
      if (also) mutation.writes.push_back(*also);
    }
  };
  // An inode record and its mod_revision.
  struct InodeRecord {
    records::Inode inode;
    Revision revision;
  };
  // One part of a WRITE on the volume.
  struct WritePart {
    bool fill = false;  // these blocks are written for the first time
    std::uint64_t volume_byte = 0;
    std::uint64_t begin = 0;  // bytes of the file
    std::uint64_t end = 0;
  };
  using WritePlan = std::vector<WritePart>;
  // What a WRITE must lock, up to its last block, as the file is now.
  struct WriteLock {
    RangeLock::Mode mode = RangeLock::Mode::kExclusive;
    std::uint64_t first_block = 0;
    std::optional<std::uint64_t> zero_from;  // the size, if the bytes behind it must be zeroed
  };
  // Whether an operation may go on as it is.
  enum class Go : std::uint8_t {
    kOn,
    kAgain,        // something that the operation relied on has changed: enter again
    kWithAll,      // the operation needs X, and must enter again then
    kWithPublish,  // the X holder must publish first
  };
  // One attempt of a READ or WRITE.
  struct Attempt {
    bool sole = true;  // whether its stay is sole
    Go go = Go::kOn;
    std::uint64_t life = 0;  // FileState::life when the file was found current
    bool published = false;  // a publish has been asked for since the operation began
    // When the record was read another mount may have acknowledged more than the record says.
    bool unrecorded = false;
  };
  struct CommitWork {
    std::vector<MapStep> steps;
    std::uint64_t size_bytes = 0;
    bool chunked = false;
    bool dirty = false;
    bool made_up = false;
    std::int64_t mtime_ns = 0;
    std::uint64_t writes_seen = 0;
    bool drop = false;
    bool flush = false;
    bool transaction = false;
  };
  struct SizeChange;
  struct RemovalPlan;

  DataPath(kv::Session& session, const env::Clock& clock, std::shared_ptr<cvm::VolumeIo> volume,
           std::unique_ptr<Background> background, FileDataOptions options);

  // --- files.cc
  FilePtr file(Ino ino);
  FilePtr find_file(Ino ino);
  void forget_unused(const FilePtr& f);
  void evict_idle();
  // Takes the I/O lock and loads the file. On error nothing is held.
  Task<Status> enter_shared(FileState& f, const Handle& handle, Turn& turn);
  Task<Status> enter_exclusive(FileState& f, const Handle& handle, Turn& turn);
  void leave_shared(FileState& f);
  void leave_exclusive(FileState& f);
  Task<Status> load(FileState& f, const Handle& handle);
  // `values`: the record and the own token, as they were read while FileState::life was `life`.
  Status adopt_record(FileState& f, const Handle& handle, std::uint64_t life,
                      const std::vector<kv::CachedValue>& values) REQUIRES(f.mutex);
  // REQUIRES: nothing of the map is uncommitted.
  void forget_map(FileState& f) REQUIRES(f.mutex);
  // Chunks that are being loaded, and the FileState::life of the map that they belong to.
  struct ChunkLoad {
    std::uint64_t life = 0;
    std::vector<std::uint64_t> wanted;
    std::vector<kv::CachedValue> values;
  };
  // Brings the chunks of [first_block, end_block) into the map. `tokenless`: a READ that may have
  // no token. For such a READ chunks enter only if they are of the same moment as the record; else
  // the READ must begin again (Go::kAgain). REQUIRES: entered.
  Task<Status> load_chunks(FileState& f, std::uint64_t first_block, std::uint64_t end_block,
                           Attempt* tokenless = nullptr);
  Task<Status> read_chunks(FileState& f, std::uint64_t first_block, std::uint64_t end_block,
                           ChunkLoad& load);
  Status take_chunks(FileState& f, const ChunkLoad& load) REQUIRES(f.mutex);
  Task<Result<InodeRecord>> read_inode(FileState& f);
  Task<Result<kv::Committed>> commit_mutation(kv::Mutation& mutation);
  Task<Status> pause_after_conflict(FileState& f, int round);

  // --- read.cc
  Detached read_operation(Handle handle, std::uint64_t offset, std::size_t bytes,
                          ReadCallback done);
  struct ReadPlan;
  Task<Result<ReadResult>> read_entered(FileState& f, const Handle& handle, Attempt& attempt,
                                        std::uint64_t offset, std::size_t bytes);
  // Beside other mounts: makes size and map those of a moment after the call, unless a token keeps
  // them current.
  Task<Status> make_current(FileState& f, const Handle& handle, Attempt& attempt);
  Task<Status> locate(FileState& f, Attempt& attempt, ReadPlan& plan);
  // Counts a READ without a token; true when a token would be cheaper for the next one.
  bool reads_often(FileState& f);

  // --- write.cc
  Detached write_operation(Handle handle, std::uint64_t offset, std::span<const std::byte> data,
                           WriteStability wanted, WriteCallback done);
  Task<Status> write_entered(FileState& f, Attempt& attempt, std::uint64_t offset,
                             std::span<const std::byte> data, WriteStability wanted);
  Task<Status> write_flagged(FileState& f, Attempt& attempt, std::uint64_t offset,
                             std::span<const std::byte> data, WriteStability wanted);
  Task<Status> write_locked(FileState& f, std::uint64_t offset, std::span<const std::byte> data,
                            WriteStability wanted, std::optional<std::uint64_t> zero_from);
  WriteLock choose_lock(const FileState& f, std::uint64_t offset, std::uint64_t end) const
      REQUIRES(f.mutex);
  Task<Status> prepare_write(FileState& f, std::uint64_t offset, std::uint64_t end, WritePlan& plan,
                             std::optional<IoPin>& pin);
  Task<Status> wait_for_room(FileState& f);
  Task<Status> submit_write(std::uint64_t offset, std::span<const std::byte> data,
                            WriteStability wanted, const WritePlan& plan);
  Task<Status> finish_write(FileState& f, std::uint64_t end, WriteStability wanted,
                            const WritePlan& plan);
  void abort_write(FileState& f, std::uint64_t end, const WritePlan& plan);
  Task<Status> after_write(FileState& f, WriteStability wanted);
  // Writes zeros from `size` to the end of its block. REQUIRES: `size` was the file's size when
  // that block was locked (exclusively, or by the I/O lock).
  Task<Status> zero_tail(FileState& f, std::uint64_t size);
  // Writes zeros, stable, over bytes of one block, unless they read as zeros without that.
  // REQUIRES: the block is locked.
  Task<Status> zero_bytes(FileState& f, std::uint64_t begin, std::uint64_t end);
  void end_write(FileState& f);  // what obtain_flag() has counted
  // On success f.writes.running counts the caller, and no setuid or setgid bit is left to clear.
  Task<Status> obtain_flag(FileState& f, Attempt& attempt);
  // Puts the flag, and clears setuid and setgid.
  Task<Status> set_flag(FileState& f);
  // True when the cached record has no setuid or setgid bit; the record is parsed only if it has
  // changed since the last look. False: read the record.
  bool known_unprivileged(FileState& f);
  Task<Status> clear_privileges(FileState& f);
  Task<Status> wait_for_trim(FileState& f, std::uint64_t end);

  // --- allocate.cc
  // Runs `change` with the bytes [offset, offset + bytes) of a file that it has to itself, the
  // write flag set and nothing pending.
  using SpaceChange = Task<Status> (DataPath::*)(FileState& f, std::uint64_t offset,
                                                 std::uint64_t end);
  Status change_space(const Handle& handle, std::uint64_t offset, std::uint64_t bytes,
                      SpaceChange change);
  Task<Status> change_space_task(Handle handle, std::uint64_t offset, std::uint64_t end,
                                 SpaceChange change);
  Task<Status> allocate_owned(FileState& f, std::uint64_t offset, std::uint64_t end);
  // Reserves what is missing of the blocks [first, last) in memory; answers how far it has come.
  Task<Result<std::uint64_t>> reserve_blocks(FileState& f, std::uint64_t first, std::uint64_t last);
  // kNoSpace when more blocks behind the end of the file are wanted than the volume has free.
  Task<Status> expect_room(FileState& f, std::uint64_t first, std::uint64_t last);

  // --- deallocate.cc
  Task<Status> deallocate_owned(FileState& f, std::uint64_t offset, std::uint64_t end);
  Task<Status> punch_blocks(FileState& f, std::uint64_t first, std::uint64_t last);
  Task<Status> commit_punch(FileState& f, const FileMap::Cut& cut);

  // --- seek.cc
  Task<Result<std::optional<Sought>>> seek_task(Handle handle, std::uint64_t offset,
                                                Content content);
  Task<Result<std::optional<Sought>>> seek_entered(FileState& f, const Handle& handle,
                                                   Attempt& attempt, std::uint64_t offset,
                                                   Content content);
  // The first block of [block, end) whose chunk has blocks and is in memory, and that is mapped;
  // `end` if none. `tokenless` as for load_chunks().
  Task<Result<std::uint64_t>> next_mapped(FileState& f, std::uint64_t block, std::uint64_t end,
                                          Attempt* tokenless);

  // --- commit.cc
  Detached commit_operation(Handle handle, StatusCallback done);
  // Commits what is written now, together with other callers that come meanwhile. REQUIRES:
  // entered.
  Task<Status> commit_file(FileState& f, DropFlag drop);
  // Commits until memory has nothing that the records do not have; the token stays. REQUIRES:
  // entered exclusively, and owned.
  Task<Status> commit_everything(FileState& f);
  Detached commit_runner(FilePtr f);
  std::vector<FilePtr> files_with_tokens();
  Task<Status> commit_once(FileState& f, DropFlag drop, bool times);
  CommitWork begin_commit(FileState& f, DropFlag drop, bool times) REQUIRES(f.mutex);
  void end_commit(FileState& f, const CommitWork& work, const Status& outcome);
  Task<Status> commit_step(FileState& f, const CommitWork& work, std::size_t index);
  kv::Mutation step_mutation(FileState& f, const CommitWork& work, std::size_t index,
                             InodeRecord& record);
  void add_reverse_changes(const std::vector<ReverseChange>& changes, Ino ino,
                           MapGeneration generation, kv::Mutation& mutation) const;
  void add_chunk_values(const std::vector<MapStep::ChunkValue>& chunks, FileState& f,
                        kv::Mutation& mutation) const REQUIRES(f.mutex);

  // --- set_size.cc
  Task<Result<kv::Committed>> set_size_task(Handle handle, std::uint64_t size_bytes, MtimeIs mtime,
                                            Edit& edit);
  Task<Result<kv::Committed>> set_size_entered(FileState& f, std::uint64_t size_bytes,
                                               MtimeIs mtime, Edit& edit);
  Task<Status> plan_shrink(FileState& f, SizeChange& change);
  Task<Result<kv::Committed>> commit_size(FileState& f, SizeChange& change, Edit& edit);
  kv::Mutation size_mutation(FileState& f, const SizeChange& change, InodeRecord& record);
  void apply_size(FileState& f, const SizeChange& change, const kv::Committed& committed);

  // --- set_times.cc
  // begin_drop() is called before a transaction of the caller that erases the token, end_drop()
  // after it. REQUIRES: entered exclusively. kNothing: the flag is clear; erase_unused_tokens() may
  // begin a drop of its own meanwhile.
  enum class Drop { kNothing, kBegun };
  Task<Drop> begin_drop(FileState& f);
  void end_drop(FileState& f, Drop drop, const Result<kv::Committed>& outcome);
  Task<Result<kv::Committed>> set_times_task(Handle handle, Edit& edit);
  Task<Result<kv::Committed>> set_times_entered(FileState& f, Edit& edit);
  Task<Result<kv::Committed>> commit_times(FileState& f, Edit& edit);

  // --- removal.cc
  Task<Result<Removal>> plan_removal_task(Handle handle, const records::Inode& record);

  // --- sweep.cc (blocking; background threads)
  Status sweep_map_keys(kv::KeyRange range, const std::optional<kv::Compare>& guard);
  Status sweep_chunk(const kv::KeyValue& chunk, const std::optional<kv::Compare>& guard);
  Status sweep_above(Ino ino, const records::Inode& inode, const kv::Compare& guard);
  Status finish_trim(Ino ino);
  Result<bool> forget_watermark(Ino ino);
  Result<std::uint64_t> count_used_blocks(Ino ino, MapGeneration generation);
  Status erase_orphan(Ino ino, std::uint32_t map_generation);
  void sweep_in_background(Ino ino, records::Orphan orphan, int attempt);

  // --- recover.cc
  Status flush_volume();  // blocks
  Status erase_wants(MountId ended);
  Detached bump_operation(Ino ino, Revision token_revision, MountId owner, StatusCallback done);
  Task<Status> bump(Ino ino, Revision token_revision, MountId owner);

  // --- tokens.cc
  // What the token is for. A token for writing brings the write flag.
  enum class TokenUse : std::uint8_t { kRead, kWrite };
  // Gets a token of at least `needed`, however long the present holders take. The token may be gone
  // again on return. REQUIRES: not entered.
  Task<Status> obtain_token(FileState& f, TokenMode needed, TokenUse use);
  Task<Status> acquire_token(FileState& f, TokenMode needed, TokenUse use);
  Task<Result<std::optional<Revision>>> put_want(Ino ino, records::WantRecord::Kind kind);
  Task<Status> erase_want(Ino ino, Revision revision);
  // Erases this mount's want, if there is one: the operation that asked was refused, and other
  // mounts wait until the want is gone.
  Detached withdraw_want(Ino ino);
  // False: another mount was faster.
  Task<Result<bool>> grant_token(FileState& f, const TokenSight& sight, TokenMode needed,
                                 TokenUse use);
  // As enter_exclusive(), with every right on the file; `stay` keeps that right.
  Task<Status> enter_owned(FileState& f, const Handle& handle,
                           std::optional<Membership::Stay>& stay);
  void token_gone(FileState& f) REQUIRES(f.mutex);
  Detached answer_want(Ino ino);
  // Records everything and erases the token. REQUIRES: not entered.
  Task<Status> give_token_back(FileState& f);
  Task<Status> record_acknowledged(FileState& f);
  Detached return_token(FilePtr f, StatusCallback done);
  Task<Status> publish(FileState& f);
  Detached publish_runner(FilePtr f);
  Task<Status> ask_to_publish(Ino ino);
  Task<Status> pass_barrier();
  // Waits until no transaction is dropping the flag.
  Task<Woken> dropped_flag(FileState& f);
  Task<Woken> changed(Ino ino, const TokenSight& seen);
  Task<Woken> pause(std::int64_t span_ns);
  std::optional<Overlay::ForeignWrites> foreign_writes(Ino ino);

  // --- in_use.cc
  Detached fetch_file(records::FileInUse file);
  Task<Woken> take_free_token(FileState& f, bool alone);

  // --- attention.cc
  void list(FileState& f) REQUIRES(f.mutex);
  void arm_tick();
  void attend(const FilePtr& f, std::int64_t now_ns);
  Detached commit_idle(FilePtr f, DropFlag drop, StatusCallback done);
  void trim_reservations(FileState& f) REQUIRES(f.mutex);
  bool return_reservations();
  void erase_unused_tokens(std::int64_t before_ns, const StatusCallback& done);
  Detached erase_tokens(std::vector<FilePtr> files, StatusCallback done);

  void failed_for_good(const Error& error);
  std::string inode_key(Ino ino) const { return kv::keys::inode(options_.fs, ino); }
  std::string token_key(Ino ino) const { return kv::keys::token(options_.fs, ino, options_.mount); }

  using CreatedToken = AttentionList::CreatedToken;
  struct Shard {
    Mutex mutex;
    std::unordered_map<Ino, FilePtr> files GUARDED_BY(mutex);
  };
  // How often changes and times of other mounts were made up (Overlay::ForeignWrites).
  struct Looks {
    Mutex mutex;                            // leaf
    Revision applied GUARDED_BY(mutex);     // of the last look
    std::uint32_t n GUARDED_BY(mutex) = 0;  // under that revision
  };

  kv::Session& session_;
  const env::Clock& clock_;
  const std::shared_ptr<cvm::VolumeIo> volume_;
  const FileDataOptions options_;
  std::unique_ptr<Background> background_;
  Membership always_sole_{Membership::Mode::kSole};
  Membership* membership_ = &always_sole_;
  TokenTable* tokens_ = nullptr;
  Looks looks_;
  std::unique_ptr<Space> space_;
  std::array<Shard, kFileTableShards> shards_;
  std::atomic<std::size_t> file_count_{0};
  std::atomic<std::uint64_t> next_version_{1};
  std::atomic<int> sweeps_{0};
  std::atomic<bool> failed_{false};
  std::atomic<bool> closing_{false};
  AttentionList attention_;
  Running running_;
};

template <class T>
Detached deliver_to(Task<T> task, std::shared_ptr<std::promise<T>> promise) {
  promise->set_value(co_await task);
}
// Blocks until the task has an answer. REQUIRES: not on a callback thread.
template <class T>
T wait_for(Task<T> task) {
  const auto promise = std::make_shared<std::promise<T>>();
  auto answer = promise->get_future();
  deliver_to(std::move(task), promise);
  return wait_and_get(std::move(answer));
}

}  // namespace symnas::fs
