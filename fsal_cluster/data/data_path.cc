#include "fsal_cluster/data/data_path.h"

#include <fmt/core.h>

#include "common/base/log.h"

namespace symnas::fs {

DataPath::DataPath(kv::Session& session, const env::Clock& clock,
                   std::shared_ptr<cvm::VolumeIo> volume, std::unique_ptr<Background> background,
                   FileDataOptions options)
    : session_(session),
      clock_(clock),
      volume_(std::move(volume)),
      options_(std::move(options)),
      background_(std::move(background)) {}

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
  if (self->options_.membership != nullptr && self->options_.tokens != nullptr) {
    self->membership_ = self->options_.membership;
    self->tokens_ = self->options_.tokens;
    self->tokens_->listen([self](Ino ino, TokenSight::Want /*want*/) {
      self->background_->post([self, ino] { self->answer_want(ino); });
    });
  }
  SpaceOptions space;
  space.fs = self->options_.fs;
  space.mount = self->options_.mount;
  space.group_blocks = self->options_.group_blocks;
  space.volume_blocks = [self] { return self->volume_->size_bytes() / kBlockBytes; };
  space.return_reservations = [self] { return self->return_reservations(); };
  space.membership = self->options_.membership;
  space.peers = self->options_.peers;
  space.frees_pending = [self] { return self->sweeps_.load() > 0; };
  SYMNAS_ASSIGN(self->space_, Space::open(session, clock, *self->background_, std::move(space)));
  self->arm_tick();
  return data;
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
  running_.wait_for_operations();
  background_->stop();
}

void DataPath::stop_waiting() {
  closing_ = true;
  if (tokens_ != nullptr) tokens_->stop();
}

void DataPath::failed_for_good(const Error& error) {
  if (failed_.exchange(true)) return;
  log::error("file data cannot be made stable: {}", error.message);
  if (options_.on_failed_flush) options_.on_failed_flush(error);
}

std::optional<Overlay> DataPath::overlay(Ino ino) {
  auto foreign = foreign_writes(ino);
  const FilePtr f = find_file(ino);
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
  SYMNAS_ASSIGN(const Space::Use use, space_->use());
  SpaceUse out;
  out.total_bytes = use.total_blocks * kBlockBytes;
  out.free_bytes = use.free_blocks * kBlockBytes;
  return out;
}

}  // namespace symnas::fs
