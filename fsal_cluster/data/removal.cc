// Removal of a file's data together with its inode record.
#include "fsal_cluster/data/file_remover.h"
#include "fsal_cluster/data/reverse_frees.h"
#include "fsal_cluster/data/wait_for.h"

namespace symnas::fs {
namespace {

// The entries of the reverse map that go with a map in the inode record.
std::vector<ReverseChange> erases_of(const records::Inode& record) {
  std::vector<ReverseChange> out;
  if (record.chunked()) return out;
  for (const records::Extent& extent : record.extents())
    out.push_back({extent.volume_block(), extent.file_block(), extent.blocks(), 0});
  return out;
}

}  // namespace

struct FileRemover::RemovalPlan {
  FilePtr file;
  std::optional<Membership::Stay> stay;
  std::optional<FreeIntent> free;     // recorded extents that the removing transaction frees
  std::optional<ReverseFrees> frees;  // which of `changes` it leaves
  std::vector<ReverseChange> changes;
  std::optional<records::Orphan> orphan;  // tells the sweep what else to free
};

Result<FileData::Removal> FileRemover::plan_removal(const Handle& handle,
                                                    const records::Inode& record) {
  const RunningOperation running(context_.running);
  if (record.type() != static_cast<std::uint32_t>(FileType::kRegular)) {
    FileData::Removal none;
    none.ino = handle.ino;
    return none;
  }
  ReverseFrees frees(context_, handle.ino, MapGeneration{record.map_generation()});
  bool refused = false;
  if (const FilePtr f = table_.find(handle.ino)) {
    const MutexLock lock(f->mutex);
    refused = f->removal_refused;
  }
  // Perhaps the reverse map gives some of its blocks to another file.
  if (refused) SYMNAS_TRY(frees.look(erases_of(record)));
  return wait_for(plan_removal_task(handle, record, frees));
}

Task<Result<FileData::Removal>> FileRemover::plan_removal_task(Handle handle,
                                                               const records::Inode& record,
                                                               const ReverseFrees& frees) {
  const auto plan = std::make_shared<RemovalPlan>();
  plan->file = table_.file(handle.ino);
  FileState& f = *plan->file;
  const Status entered = co_await tokens_.enter_owned(f, handle, plan->stay);
  if (!entered) {
    table_.forget_unused(plan->file);
    co_return tl::unexpected(entered.error());
  }
  FileData::Removal removal;
  removal.ino = f.ino;
  removal.plan = plan;
  removal.writes.push_back(kv::erase(context_.token_key(f.ino)));
  // A map generation above the first means that chunks of earlier ones may not have been swept yet.
  if (record.chunked() || record.map_generation() > 0) {
    records::Orphan orphan;
    orphan.set_generation(record.generation());
    orphan.set_map_generation(record.map_generation());
    removal.writes.push_back(
        kv::put(kv::keys::orphan(context_.options.fs, f.ino), orphan.SerializeAsString()));
    plan->orphan = orphan;
  }
  kv::Mutation erases;
  std::vector<BlockRun> freed;
  plan->changes = erases_of(record);
  plan->frees.emplace(frees);
  for (const ReverseChange& change : plan->changes)
    freed.push_back({change.volume_block, change.old_blocks});
  plan->free.emplace(*context_.space, frees.add(plan->changes, freed, erases));
  removal.compares = std::move(erases.compares);
  for (kv::Op& op : erases.writes) removal.writes.push_back(std::move(op));
  co_return removal;
}

void FileRemover::removed(FileData::Removal removal) {
  const auto plan = std::static_pointer_cast<RemovalPlan>(removal.plan);
  if (!plan) return;
  const RunningOperation running(context_.running);
  FileState& f = *plan->file;
  std::vector<BlockRun> never_recorded;
  {
    const MutexLock lock(f.mutex);
    f.removed = true;
    f.version = table_.next_version();
    f.unrecorded.dirty = false;
    f.listed = false;
    token_gone(f);
    never_recorded = f.map.unrecorded();
    f.map.clear();  // an operation that finds the file in a list must not return them again
    context_.attention.remove(f.ino);
  }
  for (const BlockRun& run : never_recorded) context_.space->release(run);
  if (plan->free) plan->free->committed();
  if (plan->frees) plan->frees->log_left(plan->changes);
  if (plan->orphan) sweeper_.sweep_in_background(f.ino, *plan->orphan, 0);
  leave_exclusive(f);
  removal.plan.reset();
  const FilePtr file = plan->file;
  plan->file.reset();
  table_.forget_unused(file);
}

void FileRemover::abandoned(FileData::Removal removal) {
  const auto plan = std::static_pointer_cast<RemovalPlan>(removal.plan);
  if (!plan) return;
  const RunningOperation running(context_.running);
  {
    const MutexLock lock(plan->file->mutex);
    plan->file->removal_refused = true;
  }
  leave_exclusive(*plan->file);
}

}  // namespace symnas::fs
