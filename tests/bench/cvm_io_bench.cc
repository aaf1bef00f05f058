// What cvm/io costs over the bare system calls: the same pattern on the same prewritten LUN files
// through preadv2/pwritev2 threads, a bare io_uring, and an open volume with either engine.
//
// Usage: cvm_io_bench [--benchmark_filter=...]   SYMNAS_BENCH_DIR: where the LUN files go (1 GiB;
// default /var/tmp) Names: <way>/<kind>/<block bytes>/<depth>. Time is per batch; items_per_second
// are I/Os; cpu_us_per_io is this process's.
#include <fcntl.h>
#include <liburing.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <future>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include <benchmark/benchmark.h>
#include <fmt/core.h>

#include "common/base/check.h"
#include "common/base/unique_fd.h"
#include "cvm/io/open_volume.h"
#include "cvm/lun.h"
#include "cvm/volume.h"

namespace symnas::cvm {
namespace {

constexpr std::uint64_t kLunBytes = 256 * kMiB;
constexpr int kLuns = 4;
constexpr std::uint32_t kUnit = kMiB;

enum class Way { kThreads, kBareUring, kVolumeUring, kVolumePosix };
enum class Kind { kRead, kWrite };

// A batch of I/Os in the order they are begun.
struct Batch {
  Kind kind;
  std::size_t bytes;
  int depth;
  std::vector<std::uint64_t> offsets;  // in the volume
};

// LUN files, prewritten, as one volume.
class Files {
 public:
  Files() {
    const char* base = std::getenv("SYMNAS_BENCH_DIR");
    std::string pattern = std::string(base != nullptr ? base : "/var/tmp") + "/symnas-bench-XXXXXX";
    CHECK(::mkdtemp(pattern.data()) != nullptr);
    directory_ = pattern;
    std::vector<records::LunRecord> luns;
    const std::vector<char> data(4 * kMiB, 'p');
    for (int i = 0; i < kLuns; ++i) {
      const std::string name = fmt::format("LUN{}", i);
      const std::string path = directory_ + "/" + name;
      fds_.emplace_back(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_DIRECT, 0600));
      const UniqueFd fill(::open(path.c_str(), O_RDWR | O_CLOEXEC));
      for (std::uint64_t at = 0; at < kLunBytes; at += data.size())
        CHECK(::pwrite(fill.get(), data.data(), data.size(), static_cast<off_t>(at)) > 0);
      CHECK(::fsync(fill.get()) == 0);
      const auto lun = import_lun({.cluster = Uuid::generate(), .name = name, .path = path});
      CHECK(lun.has_value(), lun ? "" : lun.error().message);
      luns.push_back(*lun);
      paths_.push_back({name, *uuid_from_bytes(lun->uuid()), path});
    }
    record_ = *create_volume("bench", Uuid::generate(), luns, kUnit);
    map_ = *stripe_map_of(record_);
  }
  ~Files() { std::filesystem::remove_all(directory_); }

  std::shared_ptr<OpenVolume> open(EngineChoice engine) const {
    auto volume = open_volume(record_, paths_, {.ofd_byte = 1, .engine = engine});
    CHECK(volume.has_value(), volume ? "" : volume.error().message);
    return *volume;
  }
  int fd(const LunPosition& position) const { return fds_[position.lun.value()].get(); }
  const StripeMap& map() const { return map_; }

