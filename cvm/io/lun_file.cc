#include "cvm/io/lun_file.h"

#include <fmt/core.h>

#include "cvm/label_io.h"
#include "cvm/ofd_lock.h"

namespace symnas::cvm {
namespace {

Status check_label(const LunDevice& device, const LunFileOptions& options) {
  const auto refuse = [&](ErrorCode code, const std::string& why) {
    return fail(code, fmt::format("lun {} at {}: {}", options.name, device.path(), why));
  };
  const Result<LabelCopies> copies = read_label(device);
  if (!copies) return refuse(copies.error().code, copies.error().message);
  const LunLabel& label = copies->label;
  if (label.lun != options.lun)
    return refuse(
        ErrorCode::kForeign,
        fmt::format("its label says LUN {} ({}), wanted {}: has the path moved? scan again",
                    label.name, label.lun.to_string(), options.lun.to_string()));
  if (!label.volume.is_nil() && label.volume != options.volume)
    return refuse(ErrorCode::kForeign,
                  fmt::format("its label says it belongs to volume {}, not {}",
                              label.volume.to_string(), options.volume.to_string()));
  if (label.size_bytes < 2 * kReservedBytes + options.data_bytes)
    return refuse(ErrorCode::kCorrupt,
                  fmt::format("it is labelled with {} bytes, the volume needs {}", label.size_bytes,
                              2 * kReservedBytes + options.data_bytes));
  if (device.logical_block_bytes() > label.logical_block_bytes)
    return refuse(ErrorCode::kCorrupt,
                  fmt::format("its logical blocks have {} bytes, it was labelled with {}",
                              device.logical_block_bytes(), label.logical_block_bytes));
  return {};
}

}  // namespace

Result<std::unique_ptr<LunFile>> LunFile::open(const LunFileOptions& options) {
  SYMNAS_ASSIGN(LunDevice device, LunDevice::open(options.path, Access::kWrite, options.direct));
  if (Status held = hold_ofd_byte(device.fd(), options.ofd_byte); !held)
    return fail(held.error().code,
                fmt::format("lun {} at {}: {}", options.name, device.path(), held.error().message));
  SYMNAS_TRY(check_label(device, options));
  std::unique_ptr<LunFile> file(new LunFile);
  file->name_ = options.name;
  file->path_ = device.path();
  file->logical_block_bytes_ = device.logical_block_bytes();
  file->fd_ = device.take_fd();
  return file;
}

void LunFile::account(IoKind kind, std::uint64_t bytes, std::int64_t latency_ns, int error_number) {
  constexpr auto relaxed = std::memory_order_relaxed;
  switch (kind) {
    case IoKind::kRead:
      counters_.reads.fetch_add(1, relaxed);
      counters_.read_bytes.fetch_add(bytes, relaxed);
      break;
    case IoKind::kWrite:
      counters_.writes.fetch_add(1, relaxed);
      counters_.write_bytes.fetch_add(bytes, relaxed);
      break;
    case IoKind::kFlush: counters_.flushes.fetch_add(1, relaxed); break;
    case IoKind::kNone: return;
  }
  if (error_number != 0) counters_.errors.fetch_add(1, relaxed);
  const auto latency_us = static_cast<std::uint64_t>(latency_ns / 1000);
  counters_.latency_us_total.fetch_add(latency_us, relaxed);
  std::uint64_t max = counters_.latency_us_max.load(relaxed);
  while (latency_us > max && !counters_.latency_us_max.compare_exchange_weak(max, latency_us)) {
  }
}

LunCounters LunFile::counters() const {
  constexpr auto relaxed = std::memory_order_relaxed;
  return {.name = name_,
          .reads = counters_.reads.load(relaxed),
          .writes = counters_.writes.load(relaxed),
          .flushes = counters_.flushes.load(relaxed),
          .read_bytes = counters_.read_bytes.load(relaxed),
          .write_bytes = counters_.write_bytes.load(relaxed),
          .errors = counters_.errors.load(relaxed),
          .latency_us_total = counters_.latency_us_total.load(relaxed),
          .latency_us_max = counters_.latency_us_max.load(relaxed)};
}

}  // namespace symnas::cvm
