// Removal of a file's data together with its inode record.
#include "fsal_cluster/data/data_path.h"

namespace symnas::fs {

struct DataPath::RemovalPlan {
  FilePtr file;
  std::optional<Membership::Stay> stay;
  std::optional<FreeIntent> free;         // recorded extents that the removing transaction frees
  std::optional<records::Orphan> orphan;  // tells the sweep what else to free
};

Result<FileData::Removal> DataPath::plan_removal(const Handle& handle,
                                                 const records::Inode& record) {
  const RunningOperation running(running_);
  if (record.type() != static_cast<std::uint32_t>(FileType::kRegular)) {
    Removal none;
    none.ino = handle.ino;
    return none;
  }
  return wait_for(plan_removal_task(handle, record));
}

Task<Result<FileData::Removal>> DataPath::plan_removal_task(Handle handle,
                                                            const records::Inode& record) {
  const auto plan = std::make_shared<RemovalPlan>();
  plan->file = file(handle.ino);
  FileState& f = *plan->file;
  const Status entered = co_await enter_owned(f, handle, plan->stay);
  if (!entered) {
    forget_unused(plan->file);
    co_return tl::unexpected(entered.error());
  }
  Removal removal;
  removal.ino = f.ino;
  removal.plan = plan;
  removal.writes.push_back(kv::erase(token_key(f.ino)));
  // A map generation above the first means that chunks of earlier ones may not have been swept yet.
  if (record.chunked() || record.map_generation() > 0) {
    records::Orphan orphan;
    orphan.set_generation(record.generation());
    orphan.set_map_generation(record.map_generation());
    removal.writes.push_back(
        kv::put(kv::keys::orphan(options_.fs, f.ino), orphan.SerializeAsString()));
    plan->orphan = orphan;
  }
  if (!record.chunked()) {
    std::vector<BlockRun> freed;
    for (const records::Extent& extent : record.extents()) {
      removal.writes.push_back(kv::erase(space_->reverse_key(extent.volume_block())));
      freed.push_back({extent.volume_block(), extent.blocks()});
    }
    plan->free.emplace(*space_, std::move(freed));
  }
  co_return removal;
}

void DataPath::removed(Removal removal) {
  const auto plan = std::static_pointer_cast<RemovalPlan>(removal.plan);
  if (!plan) return;
  const RunningOperation running(running_);
  FileState& f = *plan->file;
  std::vector<BlockRun> never_recorded;
  {
    const MutexLock lock(f.mutex);
    f.removed = true;
    f.version = next_version_.fetch_add(1);
    f.unrecorded.dirty = false;
    f.listed = false;
    token_gone(f);
    never_recorded = f.map.unrecorded();
    f.map.clear();  // an operation that finds the file in a list must not return them again
    attention_.remove(f.ino);
  }
  for (const BlockRun& run : never_recorded) space_->release(run);
  if (plan->free) plan->free->committed();
  if (plan->orphan) sweep_in_background(f.ino, *plan->orphan, 0);
  leave_exclusive(f);
  removal.plan.reset();
  const FilePtr file = plan->file;
  plan->file.reset();
  forget_unused(file);
}

void DataPath::abandoned(Removal removal) {
  const auto plan = std::static_pointer_cast<RemovalPlan>(removal.plan);
  if (!plan) return;
  const RunningOperation running(running_);
  leave_exclusive(*plan->file);
}

}  // namespace symnas::fs
