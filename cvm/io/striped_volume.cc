#include "cvm/io/striped_volume.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <functional>
#include <future>

#include <fmt/core.h>

#include "common/base/check.h"
#include "common/base/log.h"
#include "cvm/volume.h"

namespace symnas::cvm {
namespace {

// Most requests touch one or two stripe units: an 8 KiB block never more than one, 1 MiB at most
// two units of 1 MiB.
constexpr std::size_t kInlineParts = 2;

bool is_aligned(const void* memory, std::uint32_t to) {
  return reinterpret_cast<std::uintptr_t>(memory) % to == 0;
}

Error part_error(const LunIo& io, int error_number) {
  if (error_number == EBADE)
    return Error{ErrorCode::kFenced,
                 fmt::format("lun {}: reservation conflict at {}: this head has been fenced",
                             io.lun->name(), io.offset)};
  const char* const what = io.kind == IoKind::kRead    ? "read"
                           : io.kind == IoKind::kWrite ? "write"
                                                       : "flush";
  return Error{
      ErrorCode::kIo,
      fmt::format("lun {}: {} of {} bytes at {} failed: {} (errno {}); look at the device {}",
                  io.lun->name(), what, io.length_bytes, io.offset, std::strerror(error_number),
                  error_number, io.lun->path())};
}

// Opens all LUNs at the same time: each open waits for some round trips to its LUN, and clients
// wait for all opens.
Result<std::vector<std::unique_ptr<LunFile>>> open_all(const std::vector<LunFileOptions>& all) {
  std::vector<std::future<Result<std::unique_ptr<LunFile>>>> opening;
  opening.reserve(all.size());
  for (const LunFileOptions& one : all)
    opening.push_back(std::async(std::launch::async, LunFile::open, std::cref(one)));
  std::vector<std::unique_ptr<LunFile>> opened;
  for (auto& one : opening) {
    SYMNAS_ASSIGN(auto file, one.get());
    opened.push_back(std::move(file));
  }
  return opened;
}

Error shut_down_error() { return Error{ErrorCode::kShutdown, "the volume is being closed"}; }

}  // namespace

// A group of parts that is answered together.
struct StripedVolume::Request {
  struct Part : LunIo {
    Request* request = nullptr;
    int error_number = 0;
  };

  StripedVolume* volume = nullptr;
  IoCallback done;
  Status status;  // an error known before the parts run
  std::array<Part, kInlineParts> inline_parts;
  std::unique_ptr<Part[]> more_parts;
  std::size_t part_count = 0;
  std::atomic<std::size_t> pending{0};

