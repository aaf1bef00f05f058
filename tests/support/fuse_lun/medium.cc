#include "tests/support/fuse_lun/medium.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>

#include "common/base/check.h"

namespace symnas::fuse_lun {
namespace {

// Calls body(block number, first byte in the block, bytes, bytes before them) for each block.
template <class Body>
void for_each_block(std::uint64_t offset, std::uint64_t length, Body body) {
  for (std::uint64_t done = 0; done < length;) {
    const std::uint64_t at = (offset + done) % kCacheBlockBytes;
    const std::uint64_t n = std::min(length - done, kCacheBlockBytes - at);
    body((offset + done) / kCacheBlockBytes, at, n, done);
    done += n;
  }
}

std::uint8_t sectors_of(std::uint64_t at, std::uint64_t bytes) {
  const std::uint32_t count = static_cast<std::uint32_t>(bytes / kSectorBytes);
  return static_cast<std::uint8_t>(((1u << count) - 1) << (at / kSectorBytes));
}

}  // namespace

Result<std::unique_ptr<Medium>> Medium::open(const std::string& path) {
  std::unique_ptr<Medium> medium(new Medium);
  medium->backing_ = UniqueFd(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  struct stat st {};
  if (!medium->backing_.valid() || ::fstat(medium->backing_.get(), &st) != 0)
    return fail(errno == ENOENT ? ErrorCode::kNotFound : ErrorCode::kIo,
                "backing file " + path + ": " + std::strerror(errno));
  medium->size_bytes_ = static_cast<std::uint64_t>(st.st_size) / kSectorBytes * kSectorBytes;
  return medium;
}

std::uint64_t Medium::volatile_sectors() const {
  std::uint64_t count = 0;
  for (const auto& [number, block] : cache_)
    count += static_cast<std::uint64_t>(std::popcount(block->sectors));
  return count;
}

int Medium::read(std::uint64_t offset, std::span<std::byte> into) const {
  CHECK(offset % kSectorBytes == 0 && into.size() % kSectorBytes == 0);
  for (std::size_t done = 0; done < into.size();) {
    const ssize_t got = ::pread(backing_.get(), into.data() + done, into.size() - done,
                                static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return got == 0 ? EIO : errno;
    done += static_cast<std::size_t>(got);
  }
  const auto begin = cache_.lower_bound(offset / kCacheBlockBytes);
  const auto end =
      cache_.lower_bound((offset + into.size() + kCacheBlockBytes - 1) / kCacheBlockBytes);
  for (auto it = begin; it != end; ++it) {
    const std::uint64_t base = it->first * kCacheBlockBytes;
    for (std::uint32_t i = 0; i < kSectorsPerBlock; ++i) {
      const std::uint64_t at = base + i * kSectorBytes;
      if ((it->second->sectors >> i & 1) == 0 || at < offset || at >= offset + into.size())
        continue;
      std::memcpy(into.data() + (at - offset), it->second->bytes.data() + i * kSectorBytes,
                  kSectorBytes);
    }
  }
  return 0;
}

int Medium::write(std::uint64_t offset, std::span<const std::byte> from, Stability stability) {
  CHECK(offset % kSectorBytes == 0 && from.size() % kSectorBytes == 0);
  ++writes_;
  if (stability == Stability::kStable) {
    forget(offset, from.size());
    return store(offset, from);
  }
  for_each_block(offset, from.size(), [&](auto number, auto at, auto bytes, auto done) {
    auto& block = cache_[number];
    if (!block) {
      block = std::make_unique<Block>();
      block->oldest = writes_;
    }
    std::memcpy(block->bytes.data() + at, from.data() + done, bytes);
    block->sectors = static_cast<std::uint8_t>(block->sectors | sectors_of(at, bytes));
  });
  return cache_.size() > kCacheBlocksMax ? flush(writes_) : 0;
}

int Medium::flush(Mark mark) {
  for (auto it = cache_.begin(); it != cache_.end();) {
    if (it->second->oldest > mark) {
      ++it;
      continue;
    }
    if (const int error = write_back(it->first, *it->second); error != 0) return error;
    it = cache_.erase(it);
  }
  return 0;
}

int Medium::write_back(std::uint64_t number, const Block& block) {
  for (std::uint32_t i = 0; i < kSectorsPerBlock; ++i) {
    if ((block.sectors >> i & 1) == 0) continue;
    std::uint32_t end = i;
    while (end < kSectorsPerBlock && (block.sectors >> end & 1) != 0) ++end;
    const auto run = std::span(block.bytes).subspan(i * kSectorBytes, (end - i) * kSectorBytes);
    if (const int error = store(number * kCacheBlockBytes + i * kSectorBytes, run); error != 0)
      return error;
    i = end;
  }
  return 0;
}

int Medium::store(std::uint64_t offset, std::span<const std::byte> from) {
  while (!from.empty()) {
    const ssize_t put =
        ::pwrite(backing_.get(), from.data(), from.size(), static_cast<off_t>(offset));
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return put == 0 ? EIO : errno;
    from = from.subspan(static_cast<std::size_t>(put));
    offset += static_cast<std::uint64_t>(put);
  }
  return 0;
}

void Medium::forget(std::uint64_t offset, std::uint64_t length) {
  if (cache_.empty()) return;
  for_each_block(offset, length, [&](auto number, auto at, auto bytes, auto) {
    const auto it = cache_.find(number);
    if (it == cache_.end()) return;
    it->second->sectors = static_cast<std::uint8_t>(it->second->sectors & ~sectors_of(at, bytes));
    if (it->second->sectors == 0) cache_.erase(it);
  });
}

Medium::Loss Medium::lose_power(std::mt19937_64* random) {
  Loss loss;
  for (auto& [number, block] : cache_) {
    // A block survives, vanishes or is torn.
    const std::uint64_t fate = random != nullptr ? (*random)() : 0;
    std::uint8_t kept = 0;
    if (fate % 3 == 1) kept = 0xff;
    if (fate % 3 == 2) kept = static_cast<std::uint8_t>(fate >> 32);
    const int before = std::popcount(block->sectors);
    block->sectors = static_cast<std::uint8_t>(block->sectors & kept);
    const int after = std::popcount(block->sectors);
    loss.sectors_kept += static_cast<std::uint64_t>(after);
    loss.sectors_lost += static_cast<std::uint64_t>(before - after);
    // If the medium refuses the write, its sectors are lost, which a power loss may do.
    [[maybe_unused]] const int error = write_back(number, *block);
  }
  cache_.clear();
  return loss;
}

void Medium::tear(std::uint64_t offset, std::span<const std::byte> from, std::mt19937_64& random) {
  for (std::size_t at = 0; at < from.size(); at += kSectorBytes) {
    if (random() % 2 == 0) continue;
    forget(offset + at, kSectorBytes);
    [[maybe_unused]] const int error = store(offset + at, from.subspan(at, kSectorBytes));
  }
}

}  // namespace symnas::fuse_lun
