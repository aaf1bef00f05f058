#include "fsal_cluster/pulse/pulse.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <new>
#include <system_error>

#include <fmt/core.h>

namespace symnas::fs {

namespace {

constexpr std::uint64_t kMagic = 0x3245534c55504d53;  // "SMPULSE2"
constexpr const char* kName = "symnas-pulse";
constexpr const char* kLink = "/memfd:symnas-pulse (deleted)";  // proc_pid_fd(5)

}  // namespace

struct PulsePage {
  std::atomic<std::uint64_t> magic;  // last of all: then the rest is there
  std::atomic<std::int64_t> beat_ns;
  std::atomic<std::int64_t> open_until_ns;
  std::atomic<std::int64_t> first_request_ns;
  std::atomic<std::int64_t> last_reclaim_ns;
};

namespace {

static_assert(sizeof(PulsePage) == 40);
static_assert(std::atomic<std::int64_t>::is_always_lock_free);

tl::unexpected<Error> failed(const char* what) {
  return fail(ErrorCode::kIo, fmt::format("pulse: {}: {}", what, std::strerror(errno)));
}

// Opens the page of a process, found among its descriptors.
UniqueFd find_page(int pid) {
  std::error_code error;
  for (const auto& entry :
       std::filesystem::directory_iterator(fmt::format("/proc/{}/fd", pid), error)) {
    std::error_code gone;
    if (std::filesystem::read_symlink(entry.path(), gone) == kLink)
      return UniqueFd(::open(entry.path().c_str(), O_RDONLY | O_CLOEXEC));
  }
  return UniqueFd();
}

}  // namespace

void PulseWriter::Unmap::operator()(PulsePage* page) const { ::munmap(page, sizeof *page); }

void PulseReader::Unmap::operator()(const PulsePage* page) const {
  ::munmap(const_cast<PulsePage*>(page), sizeof *page);
}

Result<PulseWriter> PulseWriter::create() {
  UniqueFd fd(::memfd_create(kName, MFD_CLOEXEC));
  if (!fd.valid() || ::ftruncate(fd.get(), sizeof(PulsePage)) != 0) return failed("creating it");
  void* memory =
      ::mmap(nullptr, sizeof(PulsePage), PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  if (memory == MAP_FAILED) return failed("mapping the page");
  return PulseWriter(std::move(fd), new (memory) PulsePage{});
}

void PulseWriter::write(const Pulse& pulse) {
  page_->open_until_ns.store(pulse.open_until_ns);
  page_->first_request_ns.store(pulse.first_request_ns);
  page_->last_reclaim_ns.store(pulse.last_reclaim_ns);
  page_->beat_ns.store(pulse.beat_ns);
  page_->magic.store(kMagic);
}

Result<PulseReader> PulseReader::open(int pid) {
  const UniqueFd fd = find_page(pid);
  struct stat status {};
  if (!fd.valid()) {
    return fail(ErrorCode::kNotFound, fmt::format("process {}: shows no pulse", pid));
  }
  // Reading behind the end of the page would be a SIGBUS. The size is checked once: no writer
  // shrinks it.
  if (::fstat(fd.get(), &status) != 0) return failed("reading the page's size");
  if (status.st_size < static_cast<off_t>(sizeof(PulsePage))) {
    return fail(ErrorCode::kNotFound, fmt::format("process {}: has not shown a pulse yet", pid));
  }
  void* memory = ::mmap(nullptr, sizeof(PulsePage), PROT_READ, MAP_SHARED, fd.get(), 0);
  if (memory == MAP_FAILED) return failed("mapping the page");
  PulseReader reader(static_cast<const PulsePage*>(memory));
  const std::uint64_t magic = reader.page_->magic.load();
  if (magic == 0) {
    return fail(ErrorCode::kNotFound, fmt::format("process {}: has not shown a pulse yet", pid));
  }
  if (magic != kMagic) {
    return fail(ErrorCode::kCorrupt, fmt::format("process {}: its pulse has another version", pid));
  }
  return reader;
}

Pulse PulseReader::read() const {
  return {page_->beat_ns.load(), page_->open_until_ns.load(), page_->first_request_ns.load(),
          page_->last_reclaim_ns.load()};
}

}  // namespace symnas::fs
