#include "tests/workloads/dnfs/file_blocks.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <map>
#include <mutex>

#include <fmt/core.h>

#include "common/base/unique_fd.h"

namespace symnas::dnfs {
namespace {

constexpr std::uint64_t kStateMagic = 0x3145544154534e44ull;  // "DNSTATE1"
constexpr std::size_t kStateHeaderBytes = 4096;

// The first bytes of a state file; the numbers of all files follow, in the order of their paths.
struct StateHeader {
  std::uint64_t magic;
  std::uint64_t shape;  // of paths, units and sizes: another job has another one
  std::uint64_t run;
};

struct Extent {
  std::uint32_t unit_bytes = UINT32_MAX;
  std::uint64_t end_bytes = 0;
  std::uint64_t units() const { return end_bytes / unit_bytes; }
};

Result<std::map<std::string, Extent>> extents_of(const Job& job) {
  std::map<std::string, Extent> files;
  for (const ThreadJob& thread : job.threads) {
    Extent& file = files[thread.file];
    file.unit_bytes = std::min(file.unit_bytes, thread.block_bytes);
    file.end_bytes =
        std::max(file.end_bytes, thread.offset_bytes + thread.blocks() * thread.block_bytes);
  }
  for (const ThreadJob& thread : job.threads)
    if (const std::uint32_t unit = files[thread.file].unit_bytes; thread.block_bytes % unit != 0)
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("job: thread {}: block_bytes {} is no multiple of {}, which another "
                              "thread of {} has",
                              thread.name, thread.block_bytes, unit, thread.file));
  return files;
}

std::uint64_t random_run() {
  std::uint64_t run = 0;
  if (::getrandom(&run, sizeof run, 0) != sizeof run) run = static_cast<std::uint64_t>(::getpid());
  return run;
}

Error system_error(const std::string& what) {
  return {ErrorCode::kIo, fmt::format("{}: {}", what, std::strerror(errno))};
}

}  // namespace

const char* to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::kRight: return "right";
    case Verdict::kTorn: return "torn";
    case Verdict::kLost: return "lost";
    case Verdict::kMisplaced: return "misplaced";
    case Verdict::kForeign: return "foreign";
    case Verdict::kFuture: return "future";
  }
  return "?";
}

FileBlocks::FileBlocks(std::string path, std::uint32_t unit_bytes, std::uint64_t run,
                       std::span<std::uint32_t> acknowledged)
    : path_(std::move(path)),
      id_(file_id(path_)),
      unit_bytes_(unit_bytes),
      run_(run),
      acknowledged_(acknowledged),
      issued_(acknowledged.size()),
      writing_(acknowledged.size()) {}

bool FileBlocks::writing(std::uint64_t unit, std::uint64_t count) const {
  for (std::uint64_t i = unit; i < unit + count; ++i)
    if (writing_[i]) return true;
  return false;
}

void FileBlocks::begin_write(std::uint64_t unit, std::span<char> data, std::uint32_t seed) {
  for (std::uint64_t at = 0; at < data.size(); at += unit_bytes_, ++unit) {
    writing_[unit] = true;
    issued_[unit] = std::max(issued_[unit], acknowledged_[unit]) + 1;
    fill_block(
        data.subspan(at, unit_bytes_),
        {.file = id_, .block = unit, .run = run_, .generation = issued_[unit], .seed = seed});
  }
}

void FileBlocks::end_write(std::uint64_t unit, std::uint64_t count, bool acknowledged) {
  for (std::uint64_t i = unit; i < unit + count; ++i) {
    writing_[i] = false;
    if (acknowledged) acknowledged_[i] = std::max(acknowledged_[i], issued_[i]);
  }
}

