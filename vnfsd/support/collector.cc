#include "vnfsd/support/collector.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "ha/fencing/run_program.h"
#include "vnfsd/support/limits.h"

namespace symnas::vnfsd::support {
namespace {

using nlohmann::json;

constexpr const char* kFolder = "symnas-support/";  // of all members

std::string in_one_line(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  }
  return text;
}

// The end of a text that is too long, from the beginning of a line.
void keep_end(std::string& text) {
  if (text.size() <= kMemberBytesMax) return;
  text.erase(0, text.size() - kMemberBytesMax);
  text.erase(0, text.find('\n') + 1);
}

}  // namespace

Result<std::string> read_end(const std::string& path) {
  if (must_stay(path))
    return fail(ErrorCode::kInvalidArgument, "keys and what lies beside them stay here");
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat found {};
  if (!fd.valid() || ::fstat(fd.get(), &found) != 0) {
    return fail(errno == ENOENT ? ErrorCode::kNotFound : ErrorCode::kIo,
                fmt::format("file {}: {}", path, std::strerror(errno)));
  }
  if (!S_ISREG(found.st_mode))
    return fail(ErrorCode::kInvalidArgument, fmt::format("file {}: no plain file", path));
  // Files of /proc have no size.
  const off_t limit = static_cast<off_t>(kMemberBytesMax);
  off_t at = found.st_size > limit ? found.st_size - limit : 0;
  const bool cut = at > 0;
  std::string text;
  char piece[64 * 1024];
  while (text.size() < kMemberBytesMax) {
    const ssize_t got = ::pread(fd.get(), piece, sizeof piece, at);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0)
      return fail(ErrorCode::kIo, fmt::format("file {}: {}", path, std::strerror(errno)));
    if (got == 0) break;
    text.append(piece, static_cast<std::size_t>(got));
    at += got;
  }
  if (cut) text.erase(0, text.find('\n') + 1);
  return text;
}

Collector::Collector(Archive& archive, Secrets secrets)
    : archive_(archive), secrets_(std::move(secrets)), begun_(std::chrono::steady_clock::now()) {}

std::int64_t Collector::spent_ms() const {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() -
                                                               begun_)
      .count();
}

void Collector::missing(const std::string& name, const std::string& why) {
  ++taken_.missing;
  manifest_ +=
      fmt::format("missing    {}: {}\n", secrets_.strike(name), secrets_.strike(in_one_line(why)));
}

bool Collector::goes_on(const std::string& name) {
  if (spent_ms() >= kBundleMs) {
    missing(name, fmt::format("{} s were over", kBundleMs / 1000));
  } else if (taken_.bytes >= kBundleBytesMax) {
    missing(name, fmt::format("the bundle had {} bytes already", taken_.bytes));
  } else {
    return true;
  }
  return false;
}

Status Collector::put(const std::string& name, const std::string& text, const std::string& remark) {
  const Status done = archive_.add(kFolder + secrets_.strike(name), text, std::time(nullptr));
  if (!done && done.error().code != ErrorCode::kInvalidArgument) return done;
  if (!done) {
    missing(name, done.error().message);
    return {};
  }
  ++taken_.members;
  taken_.bytes += text.size();
  manifest_ += fmt::format("{:>10} {}{}\n", text.size(), secrets_.strike(name),
                           secrets_.strike(in_one_line(remark)));
  return {};
}

Status Collector::text(const std::string& name, std::string text) {
  if (!goes_on(name)) return {};
  keep_end(text);
  return put(name, secrets_.strike(std::move(text)), "");
}

Status Collector::file(const std::string& name, const std::string& path) {
  if (!goes_on(name)) return {};
  Result<std::string> text = read_end(path);
  if (text) return put(name, secrets_.strike(std::move(*text)), "");
  missing(name, text.error().message);
  return {};
}

Status Collector::json_file(const std::string& name, const std::string& path) {
  if (!goes_on(name)) return {};
  Result<std::string> text = read_end(path);
  if (!text) {
    missing(name, text.error().message);
    return {};
  }
  json document = json::parse(*text, nullptr, false);
  if (document.is_discarded()) return put(name, secrets_.strike(std::move(*text)), " (no JSON)");
  return this->document(name, std::move(document));
}

Status Collector::document(const std::string& name, const Result<json>& document) {
  if (!goes_on(name)) return {};
  if (!document) {
    missing(name, document.error().message);
    return {};
  }
  std::string text =
      secrets_.strike_document(*document).dump(1, ' ', false, json::error_handler_t::replace) +
      "\n";
  keep_end(text);
  return put(name, text, "");
}

Status Collector::program(const std::string& name, const std::string& path,
                          const std::vector<std::string>& arguments) {
  if (!goes_on(name)) return {};
  ha::ProgramCall call{"program", path, arguments};
  call.timeout_ms = kProgramMs;
  call.output_bytes_max = kMemberBytesMax;
  Result<ha::ProgramEnd> end = ha::run_program(call);
  if (!end) {
    missing(name, end.error().message);
    return {};
  }
  const std::string remark =
      end->exit_status == 0 ? "" : fmt::format(" (exit status {})", end->exit_status);
  return put(name, secrets_.strike(std::move(end->output)), remark);
}

Result<Taken> Collector::finish() {
  const std::string text =
      fmt::format("Bytes and name of what is here; what is missing, and why. {} s.\n\n{}",
                  spent_ms() / 1000, manifest_);
  SYMNAS_TRY(archive_.add(std::string(kFolder) + "MANIFEST", text, std::time(nullptr)));
  SYMNAS_TRY(archive_.finish());
  return taken_;
}

}  // namespace symnas::vnfsd::support
