// A case of the conformance run: one rule that a filesystem keeps, in its smallest form.
//
// A case runs in a process of its own, as root, with umask 0, in an empty directory of mode 0777 of
// the mount that is looked at. It ends well by returning; the macros below end it otherwise, with
// the line and what was seen. Names are "subject.rule". Confined to one thread.
#pragma once
#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

namespace conformance {

// The protocol of the mount; a case names those that can carry what it asks for.
enum Version : unsigned { kV3 = 1, kV40 = 2, kV41 = 4, kV42 = 8 };
constexpr unsigned kV4 = kV40 | kV41 | kV42;
constexpr unsigned kAll = kV3 | kV4;

struct Case {
  std::string name;
  const char* reference;  // where the rule is written
  std::function<void()> run;
  unsigned versions = kAll;
};
using Cases = std::vector<Case>;

struct Settings {
  Version version = kV42;
  std::string here;   // the mount
  std::string there;  // the same directory as another client sees it; "": there is none
  bool long_form = false;
  unsigned long seed = 1;  // of what is done at random
};
const Settings& settings();

// Ends the case: failed, or skipped because the environment lacks something.
[[noreturn]] void fail(const std::string& why);
[[noreturn]] void skip(const std::string& why);

// Runs body in a child process with these ids and without capabilities; the case ends if it fails.
void as(uid_t uid, gid_t gid, const std::vector<gid_t>& groups, const std::function<void()>& body);
// As user 1000 of group 1000, nothing else.
void as_user(const std::function<void()>& body);
// Runs body in a child of the same ids.
void in_child(const std::function<void()>& body);

// Runs each in a child of its own, at the same time; the case ends if one fails.
void in_children(const std::vector<std::function<void()>>& bodies);
// Waits for a child; the signal that ended it, or 0.
int ended_by(pid_t pid);

// The path of `name`, in the case's directory, at the other client. Skips where there is none.
std::string there(const std::string& name);

// --- behind the macros

[[noreturn]] void failed_call(const char* text, int line, int error);
void refused(long result, int error, int wanted, const char* text, int line);
void same(const std::string& got, const std::string& wanted, const char* text, int line);
std::string shown(const std::string& value);
std::string shown(long long value);
std::string errno_name(int error);

template <class Result>
Result must(Result result, int error, const char* text, int line) {
  if (result == static_cast<Result>(-1)) failed_call(text, line, error);
  return result;
}

}  // namespace conformance

// The call does not return -1. Its result.
#define MUST(call)                                                    \
  ([&] {                                                              \
    const auto result_of_call = (call);                               \
    return conformance::must(result_of_call, errno, #call, __LINE__); \
  }())
// The call returns -1 with this errno.
#define REFUSED(wanted, call)                                             \
  do {                                                                    \
    const long result_of_call = static_cast<long>(call);                  \
    conformance::refused(result_of_call, errno, wanted, #call, __LINE__); \
  } while (false)
// Numbers or texts are equal.
#define EQUAL(wanted, got) \
  conformance::same(conformance::shown(got), conformance::shown(wanted), #got, __LINE__)
#define TRUE(condition)                                         \
  do {                                                          \
    if (!(condition)) conformance::fail("not so: " #condition); \
  } while (false)
