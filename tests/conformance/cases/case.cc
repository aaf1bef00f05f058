#include "tests/conformance/cases/case.h"

#include <grp.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "tests/conformance/cases/running.h"

namespace conformance {
namespace {

// The first end of a case counts: a child's failure is not told again by its parent.
[[noreturn]] void end_case(const char* verdict, const std::string& why) {
  const std::string line = verdict + why + "\n";
  if (write(verdict_fd(), line.data(), line.size()) < 0) _exit(kBroken);
  _exit(kEnded);
}

std::string at_line(const char* text, int line) {
  return "line " + std::to_string(line) + ": " + text;
}

}  // namespace

void fail(const std::string& why) { end_case("not ok", ": " + why); }
void skip(const std::string& why) { end_case("skip", ": " + why); }

std::string errno_name(int error) {
  const char* name = strerrorname_np(error);
  return name ? name : std::to_string(error);
}

void failed_call(const char* text, int line, int error) {
  fail(errno_name(error) + " at " + at_line(text, line));
}

void refused(long result, int error, int wanted, const char* text, int line) {
  if (result != -1)
    fail("no error instead of " + errno_name(wanted) + " at " + at_line(text, line));
  if (error != wanted) {
    fail(errno_name(error) + " instead of " + errno_name(wanted) + " at " + at_line(text, line));
  }
}

void same(const std::string& got, const std::string& wanted, const char* text, int line) {
  if (got != wanted) fail(got + " instead of " + wanted + " at " + at_line(text, line));
}

std::string shown(const std::string& value) {
  constexpr std::size_t kShownMax = 60;
  std::string text = "\"";
  for (const char c : value.substr(0, kShownMax)) text += c >= ' ' && c <= '~' ? c : '?';
  text += '"';
  // What is not shown differs in its checksum.
  if (value.size() > kShownMax || text.size() != value.size() + 2 ||
      text.find('?') != std::string::npos) {
    text += " (" + std::to_string(value.size()) + " bytes, hash " +
            std::to_string(std::hash<std::string>()(value)) + ")";
  }
  return text;
}

std::string shown(long long value) { return std::to_string(value); }

void in_children(const std::vector<std::function<void()>>& bodies) {
  std::vector<pid_t> children;
  for (const auto& body : bodies) {
    children.push_back(MUST(fork()));
    if (children.back() == 0) {
      body();
      _exit(0);
    }
  }
  for (const pid_t pid : children) {
    int status = 0;
    MUST(waitpid(pid, &status, 0));
    if (WIFSIGNALED(status)) {
      fail("a child was ended by signal " + std::to_string(WTERMSIG(status)));
    }
    if (WEXITSTATUS(status) != 0) _exit(WEXITSTATUS(status));
  }
}

void in_child(const std::function<void()>& body) { in_children({body}); }

int ended_by(pid_t pid) {
  int status = 0;
  MUST(waitpid(pid, &status, 0));
  return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

void as(uid_t uid, gid_t gid, const std::vector<gid_t>& groups, const std::function<void()>& body) {
  in_child([&] {
    MUST(setgroups(groups.size(), groups.data()));
    MUST(setresgid(gid, gid, gid));
    MUST(setresuid(uid, uid, uid));
    body();
  });
}

void as_user(const std::function<void()>& body) { as(1000, 1000, {}, body); }

std::string there(const std::string& name) {
  if (settings().there.empty()) skip("no second client");
  return there_folder() + "/" + name;
}

}  // namespace conformance
