#include "ha/reservation/journal.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <sstream>

#include <fmt/core.h>

#include "ha/reservation/limits.h"

namespace symnas::ha {
namespace {

std::string_view word_of(Enrolment what) {
  switch (what) {
    case Enrolment::kNever: return "refused";
    case Enrolment::kBegun: return "begun";
    case Enrolment::kDone: return "done";
    case Enrolment::kWithdrawn: return "withdrawn";
  }
  return "";
}

std::optional<Enrolment> meaning_of(std::string_view word) {
  for (const Enrolment what :
       {Enrolment::kNever, Enrolment::kBegun, Enrolment::kDone, Enrolment::kWithdrawn}) {
    if (word == word_of(what)) return what;
  }
  return std::nullopt;
}

tl::unexpected<Error> io_error(const std::string& path, std::string_view what) {
  return fail(ErrorCode::kIo, fmt::format("{}: {}: {}", path, what, std::strerror(errno)));
}

Result<std::string> read_all(int fd, const std::string& path) {
  std::string text;
  char piece[4096];
  for (;;) {
    const ssize_t got = ::pread(fd, piece, sizeof piece, static_cast<off_t>(text.size()));
    if (got < 0) return io_error(path, "read");
    if (got == 0) return text;
    text.append(piece, static_cast<std::size_t>(got));
    if (text.size() > kJournalBytesMax) {
      return fail(ErrorCode::kPermission,
                  fmt::format("{}: longer than any journal of ours (reboot this head)", path));
    }
  }
}

using Seen = std::map<std::string, Enrolment>;

Result<Seen> parse(const std::string& text, const std::string& path) {
  Seen seen;
  std::istringstream lines(text);
  std::size_t taken = 0;
  for (std::string word, lun, line; std::getline(lines, line);) {
    taken += line.size() + 1;
    std::istringstream words(line);
    const auto meaning = words >> word >> lun ? meaning_of(word) : std::nullopt;
    if (!meaning || taken > text.size() || words >> word) {
      return fail(ErrorCode::kPermission,
                  fmt::format("{}: '{}' is no line of ours, so nobody knows what this boot has "
                              "registered (reboot this head)",
                              path, line.substr(0, 80)));
    }
    seen[lun] = *meaning;
  }
  return seen;
}

// Other keys with which this boot has registered, by LUN.
Result<std::map<std::string, std::string>> read_others(const std::string& directory,
                                                       const std::string& own) {
  std::map<std::string, std::string> others;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
    const std::string key = entry.path().filename().string();
    if (key == own || !key.starts_with("0x") || !parse_key(key)) continue;
    const std::string path = entry.path().string();
    const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd.valid()) return io_error(path, "cannot be opened");
    SYMNAS_ASSIGN(const std::string text, read_all(fd.get(), path));
    SYMNAS_ASSIGN(const Seen seen, parse(text, path));
    for (const auto& [lun, what] : seen) {
      if (what == Enrolment::kBegun || what == Enrolment::kDone) others[lun] = key;
    }
  }
  if (error) return fail(ErrorCode::kIo, fmt::format("{}: {}", directory, error.message()));
  return others;
}

}  // namespace

Result<Journal> Journal::open(const std::string& directory, ReservationKey key) {
  if (::mkdir(directory.c_str(), 0700) != 0 && errno != EEXIST) {
    return io_error(directory, "cannot be made");
  }
  const std::string path = fmt::format("{}/{}", directory, render_key(key));
  UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  if (!fd.valid()) return io_error(path, "cannot be opened");
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    return fail(ErrorCode::kUnavailable,
                fmt::format("{}: another registration of this boot runs, or hangs in a LUN that "
                            "does not answer (wait for its end)",
                            path));
  }
  SYMNAS_ASSIGN(const std::string text, read_all(fd.get(), path));
  Journal journal(std::move(fd), path);
  SYMNAS_ASSIGN(journal.seen_, parse(text, path));
  SYMNAS_ASSIGN(journal.others_, read_others(directory, render_key(key)));
  return journal;
}

std::string Journal::other_key_of(const std::string& lun) const {
  const auto found = others_.find(lun);
  return found == others_.end() ? "" : found->second;
}

Enrolment Journal::of(const std::string& lun) const {
  const auto found = seen_.find(lun);
  return found == seen_.end() ? Enrolment::kNever : found->second;
}

Status Journal::note(const std::string& lun, Enrolment what) {
  const std::string line = fmt::format("{} {}\n", word_of(what), lun);
  const ssize_t written = ::write(fd_.get(), line.data(), line.size());
  if (written != static_cast<ssize_t>(line.size())) return io_error(path_, "write");
  if (::fdatasync(fd_.get()) != 0) return io_error(path_, "sync");
  seen_[lun] = what;
  return {};
}

}  // namespace symnas::ha