 private:
  std::string directory_;
  std::vector<UniqueFd> fds_;
  std::vector<LunPath> paths_;
  records::VolumeRecord record_;
  StripeMap map_;
};

std::unique_ptr<Files> files;

std::vector<std::unique_ptr<std::byte, decltype(&std::free)>> buffers(const Batch& batch) {
  std::vector<std::unique_ptr<std::byte, decltype(&std::free)>> all;
  for (int i = 0; i < batch.depth; ++i)
    all.emplace_back(static_cast<std::byte*>(std::aligned_alloc(4096, batch.bytes)), &std::free);
  return all;
}

void run_threads(const Batch& batch) {
  std::atomic<std::size_t> next{0};
  const auto memory = buffers(batch);
  std::vector<std::thread> threads;
  for (int t = 0; t < batch.depth; ++t) {
    threads.emplace_back([&, data = memory[static_cast<std::size_t>(t)].get()] {
      for (std::size_t i; (i = next.fetch_add(1)) < batch.offsets.size();) {
        const LunPosition position = files->map().locate(VolumeOffset(batch.offsets[i]));
        const struct iovec part { data, batch.bytes };
        const auto at = static_cast<off_t>(position.offset.value());
        const ssize_t done = batch.kind == Kind::kRead
                                 ? ::preadv2(files->fd(position), &part, 1, at, 0)
                                 : ::pwritev2(files->fd(position), &part, 1, at, 0);
        CHECK(done == static_cast<ssize_t>(batch.bytes));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

void run_bare_uring(const Batch& batch) {
  static io_uring* const ring = [] {
    static io_uring made;
    CHECK(::io_uring_queue_init(256, &made, 0) == 0);
    return &made;
  }();
  const auto memory = buffers(batch);
  std::size_t next = 0;
  const auto submit = [&](std::size_t slot) {
    const LunPosition position = files->map().locate(VolumeOffset(batch.offsets[next++]));
    io_uring_sqe* sqe = ::io_uring_get_sqe(ring);
    const auto bytes = static_cast<unsigned>(batch.bytes);
    if (batch.kind == Kind::kRead)
      ::io_uring_prep_read(sqe, files->fd(position), memory[slot].get(), bytes,
                           position.offset.value());
    else
      ::io_uring_prep_write(sqe, files->fd(position), memory[slot].get(), bytes,
                            position.offset.value());
    ::io_uring_sqe_set_data64(sqe, slot);
  };
  for (std::size_t slot = 0; slot < memory.size(); ++slot) submit(slot);
  for (std::size_t done = 0; done < batch.offsets.size();) {
    CHECK(::io_uring_submit_and_wait(ring, 1) >= 0);
    io_uring_cqe* cqe;
    while (::io_uring_peek_cqe(ring, &cqe) == 0) {
      CHECK(cqe->res == static_cast<int>(batch.bytes));
      const std::size_t slot = ::io_uring_cqe_get_data64(cqe);
      ::io_uring_cqe_seen(ring, cqe);
      ++done;
      if (next < batch.offsets.size()) submit(slot);
    }
  }
}

// Closed loop: each callback begins the next I/O.
class VolumeLoop {
 public:
  VolumeLoop(VolumeIo& volume, const Batch& batch) : volume_(volume), batch_(batch) {}
  void run() {
    for (int i = 0; i < batch_.depth; ++i) buffers_.push_back(volume_.buffer(batch_.bytes));
    for (const Buffer& buffer : buffers_) step(buffer.span().first(batch_.bytes));
    finished_.get_future().get();
  }

 private:
  void step(std::span<std::byte> data) {
    const std::size_t i = next_.fetch_add(1);
    if (i >= batch_.offsets.size()) return;
    const VolumeOffset at(batch_.offsets[i]);
    auto done = [this, data](Status status) {
      CHECK(status.has_value(), status ? "" : status.error().message);
      step(data);
      if (done_.fetch_add(1) + 1 == batch_.offsets.size()) finished_.set_value();
    };
    if (batch_.kind == Kind::kRead)
      volume_.read(at, data, std::move(done));
    else
      volume_.write(at, data, Durability::kVolatile, std::move(done));
  }

  VolumeIo& volume_;
  const Batch& batch_;
  std::vector<Buffer> buffers_;
  std::atomic<std::size_t> next_{0};
  std::atomic<std::size_t> done_{0};
  std::promise<void> finished_;
};

// 8 KiB: random. 1 MiB: sequential from a random place on.
Batch make_batch(Kind kind, std::size_t bytes, int depth) {
  static std::mt19937_64 random(1);
  Batch batch{.kind = kind, .bytes = bytes, .depth = depth, .offsets = {}};
  const std::uint64_t places = files->map().size_bytes() / bytes;
  const std::size_t count = bytes >= kMiB ? 128 : 2048;
  std::uint64_t at = random() % places;
  for (std::size_t i = 0; i < count; ++i) {
    at = bytes >= kMiB ? (at + 1) % places : random() % places;
    batch.offsets.push_back(at * bytes);
  }
  return batch;
}

double process_cpu_us() {
  struct rusage use {};
  ::getrusage(RUSAGE_SELF, &use);
  const auto us = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) * 1e6 + static_cast<double>(t.tv_usec);
  };
  return us(use.ru_utime) + us(use.ru_stime);
}

void run(benchmark::State& state, Way way, Kind kind, std::size_t bytes, int depth) {
  std::shared_ptr<OpenVolume> volume;
  if (way == Way::kVolumeUring) volume = files->open(EngineChoice::kUring);
  if (way == Way::kVolumePosix) volume = files->open(EngineChoice::kPosix);
  std::int64_t ios = 0;
  const double cpu_before = process_cpu_us();
  for (auto _ : state) {
    const Batch batch = make_batch(kind, bytes, depth);
    switch (way) {
      case Way::kThreads: run_threads(batch); break;
      case Way::kBareUring: run_bare_uring(batch); break;
      case Way::kVolumeUring:
      case Way::kVolumePosix: VolumeLoop(*volume, batch).run(); break;
    }
    ios += static_cast<std::int64_t>(batch.offsets.size());
  }
  state.SetItemsProcessed(ios);
  state.SetBytesProcessed(ios * static_cast<std::int64_t>(bytes));
  state.counters["cpu_us_per_io"] = (process_cpu_us() - cpu_before) / static_cast<double>(ios);
}

void register_all() {
  const std::pair<Way, const char*> ways[] = {{Way::kThreads, "threads"},
                                              {Way::kBareUring, "bare_uring"},
                                              {Way::kVolumeUring, "volume_uring"},
                                              {Way::kVolumePosix, "volume_posix"}};
  const std::pair<Kind, const char*> kinds[] = {{Kind::kRead, "read"}, {Kind::kWrite, "write"}};
  for (const std::size_t bytes : {std::size_t{8192}, std::size_t{kMiB}})
    for (const auto& [kind, kind_name] : kinds)
      for (const int depth : {1, 16, 32})
        for (const auto& [way, way_name] : ways)
          benchmark::RegisterBenchmark(
              fmt::format("{}/{}/{}/{}", way_name, kind_name, bytes, depth).c_str(), run, way, kind,
              bytes, depth)
              ->UseRealTime()
              ->Unit(benchmark::kMillisecond);
}

}  // namespace
}  // namespace symnas::cvm

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  symnas::cvm::files = std::make_unique<symnas::cvm::Files>();
  symnas::cvm::register_all();
  benchmark::RunSpecifiedBenchmarks();
  symnas::cvm::files.reset();
}
