#include "tests/sim/sim_lun.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace symnas::sim {

using test::SimDisk;

struct SimArray::Request {
  SimLun* lun = nullptr;
  SimLun::Kind kind = SimLun::Kind::kRead;
  std::uint64_t offset = 0;
  std::span<std::byte> into;
  std::span<const std::byte> from;
  cvm::Durability durability = cvm::Durability::kVolatile;
  cvm::IoCallback done;
  std::vector<std::byte> merged;  // of kEdges: whole sectors
  std::size_t done_bytes = 0;     // executed so far
  bool merged_yet = false;
};

namespace {

std::size_t sectors_up(std::size_t bytes) {
  return (bytes + SimDisk::kSector - 1) / SimDisk::kSector * SimDisk::kSector;
}

}  // namespace

LunFaults LunFaults::draw() {
  LunFaults faults;
  faults.latency_ns_max = below(2) == 0 ? 50'000 : 2'000'000;
  if (below(3) == 0) faults.slow_ppm = below(30'000);
  faults.slow_ns_max = below(2) == 0 ? 50'000'000 : 20'000'000'000;
  if (below(2) == 0) faults.split_ppm = below(500'000);
  if (below(6) == 0) faults.error_ppm = below(5'000);
  return faults;
}

// --- the array

void SimArray::forget(const Request* request) {
  std::erase_if(in_flight_, [request](const auto& one) { return one.get() == request; });
  wake(this);
}

void SimArray::land_torn(const Request& request) {
  if (request.kind != SimLun::Kind::kWrite && !request.merged_yet) return;
  for (std::size_t at = request.done_bytes; at < request.from.size(); at += SimDisk::kSector) {
    if (below(2) == 0) continue;
    disk_->write(request.offset + at, request.from.subspan(at, SimDisk::kSector),
                 request.durability);
  }
}

void SimArray::lose_power() {
  const NoSwitch no_switch;
  trace("power lost, %zu requests in flight", in_flight_.size());
  for (const auto& request : in_flight_) land_torn(*request);
  // Their senders never hear of them. They are not destroyed: `done` may be code of a dead process.
  new std::vector<std::shared_ptr<Request>>(std::move(in_flight_));
  in_flight_.clear();
  wake(this);
  disk_->lose_power(random());
}

// --- one process's view

SimLun::SimLun(Process& process, std::shared_ptr<SimArray> array, LunFaults faults)
    : array_(std::move(array)), inbox_(Inbox::open(process, "lun-done")), faults_(faults) {}

cvm::Buffer SimLun::buffer(std::size_t bytes) {
  const std::size_t rounded = (bytes + 4095) / 4096 * 4096;
  auto* memory = static_cast<std::byte*>(std::aligned_alloc(4096, rounded));
  std::memset(memory, 0x5A, rounded);  // shows code that forgets to fill it
  return {memory, bytes, [](std::byte* data, std::size_t size) {
            std::memset(data, 0x5B, size);  // shows code that still writes from it
            std::free(data);
          }};
}

void SimLun::read(VolumeOffset offset, std::span<std::byte> into, cvm::IoCallback done) {
  submit(Kind::kRead, offset.value(), into, {}, cvm::Durability::kVolatile, std::move(done));
}
void SimLun::write(VolumeOffset offset, std::span<const std::byte> from, cvm::Durability durability,
                   cvm::IoCallback done) {
  submit(Kind::kWrite, offset.value(), {}, from, durability, std::move(done));
}
void SimLun::write_edges(VolumeOffset offset, std::span<const std::byte> from,
                         cvm::Durability durability, cvm::IoCallback done) {
  submit(Kind::kEdges, offset.value(), {}, from, durability, std::move(done));
}
void SimLun::flush(cvm::IoCallback done) {
  submit(Kind::kFlush, 0, {}, {}, cvm::Durability::kStable, std::move(done));
}

void SimLun::submit(Kind kind, std::uint64_t offset, std::span<std::byte> into,
                    std::span<const std::byte> from, cvm::Durability durability,
                    cvm::IoCallback done) {
  preemption_point();
  {
    const NoSwitch no_switch;
    static constexpr const char* kNames[] = {"read", "write", "edges", "flush"};
    trace("lun %s at %llu, %zu bytes%s", kNames[static_cast<int>(kind)],
          static_cast<unsigned long long>(offset), into.size() + from.size(),
          durability == cvm::Durability::kStable ? ", stable" : "");
    auto request = std::make_shared<SimArray::Request>();
    request->lun = this;
    request->kind = kind;
    request->offset = offset;
    request->into = into;
    request->from = from;
    request->durability = durability;
    request->done = std::move(done);
    if (refusal_ == Refusal::kNoAnswer) return;
    if (refusal_ == Refusal::kConflict) {
      inbox_->push([then = std::move(request->done)] {
        then(symnas::fail(ErrorCode::kFenced, "injected: reservation conflict"));
      });
      return;
    }
    if (const std::size_t bytes = into.size() + from.size();
        bytes > 0 && offset + bytes > array_->disk().size_bytes()) {  // as StripedVolume answers
      inbox_->push([then = std::move(request->done)] {
        then(symnas::fail(ErrorCode::kOutOfRange, "ends beyond the volume"));
      });
      return;
    }
    array_->in_flight_.push_back(request);
    // A flush covers only writes that were answered before it came.
    if (kind == Kind::kFlush && !chance(faults_.error_ppm) && below(2) == 0) {
      array_->disk().flush();
      request->merged_yet = true;
    }
    schedule(request);
  }
  preemption_point();
}

void SimLun::schedule(const std::shared_ptr<SimArray::Request>& request) {
  const std::int64_t most = chance(faults_.slow_ppm) ? faults_.slow_ns_max : faults_.latency_ns_max;
  post(static_cast<std::int64_t>(below(static_cast<std::uint64_t>(most) + 1)),
       [this, request] { execute(request); });
}

// Reads the partial sectors at the edges and puts the caller's bytes between them.
void SimLun::read_edges(SimArray::Request& request) {
  const std::uint64_t begin = request.offset / SimDisk::kSector * SimDisk::kSector;
  const std::uint64_t end = sectors_up(request.offset + request.from.size());
  request.merged.resize(end - begin);
  array_->disk().read(begin, request.merged);
  std::memcpy(request.merged.data() + (request.offset - begin), request.from.data(),
              request.from.size());
  request.offset = begin;
  request.from = request.merged;
  request.merged_yet = true;
}

void SimLun::execute(const std::shared_ptr<SimArray::Request>& shared) {
  SimArray::Request& request = *shared;
  auto& queue = array_->in_flight_;
  if (std::find(queue.begin(), queue.end(), shared) == queue.end()) return;  // power was lost
  const bool alive = inbox_->process().alive();
  if (!alive && request.kind != Kind::kFlush && below(3) == 0) {
    if (below(2) == 0) array_->land_torn(request);
    trace("lun request of a dead process: torn or lost");
    array_->forget(&request);
    return;
  }
  if (request.kind == Kind::kEdges && !request.merged_yet) {
    if (!alive) {
      array_->forget(&request);
      return;
    }
    read_edges(request);
    schedule(shared);  // other requests may come in between
    return;
  }
  if (chance(faults_.error_ppm)) {
    array_->land_torn(request);
    answer(shared, symnas::fail(ErrorCode::kIo, "injected: I/O error"));
    return;
  }
  const std::size_t bytes = std::max(request.into.size(), request.from.size());
  std::size_t end = bytes;
  const std::size_t left = bytes - request.done_bytes;
  if (left > SimDisk::kSector && chance(faults_.split_ppm)) {
    end = request.done_bytes + sectors_up(1 + below(left - SimDisk::kSector));
  }
  const std::size_t count = end - request.done_bytes;
  const std::uint64_t at = request.offset + request.done_bytes;
  switch (request.kind) {
    case Kind::kRead:
      array_->disk().read(at, request.into.subspan(request.done_bytes, count));
      break;
    case Kind::kWrite:
    case Kind::kEdges:
      array_->disk().write(at, request.from.subspan(request.done_bytes, count), request.durability);
      break;
    case Kind::kFlush:
      if (!request.merged_yet) array_->disk().flush();
      break;
  }
  request.done_bytes = end;
  if (end < bytes) {
    schedule(shared);
  } else {
    answer(shared, {});
  }
}

void SimLun::answer(const std::shared_ptr<SimArray::Request>& request, Status status) {
  trace("lun request at %llu of %s: %s", static_cast<unsigned long long>(request->offset),
        inbox_->process().name().c_str(), status ? "done" : "error");
  array_->forget(request.get());
  inbox_->push([done = std::move(request->done), status = std::move(status)]() mutable {
    done(std::move(status));
  });
}

void SimLun::drain() {
  wait_until(array_.get(), "the LUN's queue", [this] {
    return std::none_of(array_->in_flight_.begin(), array_->in_flight_.end(),
                        [this](const auto& request) { return request->lun == this; });
  });
}

}  // namespace symnas::sim
