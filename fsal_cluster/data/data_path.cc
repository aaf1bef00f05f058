#include "fsal_cluster/data/data_path.h"

#include <utility>

#include <fmt/core.h>

namespace symnas::fs {

DataPath::DataPath(kv::Session& session, const env::Clock& clock,
                   std::shared_ptr<cvm::VolumeIo> volume, std::unique_ptr<Background> background,
                   FileDataOptions options)
    : context_(session, clock, std::move(volume), std::move(background), std::move(options)),
      table_(context_.options.group_blocks) {}

Result<std::unique_ptr<DataPath>> DataPath::open(kv::Session& session, const env::Clock& clock,
                                                 std::shared_ptr<cvm::VolumeIo> volume,
                                                 std::unique_ptr<Background> background,
                                                 FileDataOptions options) {
  if (options.block_bytes != kBlockBytes) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("filesystem {}: blocks of {} bytes are not supported, only {}",
                            options.fs.value(), options.block_bytes, kBlockBytes));
  }
  std::unique_ptr<DataPath> data(
      new DataPath(session, clock, std::move(volume), std::move(background), std::move(options)));
  DataPath* self = data.get();
  if (self->context_.tokens != nullptr) {
    self->context_.tokens->listen([self](Ino ino, TokenSight::Want /*want*/) {
      self->context_.background->post([self, ino] { self->tokens_.answer_want(ino); });
    });
  }
  SYMNAS_TRY(self->open_space());
  self->idle_files_.arm_tick();
  return data;
}

Status DataPath::open_space() {
  SpaceOptions space;
  space.fs = context_.options.fs;
  space.mount = context_.options.mount;
  space.group_blocks = context_.options.group_blocks;
  space.volume_blocks = [this] { return context_.volume->size_bytes() / kBlockBytes; };
  space.return_reservations = [this] { return idle_files_.return_reservations(); };
  space.lost_group = [this](const Error& error) { context_.failed_for_good(error); };
  space.membership = context_.options.membership;
  space.peers = context_.options.peers;
  space.frees_pending = [this] { return sweeper_.pending(); };
  SYMNAS_ASSIGN(context_.space, Space::open(context_.session, context_.clock, *context_.background,
                                            std::move(space)));
  return {};
}

Result<std::unique_ptr<FileData>> FileData::open(kv::Session& session, const env::Clock& clock,
                                                 std::shared_ptr<cvm::VolumeIo> volume,
                                                 FileDataOptions options) {
  auto background = std::make_unique<BackgroundThreads>(clock);
  auto data =
      DataPath::open(session, clock, std::move(volume), std::move(background), std::move(options));
  if (!data) return tl::unexpected(std::move(data.error()));
  return std::unique_ptr<FileData>(std::move(*data));
}

DataPath::~DataPath() {
  stop_waiting();
  context_.running.wait_for_operations();
  context_.background->stop();
}

void DataPath::stop_waiting() {
  context_.closing = true;
  if (context_.tokens != nullptr) context_.tokens->stop();
  if (context_.quotas() != nullptr) context_.quotas()->stop();
}

std::optional<Overlay> DataPath::overlay(Ino ino) {
  auto foreign = tokens_.foreign_writes(ino);
  const FilePtr f = table_.find(ino);
  if (!f) {
    if (!foreign) return std::nullopt;
    Overlay out;
    out.foreign = foreign;
    return out;
  }
  const MutexLock lock(f->mutex);
  Overlay out;
  out.foreign = foreign;
  out.version = f->version;
  if (!f->loaded) return out;
  out.dirty = f->unrecorded.dirty;
  out.size_bytes = f->size();
  out.mtime_ns = f->unrecorded.mtime_ns;
  out.change_n = f->unrecorded.change_n;
  out.change_base = f->unrecorded.change_base;
  out.used_blocks_extra = f->map.unrecorded_written_blocks();
  return out;
}

Result<SpaceUse> DataPath::space() {
  SYMNAS_ASSIGN(const Space::Use use, context_.space->use());
  SpaceUse out;
  out.total_bytes = use.total_blocks * kBlockBytes;
  out.free_bytes = use.free_blocks * kBlockBytes;
  return out;
}

void DataPath::read(const Handle& handle, FileOffset offset, std::size_t bytes, ReadCallback done) {
  reader_.read_operation(handle, offset.value(), bytes, std::move(done));
}

void DataPath::write(const Handle& handle, FileOffset offset, std::span<const std::byte> data,
                     WriteStability wanted, WriteCallback done) {
  writer_.write_operation(handle, offset.value(), data, wanted, std::move(done));
}

void DataPath::commit(const Handle& handle, StatusCallback done) {
  committer_.commit_operation(handle, std::move(done));
}

Result<std::optional<Sought>> DataPath::seek(const Handle& handle, FileOffset offset,
                                             Content content) {
  return reader_.seek(handle, offset, content);
}

Result<kv::Committed> DataPath::set_size(const Handle& handle, std::uint64_t size_bytes,
                                         MtimeIs mtime, std::function<Status(records::Inode&)> edit,
                                         std::optional<kv::Op> also) {
  return attribute_changer_.set_size(handle, size_bytes, mtime, std::move(edit), std::move(also));
}

Result<kv::Committed> DataPath::set_times(const Handle& handle,
                                          std::function<Status(records::Inode&)> edit,
                                          std::optional<kv::Op> also) {
  return attribute_changer_.set_times(handle, std::move(edit), std::move(also));
}

Status DataPath::allocate(const Handle& handle, FileOffset offset, std::uint64_t bytes) {
  return space_changer_.allocate(handle, offset, bytes);
}

Status DataPath::deallocate(const Handle& handle, FileOffset offset, std::uint64_t bytes) {
  return space_changer_.deallocate(handle, offset, bytes);
}

Result<FileData::Removal> DataPath::plan_removal(const Handle& handle,
                                                 const records::Inode& record) {
  return remover_.plan_removal(handle, record);
}

void DataPath::removed(Removal removal) { remover_.removed(std::move(removal)); }

void DataPath::abandoned(Removal removal) { remover_.abandoned(std::move(removal)); }

Status DataPath::sweep_orphan(Ino ino, const records::Orphan& orphan) {
  return sweeper_.sweep_orphan(ino, orphan);
}

Status DataPath::recover_ended_mount(MountId ended) { return recovery_.recover_ended_mount(ended); }

}  // namespace symnas::fs
