#include "tests/support/sim_volume.h"

#include <cstdlib>
#include <cstring>

#include "common/base/check.h"

namespace symnas::test {

void SimDisk::read(std::uint64_t offset, std::span<std::byte> into) const {
  const std::scoped_lock lock(mutex_);
  CHECK(offset + into.size() <= stable_.size());
  std::memcpy(into.data(), stable_.data() + offset, into.size());
  for (auto it = cache_.lower_bound(offset / kSector);
       it != cache_.end() && it->first * kSector < offset + into.size(); ++it) {
    const std::uint64_t begin = std::max(offset, it->first * kSector);
    const std::uint64_t end = std::min(offset + into.size(), (it->first + 1) * kSector);
    std::memcpy(into.data() + (begin - offset), it->second.data() + begin % kSector, end - begin);
  }
}

void SimDisk::write(std::uint64_t offset, std::span<const std::byte> from,
                    cvm::Durability durability) {
  CHECK(offset % kSector == 0 && from.size() % kSector == 0, "unaligned write");
  const std::scoped_lock lock(mutex_);
  CHECK(offset + from.size() <= stable_.size());
  for (std::size_t at = 0; at < from.size(); at += kSector) {
    const std::uint64_t sector = (offset + at) / kSector;
    if (durability == cvm::Durability::kStable) {
      std::memcpy(stable_.data() + offset + at, from.data() + at, kSector);
      cache_.erase(sector);
    } else {
      std::memcpy(cache_[sector].data(), from.data() + at, kSector);
    }
  }
}

void SimDisk::flush() {
  const std::scoped_lock lock(mutex_);
  for (const auto& [sector, bytes] : cache_) {
    std::memcpy(stable_.data() + sector * kSector, bytes.data(), kSector);
  }
  cache_.clear();
}

void SimDisk::lose_power(env::Random& random) {
  const std::scoped_lock lock(mutex_);
  for (const auto& [sector, bytes] : cache_) {
    if (random.below(2) == 0) continue;
    std::memcpy(stable_.data() + sector * kSector, bytes.data(), kSector);
  }
  cache_.clear();
}

cvm::Buffer SimVolume::buffer(std::size_t bytes) {
  const std::size_t rounded = (bytes + 4095) / 4096 * 4096;
  auto* memory = static_cast<std::byte*>(std::aligned_alloc(4096, rounded));
  std::memset(memory, 0x5A, rounded);  // shows code that forgets to fill it
  return {memory, bytes, [](std::byte* data, std::size_t) { std::free(data); }};
}

void SimVolume::read(VolumeOffset offset, std::span<std::byte> into, cvm::IoCallback done) {
  submit({Kind::kRead, offset.value(), into, {}, cvm::Durability::kVolatile, std::move(done)});
}

void SimVolume::write(VolumeOffset offset, std::span<const std::byte> from,
                      cvm::Durability durability, cvm::IoCallback done) {
  CHECK(offset.value() % SimDisk::kSector == 0 && from.size() % SimDisk::kSector == 0,
        "write() needs whole logical blocks");
  submit({Kind::kWrite, offset.value(), {}, from, durability, std::move(done)});
}

void SimVolume::write_edges(VolumeOffset offset, std::span<const std::byte> from,
                            cvm::Durability durability, cvm::IoCallback done) {
  submit({Kind::kWrite, offset.value(), {}, from, durability, std::move(done)});
}

void SimVolume::flush(cvm::IoCallback done) {
  submit({Kind::kFlush, 0, {}, {}, cvm::Durability::kStable, std::move(done)});
}

void SimVolume::submit(Request request) {
  {
    const std::scoped_lock lock(mutex_);
    if (!dead_ && mode_ == Mode::kQueued) {
      queue_.push_back(std::move(request));
      return;
    }
  }
  if (needs_merge(request)) merge(request);
  Status status = perform(request);
  request.done(std::move(status));
}

bool SimVolume::needs_merge(const Request& request) {
  return request.kind == Kind::kWrite &&
         (request.offset % SimDisk::kSector != 0 || request.from.size() % SimDisk::kSector != 0);
}

void SimVolume::merge(Request& request) {
  const std::uint64_t begin = request.offset / SimDisk::kSector * SimDisk::kSector;
  const std::uint64_t end = (request.offset + request.from.size() + SimDisk::kSector - 1) /
                            SimDisk::kSector * SimDisk::kSector;
  request.merged.resize(end - begin);
  disk_->read(begin, request.merged);
  std::memcpy(request.merged.data() + (request.offset - begin), request.from.data(),
              request.from.size());
  request.offset = begin;
  request.from = request.merged;
}

Status SimVolume::perform(const Request& request) {
  {
    const std::scoped_lock lock(mutex_);
    if (dead_) return fail(ErrorCode::kShutdown, "the instance is dead");
    if (failures_[request.kind] > 0) {
      --failures_[request.kind];
      return fail(failure_code_, "simulated error");
    }
    if (request.kind == Kind::kRead) ++counts_.reads;
    if (request.kind == Kind::kFlush) ++counts_.flushes;
    if (request.kind == Kind::kWrite) {
      ++counts_.writes;
      if (request.durability == cvm::Durability::kStable) ++counts_.stable_writes;
    }
  }
  switch (request.kind) {
    case Kind::kRead: disk_->read(request.offset, request.into); break;
    case Kind::kFlush: disk_->flush(); break;
    case Kind::kWrite: disk_->write(request.offset, request.from, request.durability); break;
  }
  return {};
}

bool SimVolume::run_one(env::Random& random) {
  Request request{};
  {
    const std::scoped_lock lock(mutex_);
    if (queue_.empty()) return false;
    const auto chosen = static_cast<std::ptrdiff_t>(random.below(queue_.size()));
    request = std::move(queue_[static_cast<std::size_t>(chosen)]);
    queue_.erase(queue_.begin() + chosen);
  }
  if (needs_merge(request)) {
    merge(request);
    const std::scoped_lock lock(mutex_);
    if (!dead_) {
      queue_.push_back(std::move(request));
      return true;
    }
  }
  Status status = perform(request);
  request.done(std::move(status));
  return true;
}

std::size_t SimVolume::queued() const {
  const std::scoped_lock lock(mutex_);
  return queue_.size();
}

void SimVolume::die(env::Random& random) {
  std::deque<Request> pending;
  {
    const std::scoped_lock lock(mutex_);
    dead_ = true;
    pending.swap(queue_);
  }
  for (Request& request : pending) {
    if (request.kind == Kind::kWrite && !needs_merge(request)) {
      for (std::size_t at = 0; at < request.from.size(); at += SimDisk::kSector) {
        if (random.below(2) == 0) continue;
        disk_->write(request.offset + at, request.from.subspan(at, SimDisk::kSector),
                     request.durability);
      }
    }
    request.done(fail(ErrorCode::kShutdown, "the instance is dead"));
  }
}

void SimVolume::fail_next(Kind kind, int count, ErrorCode code) {
  const std::scoped_lock lock(mutex_);
  failures_[kind] = count;
  failure_code_ = code;
}

SimVolume::Counts SimVolume::counts() const {
  const std::scoped_lock lock(mutex_);
  return counts_;
}

}  // namespace symnas::test