  std::span<Part> parts() {
    return {more_parts ? more_parts.get() : inline_parts.data(), part_count};
  }
  // Makes room for `count` parts. REQUIRES: none has been added yet.
  void reserve(std::size_t count) {
    if (count > kInlineParts) more_parts = std::make_unique<Part[]>(count);
  }
  Part& add() {
    Part& part = (more_parts ? more_parts.get() : inline_parts.data())[part_count++];
    part.request = this;
    part.done = &StripedVolume::part_done;
    return part;
  }
};

Result<std::unique_ptr<StripedVolume>> StripedVolume::open(const records::VolumeRecord& record,
                                                           std::span<const LunPath> luns,
                                                           const OpenOptions& options,
                                                           std::unique_ptr<Engine> engine) {
  std::unique_ptr<StripedVolume> volume(new StripedVolume(std::move(engine), options));
  {
    const MutexLock lock(volume->grow_mutex_);
    SYMNAS_TRY(volume->adopt(record, luns));
  }
  return volume;
}

StripedVolume::StripedVolume(std::unique_ptr<Engine> engine, const OpenOptions& options)
    : options_(options), pool_(BufferPool::create()), engine_(std::move(engine)) {}

StripedVolume::~StripedVolume() { shut_down(); }

void StripedVolume::shut_down() {
  CHECK(!on_engine_thread());
  closing_.store(true);
  for (auto left = outstanding_.load(); left != 0; left = outstanding_.load())
    outstanding_.wait(left);
}

Status StripedVolume::adopt(const records::VolumeRecord& record, std::span<const LunPath> luns) {
  SYMNAS_ASSIGN(StripeMap map, stripe_map_of(record));
  const Layout* before = layout_.load(std::memory_order_acquire);
  auto next = std::make_unique<Layout>();
  next->record = record;
  next->version = record.version();
  if (before != nullptr) next->luns = before->luns;

  SYMNAS_ASSIGN(const Uuid volume_uuid, uuid_from_bytes(record.uuid()));
  const std::vector<Uuid> wanted = luns_of(record);
  std::vector<LunFileOptions> to_open;
  for (std::size_t i = next->luns.size(); i < wanted.size(); ++i) {
    const auto found = std::find_if(luns.begin(), luns.end(),
                                    [&](const LunPath& lun) { return lun.uuid == wanted[i]; });
    if (found == luns.end())
      return fail(ErrorCode::kNotFound,
                  fmt::format("volume {}: its LUN {} has not been found on this head; is it mapped "
                              "and in lun_paths?",
                              record.name(), wanted[i].to_string()));
    to_open.push_back({.name = found->name,
                       .path = found->path,
                       .lun = wanted[i],
                       .volume = volume_uuid,
                       .data_bytes = map.bytes_on(LunIndex(static_cast<std::uint32_t>(i))),
                       .ofd_byte = options_.ofd_byte,
                       .direct = options_.direct});
  }
  SYMNAS_ASSIGN(std::vector<std::unique_ptr<LunFile>> opened, open_all(to_open));
  std::uint32_t block_bytes = 0;
  for (const auto& file : opened) {
    block_bytes = std::max(block_bytes, file->logical_block_bytes());
    next->luns.push_back(file.get());
  }
  if (before == nullptr) logical_block_bytes_ = block_bytes;
  if (block_bytes > logical_block_bytes_)
    return fail(
        ErrorCode::kInvalidArgument,
        fmt::format("volume {}: a new LUN has logical blocks of {} bytes, the volume has {}",
                    record.name(), block_bytes, logical_block_bytes_));
  next->map = std::move(map);
  for (auto& file : opened) files_.push_back(std::move(file));
  layout_.store(next.get(), std::memory_order_release);
  layouts_.push_back(std::move(next));
  return {};
}

Status StripedVolume::grow(const records::VolumeRecord& record, std::span<const LunPath> luns) {
  const MutexLock lock(grow_mutex_);
  const records::VolumeRecord& present = layout().record;
  const auto refuse = [&](const char* why) {
    return fail(ErrorCode::kInvalidArgument, fmt::format("volume {}: {}", present.name(), why));
  };
  if (record.uuid() != present.uuid()) return refuse("the new record is of another volume");
  if (record.version() <= present.version()) return {};
  if (record.stripe_unit_bytes() != present.stripe_unit_bytes() ||
      record.segments_size() < present.segments_size())
    return refuse("the new record does not extend the one in use");
  for (int i = 0; i < present.segments_size(); ++i)
    if (record.segments(i).SerializeAsString() != present.segments(i).SerializeAsString())
      return refuse("the new record moves bytes of the one in use");
  return adopt(record, luns);
}

std::vector<LunCounters> StripedVolume::counters() const {
  std::vector<LunCounters> all;
  for (const LunFile* lun : layout().luns) all.push_back(lun->counters());
  return all;
}

Status StripedVolume::check_range(const char* what, VolumeOffset offset, std::size_t length) const {
  if (layout().map.contains(offset, length)) return {};
  return fail(ErrorCode::kOutOfRange,
              fmt::format("volume {}: {} of {} bytes at {} ends beyond its {} bytes",
                          layout().record.name(), what, length, offset.value(), size_bytes()));
}

void StripedVolume::read(VolumeOffset offset, std::span<std::byte> into, IoCallback done) {
  transfer(IoKind::kRead, offset, into.data(), into.size(), Durability::kVolatile, std::move(done));
}

void StripedVolume::write(VolumeOffset offset, std::span<const std::byte> from,
                          Durability durability, IoCallback done) {
  // The cast is safe: for a write the kernel only reads this memory.
  auto* data = const_cast<std::byte*>(from.data());
  transfer(IoKind::kWrite, offset, data, from.size(), durability, std::move(done));
}

void StripedVolume::transfer(IoKind kind, VolumeOffset offset, std::byte* data, std::size_t length,
                             Durability durability, IoCallback done) {
  CHECK(offset.value() % logical_block_bytes_ == 0 && length % logical_block_bytes_ == 0,
        "whole blocks; others go through write_edges()");
  CHECK(length == 0 || is_aligned(data, logical_block_bytes_));
  if (Status in_range = check_range(kind == IoKind::kRead ? "read" : "write", offset, length);
      !in_range || length == 0)
    return answer(std::move(in_range), std::move(done));
  auto request = std::make_unique<Request>();
  request->done = std::move(done);
  const std::uint64_t unit = stripe_unit_bytes();
  request->reserve(((offset.value() & (unit - 1)) + length + unit - 1) / unit);
  add_pieces(*request, kind, offset, data, length, durability);
  run(std::move(request));
}

void StripedVolume::add_pieces(Request& request, IoKind kind, VolumeOffset offset, std::byte* data,
                               std::size_t length, Durability durability) const {
  const Layout& now = layout();
  now.map.for_each_piece(offset, length, [&](const Piece& piece) {
    Request::Part& part = request.add();
    part.kind = kind;
    part.durability = durability;
    part.lun = now.luns[piece.position.lun.value()];
    part.offset = piece.position.offset.value();
    part.data = data + (piece.volume_offset.value() - offset.value());
    part.length_bytes = piece.length_bytes;
  });
}

// Calls back on an engine thread, as all callbacks are.
void StripedVolume::answer(Status status, IoCallback done) {
  auto request = std::make_unique<Request>();
  request->done = std::move(done);
  request->status = std::move(status);
  request->add().kind = IoKind::kNone;
  run(std::move(request));
}

void StripedVolume::run(std::unique_ptr<Request> owned) {
  // The request is counted before closing_ is read: so either shut_down() sees the request, or the
  // request sees closing_.
  outstanding_.fetch_add(1);
  Request* request = owned.release();
  request->volume = this;
  if (closing_.load()) {
    request->status = tl::unexpected(shut_down_error());
    return finish(*request);
  }
  const std::span<Request::Part> parts = request->parts();
  request->pending.store(parts.size(), std::memory_order_relaxed);
  if (parts.size() == 1 && MayWaitForIo::here() && parts[0].kind != IoKind::kNone) {
    LunIo& io = parts[0];
    io.begun_ns = now_ns();
    const int error_number = wait_for_io(io);
    MayWaitForIo::add_waited(now_ns() - io.begun_ns);
    finish_io(io, error_number);
    return;
  }
  for (std::size_t i = 0; i + 1 < parts.size(); ++i) parts[i].next = &parts[i + 1];
  engine_->submit(&parts[0]);
}

void StripedVolume::part_done(LunIo& io, int error_number) {
  auto& part = static_cast<Request::Part&>(io);
  Request& request = *part.request;
  part.error_number = error_number;
  // Even a failed write may have changed the LUN's cache; an extra flush does no harm.
  if (part.kind == IoKind::kWrite && part.durability == Durability::kVolatile)
    part.lun->note_volatile_write();
  if (request.pending.fetch_sub(1, std::memory_order_acq_rel) == 1) request.volume->finish(request);
}

void StripedVolume::finish(Request& request) {
  const std::unique_ptr<Request> owned(&request);
  for (const Request::Part& part : request.parts()) {
    if (part.error_number == 0) continue;
    // A fence is the error that counts: whoever hears of it must not answer at all.
    if (request.status || part.error_number == EBADE)
      request.status = tl::unexpected(part_error(part, part.error_number));
  }
  request.done(std::move(request.status));
  request.done = nullptr;  // the callback's captures go before the request counts as over
  if (outstanding_.fetch_sub(1) == 1 && closing_.load()) outstanding_.notify_all();
}

// A write whose first or last block is partial.
struct StripedVolume::EdgeWrite {
  VolumeOffset offset;
  std::span<const std::byte> from;
  Durability durability = Durability::kVolatile;
  IoCallback done;
  std::uint64_t begin = 0;  // whole blocks: [begin, end)
  std::uint64_t end = 0;
  Buffer buffer;
};

void StripedVolume::write_edges(VolumeOffset offset, std::span<const std::byte> from,
                                Durability durability, IoCallback done) {
  if (Status in_range = check_range("write", offset, from.size()); !in_range || from.empty())
    return answer(std::move(in_range), std::move(done));
  const std::uint64_t block = logical_block_bytes_;
  auto edge = std::make_unique<EdgeWrite>();
  edge->offset = offset;
  edge->from = from;
  edge->durability = durability;
  edge->begin = offset.value() / block * block;
  edge->end = (offset.value() + from.size() + block - 1) / block * block;
  if (edge->begin == offset.value() && edge->end == offset.value() + from.size() &&
      is_aligned(from.data(), logical_block_bytes_))
    return write(offset, from, durability, std::move(done));
  edge->done = std::move(done);
  edge->buffer = buffer(edge->end - edge->begin);
  start_edge_write(std::move(edge));
}

void StripedVolume::start_edge_write(std::unique_ptr<EdgeWrite> owned) {
  EdgeWrite* edge = owned.get();
  const std::uint64_t block = logical_block_bytes_;
  const std::uint64_t last = edge->end - block;
  const bool first_partial = edge->begin != edge->offset.value();
  const bool last_partial = edge->end != edge->offset.value() + edge->from.size();
  auto request = std::make_unique<Request>();
  std::byte* const data = edge->buffer.data();
  // A block never crosses a stripe unit, so each edge is one part; both fit inline.
  if (first_partial)
    add_pieces(*request, IoKind::kRead, VolumeOffset(edge->begin), data, block, {});
  if (last_partial && !(first_partial && last == edge->begin))
    add_pieces(*request, IoKind::kRead, VolumeOffset(last), data + (last - edge->begin), block, {});
  if (request->part_count == 0)
    return finish_edge_write(std::move(owned));  // only its memory is unaligned
  request->done = [this, edge = owned.release()](Status status) {
    std::unique_ptr<EdgeWrite> mine(edge);
    if (!status) return mine->done(std::move(status));
    finish_edge_write(std::move(mine));
  };
  run(std::move(request));
}

void StripedVolume::finish_edge_write(std::unique_ptr<EdgeWrite> owned) {
  EdgeWrite* edge = owned.release();
  std::memcpy(edge->buffer.data() + (edge->offset.value() - edge->begin), edge->from.data(),
              edge->from.size());
  write(VolumeOffset(edge->begin), edge->buffer.span().first(edge->end - edge->begin),
        edge->durability, [edge](Status status) {
          const IoCallback done = std::move(edge->done);
          delete edge;
          done(std::move(status));
        });
}

// One round of device flushes for a group of callers.
struct StripedVolume::FlushRound {
  std::vector<IoCallback> callers;
  std::vector<std::pair<LunFile*, std::uint64_t>> covers;  // written() when the round began
};

void StripedVolume::flush(IoCallback done) {
  FlushGroup::Next next;
  {
    const MutexLock lock(flush_mutex_);
    next = flush_group_.join(std::move(done));
  }
  if (next == FlushGroup::Next::kStartRound) start_flush_round();
}

void StripedVolume::start_flush_round() {
  auto round = std::make_unique<FlushRound>();
  {
    const MutexLock lock(flush_mutex_);
    round->callers = flush_group_.start_round();
  }
  auto request = std::make_unique<Request>();
  const Layout& now = layout();
  request->reserve(now.luns.size());
  if (flush_failed_.load()) {
    request->status =
        fail(ErrorCode::kIo, fmt::format("volume {}: an earlier flush failed, what was "
                                         "written before it may be lost",
                                         now.record.name()));
  } else {
    for (LunFile* lun : now.luns) {
      const std::uint64_t written = lun->written();
      if (lun->clean_since(written)) continue;
      round->covers.emplace_back(lun, written);
      Request::Part& part = request->add();
      part.kind = IoKind::kFlush;
      part.lun = lun;
    }
  }
  if (request->part_count == 0) request->add().kind = IoKind::kNone;
  request->done = [this, round = round.release()](Status status) {
    const std::unique_ptr<FlushRound> mine(round);
    finish_flush_round(*mine, std::move(status));
  };
  run(std::move(request));
}

void StripedVolume::finish_flush_round(FlushRound& round, Status status) {
  if (status) {
    for (const auto& [lun, written] : round.covers) lun->note_flushed(written);
  } else if (status.error().code != ErrorCode::kShutdown && !flush_failed_.exchange(true)) {
    log::error("flush: {}", status.error().message);
  }
  FlushGroup::Next next;
  {
    const MutexLock lock(flush_mutex_);
    next = flush_group_.finish_round();
  }
  // The next round starts first: its callers wait for the device, the callers of this round only
  // for us.
  if (next == FlushGroup::Next::kStartRound) start_flush_round();
  for (const IoCallback& done : round.callers) done(status);
}

}  // namespace symnas::cvm
