#include "tests/contract/cvm/held_file.h"

#include <fcntl.h>
#include <linux/fuse.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

namespace symnas::cvm {
namespace {

constexpr std::uint64_t kFileNode = 2;
constexpr std::uint32_t kWriteBytesMax = 1 << 17;

template <class T>
const T& argument(const std::vector<char>& request) {
  return *reinterpret_cast<const T*>(request.data() + sizeof(fuse_in_header));
}
const fuse_in_header& header(const std::vector<char>& request) {
  return *reinterpret_cast<const fuse_in_header*>(request.data());
}

}  // namespace

Result<std::unique_ptr<HeldFile>> HeldFile::mount(const std::string& directory,
                                                  std::uint64_t size_bytes) {
  std::unique_ptr<HeldFile> file(new HeldFile);
  file->directory_ = directory;
  file->content_.assign(size_bytes, '\0');
  file->device_ = UniqueFd(::open("/dev/fuse", O_RDWR | O_CLOEXEC));
  const std::string options = "fd=" + std::to_string(file->device_.get()) +
                              ",rootmode=40000,user_id=0,group_id=0,allow_other";
  if (!file->device_.valid() ||
      ::mount("held", directory.c_str(), "fuse", MS_NOSUID | MS_NODEV, options.c_str()) != 0) {
    file->device_.reset();
    return fail(ErrorCode::kUnavailable, std::string("no FUSE here: ") + std::strerror(errno));
  }
  file->thread_ = std::thread([raw = file.get()] { raw->serve(); });
  return file;
}

HeldFile::~HeldFile() {
  if (!device_.valid()) return;
  let_go();
  ::umount2(directory_.c_str(), MNT_DETACH);
  if (thread_.joinable()) thread_.join();
}

void HeldFile::hold() {
  const std::scoped_lock lock(mutex_);
  holding_ = true;
}

void HeldFile::let_go() {
  std::vector<std::vector<char>> waiting;
  {
    const std::scoped_lock lock(mutex_);
    holding_ = false;
    waiting = std::exchange(held_, {});
  }
  for (const auto& request : waiting) write(request);
}

bool HeldFile::wait_for_held(int timeout_ms) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, std::chrono::milliseconds(timeout_ms),
                           [this] { return !held_.empty(); });
}

std::string HeldFile::content(std::uint64_t offset, std::size_t bytes) {
  const std::scoped_lock lock(mutex_);
  return content_.substr(offset, bytes);
}

void HeldFile::serve() {
  std::vector<char> buffer(kWriteBytesMax + 8192);
  for (;;) {
    const ssize_t got = ::read(device_.get(), buffer.data(), buffer.size());
    if (got < 0 && (errno == EINTR || errno == ENOENT || errno == EAGAIN)) continue;
    if (got <= 0) return;  // ENODEV: unmounted
    handle(std::vector<char>(buffer.begin(), buffer.begin() + got));
  }
}

void HeldFile::reply(std::uint64_t unique, int error, const void* data, std::size_t bytes) {
  fuse_out_header out{};
  out.len = static_cast<std::uint32_t>(sizeof out + bytes);
  out.error = -error;
  out.unique = unique;
  const struct iovec parts[] = {{&out, sizeof out}, {const_cast<void*>(data), bytes}};
  // ENOENT: the requester was killed and does not wait any more.
  [[maybe_unused]] const ssize_t put = ::writev(device_.get(), parts, bytes == 0 ? 1 : 2);
}

void HeldFile::write(const std::vector<char>& request) {
  const auto& in = argument<fuse_write_in>(request);
  {
    const std::scoped_lock lock(mutex_);
    content_.replace(in.offset, in.size, request.data() + sizeof(fuse_in_header) + sizeof in,
                     in.size);
  }
  fuse_write_out out{};
  out.size = in.size;
  reply(header(request).unique, 0, &out, sizeof out);
}

void HeldFile::attributes(void* attr) const {
  auto& out = *static_cast<fuse_attr*>(attr);
  out.ino = kFileNode;
  out.size = content_.size();
  out.blocks = content_.size() / 512;
  out.mode = S_IFREG | 0600;
  out.nlink = 1;
  out.blksize = 4096;
}

void HeldFile::handle(const std::vector<char>& request) {
  const fuse_in_header& in = header(request);
  switch (in.opcode) {
    case FUSE_INIT: {
      fuse_init_out out{};
      out.major = FUSE_KERNEL_VERSION;
      out.minor = 31;
      out.max_readahead = 0;
      out.flags = FUSE_BIG_WRITES;
      out.max_background = 64;
      out.congestion_threshold = 64;
      out.max_write = kWriteBytesMax;
      out.time_gran = 1;
      return reply(in.unique, 0, &out, sizeof out);
    }
    case FUSE_LOOKUP: {
      fuse_entry_out out{};
      if (std::strcmp(request.data() + sizeof in, "lun") != 0)
        return reply(in.unique, ENOENT, nullptr, 0);
      out.nodeid = kFileNode;
      out.entry_valid = out.attr_valid = 3600;
      attributes(&out.attr);
      return reply(in.unique, 0, &out, sizeof out);
    }
    case FUSE_GETATTR:
    case FUSE_SETATTR: {
      fuse_attr_out out{};
      out.attr_valid = 3600;
      attributes(&out.attr);
      if (in.nodeid == FUSE_ROOT_ID) out.attr.mode = S_IFDIR | 0700;
      return reply(in.unique, 0, &out, sizeof out);
    }
    case FUSE_OPEN: {
      const fuse_open_out out{};
      return reply(in.unique, 0, &out, sizeof out);
    }
    case FUSE_READ: {
      const auto& read = argument<fuse_read_in>(request);
      const std::string data = content(read.offset, read.size);
      return reply(in.unique, 0, data.data(), data.size());
    }
    case FUSE_WRITE: {
      {
        const std::scoped_lock lock(mutex_);
        if (holding_) {
          held_.push_back(request);
          changed_.notify_all();
          return;
        }
      }
      return write(request);
    }
    case FUSE_FLUSH:
    case FUSE_FSYNC:
    case FUSE_RELEASE:
    case FUSE_DESTROY: return reply(in.unique, 0, nullptr, 0);
    case FUSE_FORGET:
    case FUSE_BATCH_FORGET:
    case FUSE_INTERRUPT: return;  // no answer is expected
    default: return reply(in.unique, ENOSYS, nullptr, 0);
  }
}

}  // namespace symnas::cvm
