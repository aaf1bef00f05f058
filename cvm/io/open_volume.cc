#include "cvm/io/open_volume.h"

#include <thread>
#include <utility>

#include <fmt/core.h>

#include "common/base/log.h"
#include "cvm/io/striped_volume.h"

namespace symnas::cvm {
namespace {

std::unique_ptr<Engine> make_engine(const OpenOptions& options) {
  if (options.engine == EngineChoice::kUring) {
    Result<std::unique_ptr<Engine>> engine = make_uring_engine(options.queue_depth);
    if (engine) return std::move(*engine);
    log::warn("volume I/O: no io_uring ({}), falling back to POSIX threads",
              engine.error().message);
  }
  return make_posix_engine(options.queue_depth);
}

// The last reference may go inside a callback, on an engine thread, and an engine thread cannot
// wait for itself.
void close_volume(StripedVolume* volume) {
  if (volume->on_engine_thread())
    std::thread([volume] { delete volume; }).detach();
  else
    delete volume;
}

}  // namespace

Result<std::shared_ptr<OpenVolume>> open_volume(const records::VolumeRecord& record,
                                                std::span<const LunPath> luns,
                                                const OpenOptions& options) {
  if (options.queue_depth < 1 || options.queue_depth > kQueueDepthMax)
    return fail(ErrorCode::kInvalidArgument, fmt::format("queue depth {}: must be 1 to {}",
                                                         options.queue_depth, kQueueDepthMax));
  SYMNAS_ASSIGN(auto volume, StripedVolume::open(record, luns, options, make_engine(options)));
  return std::shared_ptr<OpenVolume>(
      std::shared_ptr<StripedVolume>(volume.release(), close_volume));
}

}  // namespace symnas::cvm