Verdict FileBlocks::judge(std::uint64_t unit, std::span<const char> data, std::uint32_t floor) {
  BlockHeader header;
  // Past the end of the file: never written.
  const BlockLooks looks =
      data.size() < unit_bytes_ ? BlockLooks::kUnwritten : look_at(data, header);
  if (looks == BlockLooks::kBroken) return Verdict::kTorn;
  // What is there before our first write is acknowledged may be of anybody.
  if (looks == BlockLooks::kOther) return floor > 0 ? Verdict::kTorn : Verdict::kRight;
  if (looks == BlockLooks::kUnwritten) return floor > 0 ? Verdict::kLost : Verdict::kRight;
  if (header.file != id_ || header.block != unit) return Verdict::kMisplaced;
  if (header.run != run_) return floor > 0 ? Verdict::kForeign : Verdict::kRight;
  if (header.generation < floor) return Verdict::kLost;
  if (issued_[unit] > 0 && header.generation > issued_[unit]) return Verdict::kFuture;
  acknowledged_[unit] = std::max(acknowledged_[unit], header.generation);
  return Verdict::kRight;
}

Result<std::unique_ptr<BlockStates>> BlockStates::open(const Job& job,
                                                       const std::string& state_file) {
  SYMNAS_ASSIGN(const auto files, extents_of(job));
  std::uint64_t units = 0;
  std::string shape;
  for (const auto& [path, file] : files) {
    units += file.units();
    shape += fmt::format("{} {} {}\n", path, file.unit_bytes, file.units());
  }
  std::unique_ptr<BlockStates> out(new BlockStates);
  std::uint64_t run = random_run();
  std::span<std::uint32_t> numbers;
  if (state_file.empty()) {
    out->memory_.resize(units);
    numbers = out->memory_;
  } else {
    const UniqueFd fd(::open(state_file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    struct stat there {};
    if (!fd.valid() || ::fstat(fd.get(), &there) != 0)
      return tl::unexpected(system_error("state file " + state_file));
    const std::size_t bytes = kStateHeaderBytes + units * sizeof(std::uint32_t);
    const bool fresh = there.st_size == 0;
    if (!fresh && static_cast<std::size_t>(there.st_size) != bytes)
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("state file {} is of another job; name another one, or remove it and "
                              "the files it speaks of",
                              state_file));
    if (fresh && ::ftruncate(fd.get(), static_cast<off_t>(bytes)) != 0)
      return tl::unexpected(system_error("state file " + state_file));
    void* at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
    if (at == MAP_FAILED) return tl::unexpected(system_error("map " + state_file));
    out->mapped_ = {static_cast<char*>(at), bytes};
    auto* header = static_cast<StateHeader*>(at);
    if (fresh) *header = {kStateMagic, file_id(shape), run};
    if (header->magic != kStateMagic || header->shape != file_id(shape))
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("state file {} is of another job; name another one, or remove it and "
                              "the files it speaks of",
                              state_file));
    run = header->run;
    numbers = {reinterpret_cast<std::uint32_t*>(out->mapped_.data() + kStateHeaderBytes), units};
    out->flusher_ = std::jthread(
        [self = out.get()](const std::stop_token& stop) { self->flush_each_second(stop); });
  }
  for (const auto& [path, file] : files) {
    const auto mine = numbers.first(file.units());
    numbers = numbers.subspan(file.units());
    out->past_.push_back(std::any_of(mine.begin(), mine.end(), [](auto n) { return n > 0; }));
    out->files_.emplace_back(path, file.unit_bytes, run, mine);
  }
  return out;
}

BlockStates::~BlockStates() {
  if (flusher_.joinable()) {
    flusher_.request_stop();
    flusher_.join();
  }
  if (!mapped_.empty()) ::munmap(mapped_.data(), mapped_.size());
}

void BlockStates::flush_each_second(const std::stop_token& stop) const {
  std::mutex mutex;
  std::condition_variable_any stopped;
  while (!stop.stop_requested()) {
    std::unique_lock lock(mutex);
    stopped.wait_for(lock, stop, std::chrono::seconds(1), [] { return false; });
    ::msync(mapped_.data(), mapped_.size(), MS_SYNC);
  }
}

std::size_t BlockStates::index_of(const std::string& path) const {
  for (std::size_t i = 0; i < files_.size(); ++i)
    if (files_[i].path() == path) return i;
  return files_.size();
}

bool BlockStates::has_past(std::size_t index) const { return past_[index]; }

}  // namespace symnas::dnfs
