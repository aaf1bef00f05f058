// Real programs as uid 1000: git, SQLite. The harness brings them with the long form (programs.py).
#include <signal.h>
#include <sys/wait.h>

#include <cstdlib>

#include "tests/conformance/cases/files.h"
#include "tests/conformance/cases/subjects.h"

namespace conformance {
namespace {

constexpr const char* kReference = "POSIX: what programs rely on";
constexpr unsigned kTwoVersions = kV3 | kV42;  // they take long
constexpr const char* kRepository = "/run/repository.git";
constexpr int kRows = 40;

// Runs a program, which must end well; what it prints.
std::string run(const std::vector<std::string>& words) {
  int ends[2];
  MUST(pipe(ends));
  const pid_t pid = MUST(fork());
  if (pid == 0) {
    dup2(ends[1], STDOUT_FILENO);
    dup2(ends[1], STDERR_FILENO);
    close(ends[0]);
    close(ends[1]);
    setenv("HOME", "/tmp", 1);
    std::vector<char*> arguments;
    for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    execvp(arguments[0], arguments.data());
    _exit(127);
  }
  close(ends[1]);
  std::string printed;
  char bytes[4096];
  for (ssize_t n; (n = read(ends[0], bytes, sizeof bytes)) > 0;) {
    printed.append(bytes, static_cast<std::size_t>(n));
  }
  close(ends[0]);
  int status = 0;
  MUST(waitpid(pid, &status, 0));
  if (status != 0) {
    fail(words[0] + " " + words[1] + " ended with " + std::to_string(WEXITSTATUS(status)) + ": " +
         shown(printed));
  }
  return printed;
}

std::string sqlite(const std::string& file, const std::string& statement) {
  return run({"sqlite3", "-bail", "-cmd", ".timeout 60000", file, statement});
}

void need(const std::string& program) {
  if (!settings().long_form) skip("the programs are not in the short form");
  if (access(("/bin/" + program).c_str(), X_OK) != 0) skip("this machine has no " + program);
}

void insert_rows(const std::string& file) {
  for (int row = 0; row < kRows / 2; ++row) sqlite(file, "insert into t values (1);");
}

Case program(const std::string& name, const std::function<void()>& body,
             unsigned versions = kTwoVersions) {
  return {"programs." + name, kReference,
          [=] {
            need(name.substr(0, name.find('_')));
            as_user(body);
          },
          versions};
}

}  // namespace

Cases program_cases() {
  return {
      program("git_clone",
              [] {
                run({"git", "clone", "-q", kRepository, "tree"});
                run({"git", "-C", "tree", "fsck", "--strict"});
                EQUAL("", run({"git", "-C", "tree", "status", "--porcelain"}));
                const std::string files = run({"git", "-C", "tree", "ls-files"});
                TRUE(files.size() > 1'000);
              }),
      program("git_commit_and_gc",
              [] {
                run({"git", "init", "-q", "tree"});
                for (int at = 0; at < 20; ++at) {
                  make("tree/f", 0644, pattern(10'000, static_cast<unsigned>(at)));
                  run({"git", "-C", "tree", "add", "f"});
                  run({"git", "-C", "tree", "-c", "user.name=a", "-c", "user.email=a@b", "commit",
                       "-q", "-m", "change"});
                }
                run({"git", "-C", "tree", "gc", "-q"});
                run({"git", "-C", "tree", "fsck", "--strict"});
                EQUAL("20\n", run({"git", "-C", "tree", "rev-list", "--count", "HEAD"}));
              }),
      program("sqlite_transactions",
              [] {
                sqlite("db", "create table t (n);");
                insert_rows("db");
                EQUAL(std::to_string(kRows / 2) + "\n", sqlite("db", "select count(*) from t;"));
                EQUAL("ok\n", sqlite("db", "pragma integrity_check;"));
                TRUE(!exists("db-journal"));
              }),
      program("sqlite_rollback_of_a_killed_writer",
              [] {
                sqlite("db", "create table t (n); insert into t values (1);");
                const pid_t pid = MUST(fork());
                if (pid == 0) {
                  execlp("sqlite3", "sqlite3", "db",
                         "pragma cache_spill=1; pragma cache_size=1; begin; with recursive c(x) as "
                         "(select 1 union all select x+1 from c) insert into t select x from c;",
                         nullptr);
                  _exit(127);
                }
                usleep(1'000'000);
                kill(pid, SIGKILL);
                TRUE(ended_by(pid) == SIGKILL);
                EQUAL("1\n", sqlite("db", "select count(*) from t;"));
                EQUAL("ok\n", sqlite("db", "pragma integrity_check;"));
              }),
      program(
          "sqlite_of_two_clients",
          [] {
            const std::string other = there("db");
            sqlite("db", "create table t (n);");
            in_children({[] { insert_rows("db"); }, [&] { insert_rows(other); }});
            EQUAL(std::to_string(kRows) + "\n", sqlite("db", "select count(*) from t;"));
            EQUAL("ok\n", sqlite("db", "pragma integrity_check;"));
          },
          kV42),
  };
}

}  // namespace conformance
