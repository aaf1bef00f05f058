// guest_conformance: carries out the cases on an NFS mount, in a client VM.
//
//   guest_conformance --list
//   guest_conformance VERSION DIRECTORY [--there DIRECTORY] [--seed N] [--long]
//                    [--many] [WORD...]
// VERSION: v3, v4.0, v4.1 or v4.2. DIRECTORY: in the mount, empty. --there: the same directory as
// another client has mounted it. --seed: of the random tests.
// --many: the cases of a directory with many names instead (subjects.h). WORD: a part of the names
// of the cases to carry out. A line for each case: "ok NAME", "not ok NAME: why" or "skip NAME:
// why"; at the end "end COUNT".
// --list prints each name and reference. Exit status: 0; 2 usage, or no case could be begun.
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <map>

#include "tests/conformance/cases/running.h"
#include "tests/conformance/cases/subjects.h"

namespace conformance {
namespace {

constexpr unsigned kCaseMaxS = 120;  // a move of the VNFS in between takes some of it

constexpr std::time_t kSlowS = 3;  // is said

Settings current;
int verdict = -1;
std::string other_folder;

const std::map<std::string, Version> kVersions = {
    {"v3", kV3}, {"v4.0", kV40}, {"v4.1", kV41}, {"v4.2", kV42}};

bool is_wanted(const Case& one, const std::vector<std::string>& words) {
  if (!(one.versions & current.version)) return false;
  for (const std::string& word : words) {
    if (one.name.find(word) != std::string::npos) return true;
  }
  return words.empty();
}

// What the case is in its own process.
[[noreturn]] void carry_out(const Case& one, int fd) {
  verdict = fd;
  umask(0);
  alarm(kCaseMaxS);
  const std::string folder = current.here + "/" + one.name;
  if (!current.there.empty()) other_folder = current.there + "/" + one.name;
  MUST(mkdir(folder.c_str(), 0777));
  MUST(chdir(folder.c_str()));
  one.run();
  _exit(0);
}

std::string end_of(int status) {
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return "ok";
  if (!WIFSIGNALED(status)) return "not ok: ended with " + std::to_string(WEXITSTATUS(status));
  if (WTERMSIG(status) == SIGALRM) {
    return "not ok: has not ended after " + std::to_string(kCaseMaxS) + " s";
  }
  return "not ok: ended by signal " + std::to_string(WTERMSIG(status));
}

// "ok", "not ok: why" or "skip: why".
std::string verdict_of(const Case& one) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return "not ok: no pipe";
  std::fflush(stdout);
  const pid_t pid = fork();
  if (pid == 0) carry_out(one, ends[1]);
  close(ends[1]);
  int status = 0;
  const bool gone = pid > 0 && waitpid(pid, &status, 0) == pid;
  // Not to its end: what a case has left running would hold it open.
  char told[4096];
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  const ssize_t length = read(ends[0], told, sizeof told);
  close(ends[0]);
  if (!gone) return "not ok: no process";
  if (length <= 0) return end_of(status);
  const std::string text(told, static_cast<std::size_t>(length));
  return text.substr(0, text.find('\n'));
}

int run_all(const Cases& cases, const std::vector<std::string>& words) {
  int count = 0;
  for (const Case& one : cases) {
    if (!is_wanted(one, words)) continue;
    const std::time_t since = std::time(nullptr);
    const std::string said = verdict_of(one);
    const std::time_t took_s = std::time(nullptr) - since;
    const std::size_t colon = said.find(':');
    std::string why = colon == std::string::npos ? "" : said.substr(colon);
    if (why.empty() && took_s >= kSlowS) why = ": " + std::to_string(took_s) + " s";
    std::printf("%s %s%s\n", said.substr(0, colon).c_str(), one.name.c_str(), why.c_str());
    std::fflush(stdout);
    ++count;
  }
  std::printf("end %d\n", count);
  return count > 0 || !words.empty() ? 0 : 2;
}

Cases all_cases() {
  Cases all;
  for (const auto& subject :
       {permission_cases, ownership_cases, sticky_cases, creation_cases, time_cases, rename_cases,
        link_and_special_cases, name_cases, data_cases, mapped_cases, space_cases, lock_cases,
        client_cases, xattr_cases, posix_acl_cases, nfs4_acl_cases, random_cases, program_cases}) {
    for (Case& one : subject()) all.push_back(std::move(one));
  }
  return all;
}

}  // namespace

const Settings& settings() { return current; }
int verdict_fd() { return verdict; }
const std::string& there_folder() { return other_folder; }

}  // namespace conformance

int main(int argc, char** argv) {
  using namespace conformance;
  const std::vector<std::string> words(argv + 1, argv + argc);
  Cases cases = all_cases();
  if (words == std::vector<std::string>{"--list"}) {
    for (const Case& one : cases) std::printf("%-48s %s\n", one.name.c_str(), one.reference);
    return 0;
  }
  if (words.size() < 2 || !kVersions.count(words[0])) {
    std::fprintf(stderr,
                 "usage: guest_conformance VERSION DIRECTORY [--there DIRECTORY] [--long] "
                 "[WORD...]\n");
    return 2;
  }
  current.version = kVersions.at(words[0]);
  current.here = words[1];
  std::vector<std::string> chosen;
  for (std::size_t at = 2; at < words.size(); ++at) {
    if (words[at] == "--long") {
      current.long_form = true;
    } else if (words[at] == "--many") {
      cases = many_names_cases();
    } else if (words[at] == "--seed" && at + 1 < words.size()) {
      current.seed = std::strtoul(words[++at].c_str(), nullptr, 10);
    } else if (words[at] == "--there" && at + 1 < words.size()) {
      current.there = words[++at];
    } else {
      chosen.push_back(words[at]);
    }
  }
  return run_all(cases, chosen);
}
