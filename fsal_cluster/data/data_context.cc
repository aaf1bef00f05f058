#include "fsal_cluster/data/data_context.h"

#include <utility>

#include <fmt/core.h>

#include "common/base/log.h"

namespace symnas::fs {

DataContext::DataContext(kv::Session& kv_session, const env::Clock& mount_clock,
                         std::shared_ptr<cvm::VolumeIo> volume_io, std::unique_ptr<Background> jobs,
                         FileDataOptions data_options)
    : session(kv_session),
      clock(mount_clock),
      volume(std::move(volume_io)),
      options(std::move(data_options)),
      background(std::move(jobs)),
      membership(options.tokens != nullptr && options.membership != nullptr ? options.membership
                                                                            : &always_sole),
      tokens(options.membership != nullptr ? options.tokens : nullptr) {}

void DataContext::failed_for_good(const Error& error) {
  if (failed.exchange(true)) return;
  log::error("file data cannot be made stable: {}", error.message);
  if (options.on_failed_flush) options.on_failed_flush(error);
}

Error stale(Ino ino) {
  return {ErrorCode::kStale, fmt::format("inode {} does not exist any more", ino.value())};
}

Error closing() { return {ErrorCode::kShutdown, "the mount is being closed"}; }

Task<Result<InodeRecord>> read_inode(DataContext& context, FileState& f) {
  std::vector<std::string> keys{context.inode_key(f.ino)};
  Awaited<Result<std::vector<kv::CachedValue>>> answer;
  context.session.read_async(std::move(keys), answer.callback());
  const Result<std::vector<kv::CachedValue>> values = co_await answer;
  if (!values) co_return tl::unexpected(values.error());
  if (!(*values)[0].value) co_return tl::unexpected(stale(f.ino));
  InodeRecord record;
  record.revision = (*values)[0].mod_revision;
  if (!record.inode.ParseFromString(*(*values)[0].value)) {
    co_return fail(ErrorCode::kCorrupt, fmt::format("inode {}: unreadable record", f.ino.value()));
  }
  context.session.saw_time_ns(record.inode.ctime_ns());
  co_return record;
}

Task<Result<kv::Committed>> commit_mutation(DataContext& context, kv::Mutation& mutation) {
  Awaited<Result<kv::Committed>> answer;
  context.session.commit(std::move(mutation), answer.callback());
  Result<kv::Committed> committed = co_await answer;
  co_return committed;
}

Task<Status> pause_after_conflict(DataContext& context, FileState& f, int round) {
  if (round >= kConflictRetriesMax) {
    co_return fail(
        ErrorCode::kConflict,
        fmt::format("inode {}: its records kept changing under {} tries", f.ino.value(), round));
  }
  if (round < kConflictRetriesBeforePause) co_return Status{};
  Turn turn;
  context.background->post_at(context.clock.mono_ns() + kConflictPauseNs,
                              [&turn] { turn.deliver({}); });
  co_await turn;
  co_return Status{};
}

Task<Status> pass_barrier(DataContext& context) {
  Awaited<Status> answer;
  context.session.barrier_async(answer.callback());
  Status passed = co_await answer;
  co_return passed;
}

Task<Woken> pause_for(DataContext& context, std::int64_t span_ns) {
  Turn turn;
  context.background->post_at(context.clock.mono_ns() + span_ns, [&turn] { turn.deliver({}); });
  co_await turn;
  co_return Woken{};
}

MapGeneration map_generation_of(FileState& f) {
  const MutexLock lock(f.mutex);
  return f.record.map_generation;
}

bool log_is_due(const DataContext& context, FileState& f) {
  const std::int64_t now_ns = context.clock.mono_ns();
  const MutexLock lock(f.mutex);
  if (now_ns < f.next_log_ns) return false;
  f.next_log_ns = now_ns + kFailureLogNs;
  return true;
}

void list(DataContext& context, FileState& f) {
  if (f.listed) return;
  f.listed = true;
  context.attention.add(f.ino);
}

void trim_reservations(DataContext& context, FileState& f) {
  if (!f.loaded || !f.map.idle()) return;
  for (const BlockRun& run : f.map.drop_reservations()) context.space->give_back(run);
  f.growth.tail_end_block = 0;
  f.growth.streak_blocks = 0;
}

}  // namespace symnas::fs
