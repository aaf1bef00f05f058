#include "vnfsd/support/archive.h"

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fmt/core.h>

namespace symnas::vnfsd::support {
namespace {

constexpr std::size_t kBlockBytes = 512;
constexpr std::size_t kNameBytesMax = 100;
constexpr std::uint64_t kSizeEnd = std::uint64_t{1} << 33;  // 11 octal digits
constexpr int kGzip = 15 + 16;                              // window of 32 KiB; a gzip header
constexpr int kMemoryLevel = 8;                             // zlib's default

tl::unexpected<Error> failed(const std::string& path, const char* what, int error) {
  return fail(ErrorCode::kIo, fmt::format("file {}: {}: {}", path, what, std::strerror(error)));
}

}  // namespace

Result<std::string> tar_header(std::string_view name, std::uint64_t size_bytes,
                               std::int64_t mtime_s) {
  if (name.empty() || name.size() > kNameBytesMax)
    return fail(ErrorCode::kInvalidArgument, fmt::format("'{}': too long a name for tar", name));
  if (size_bytes >= kSizeEnd)
    return fail(ErrorCode::kTooLarge, fmt::format("{}: too large for tar", name));
  std::string header(kBlockBytes, '\0');
  const auto put = [&](std::size_t at, std::string_view text) {
    header.replace(at, text.size(), text);
  };
  put(0, name);
  put(100, "0000600");
  put(108, "0000000");  // uid
  put(116, "0000000");  // gid
  put(124, fmt::format("{:011o}", size_bytes));
  put(136, fmt::format("{:011o}", std::max<std::int64_t>(mtime_s, 0)));
  put(148, "        ");  // the sum is made with blanks in its place
  put(156, "0");         // a plain file
  put(257, std::string_view("ustar\00000", 8));
  put(265, "root");
  put(297, "root");
  unsigned sum = 0;
  for (const char c : header) sum += static_cast<unsigned char>(c);
  put(148, fmt::format("{:06o}", sum));
  header[154] = '\0';
  return header;
}

void Archive::End::operator()(z_stream_s* stream) const {
  ::deflateEnd(stream);
  delete stream;
}

Archive::Archive(std::string path, UniqueFd fd, std::unique_ptr<z_stream_s, End> stream)
    : path_(std::move(path)), fd_(std::move(fd)), stream_(std::move(stream)) {}

Archive::Archive(Archive&& other) noexcept
    : path_(std::exchange(other.path_, "")),
      fd_(std::move(other.fd_)),
      stream_(std::move(other.stream_)) {}

Archive::~Archive() {
  if (!path_.empty()) ::unlink(path_.c_str());
}

Result<Archive> Archive::create(const std::string& path) {
  UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!fd.valid() && errno == EEXIST) {
    return fail(ErrorCode::kAlreadyExists,
                fmt::format("file {}: exists and is not overwritten", path));
  }
  if (!fd.valid()) return failed(path, "creating", errno);
  auto* stream = new z_stream_s{};
  if (::deflateInit2(stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzip, kMemoryLevel,
                     Z_DEFAULT_STRATEGY) != Z_OK) {
    delete stream;
    ::unlink(path.c_str());
    return failed(path, "compressing", ENOMEM);
  }
  return Archive(path, std::move(fd), std::unique_ptr<z_stream_s, End>(stream));
}

Status Archive::write(std::string_view bytes, int flush) {
  char out[64 * 1024];
  // zlib's interface has no const; it only reads.
  stream_->next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream_->avail_in = static_cast<uInt>(bytes.size());
  do {
    stream_->next_out = reinterpret_cast<Bytef*>(out);
    stream_->avail_out = sizeof out;
    ::deflate(stream_.get(), flush);
    std::string_view made(out, sizeof out - stream_->avail_out);
    while (!made.empty()) {
      const ssize_t written = ::write(fd_.get(), made.data(), made.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return failed(path_, "writing", errno);
      made.remove_prefix(static_cast<std::size_t>(written));
    }
  } while (stream_->avail_out == 0);
  return {};
}

Status Archive::add(std::string_view name, std::string_view bytes, std::int64_t mtime_s) {
  SYMNAS_ASSIGN(const std::string header, tar_header(name, bytes.size(), mtime_s));
  SYMNAS_TRY(write(header, Z_NO_FLUSH));
  constexpr std::size_t kPiece = std::size_t{1} << 30;  // zlib counts in 32 bits
  for (std::size_t at = 0; at < bytes.size(); at += kPiece)
    SYMNAS_TRY(write(bytes.substr(at, kPiece), Z_NO_FLUSH));
  const std::size_t rest = bytes.size() % kBlockBytes;
  return rest == 0 ? Status() : write(std::string(kBlockBytes - rest, '\0'), Z_NO_FLUSH);
}

Status Archive::finish() {
  SYMNAS_TRY(write(std::string(2 * kBlockBytes, '\0'), Z_FINISH));
  if (::fsync(fd_.get()) != 0) return failed(path_, "syncing", errno);
  path_.clear();
  return {};
}

}  // namespace symnas::vnfsd::support
