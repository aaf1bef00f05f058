// Real programs as uid 1000: git, SQLite, rsync, tar, a build. The harness brings them with the
// long form, and with Kerberos (programs.py).
#include <signal.h>
#include <sys/wait.h>
#include <sys/xattr.h>

#include <cstdlib>
#include <cstring>

#include "tests/conformance/cases/files.h"
#include "tests/conformance/cases/subjects.h"

namespace conformance {
namespace {

constexpr const char* kReference = "POSIX: what programs rely on";
constexpr unsigned kTwoVersions = kV3 | kV42;  // they take long
constexpr const char* kRepository = "/run/repository.git";
constexpr const char* kProject = "/run/zlib.tar.gz";
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
    setenv("PATH", "/usr/bin:/bin:/sbin", 1);
    setenv("CC", "gcc", 1);
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
  for (const char* folder : {"/bin/", "/usr/bin/"})
    if (access((folder + program).c_str(), X_OK) == 0) return;
  skip("this machine has no " + program);
}

void insert_rows(const std::string& file) {
  for (int row = 0; row < kRows / 2; ++row) sqlite(file, "insert into t values (1);");
}

// --- a tree whose files have what only their filesystem keeps

constexpr const char* kAccess = "system.posix_acl_access";
constexpr const char* kMark = "user.mark";

// u::rw-,u:1001:r--,g::r--,m::r--,o::--- as setxattr(2) takes it (acl(5), linux/posix_acl_xattr.h).
std::string acl_of_1001() {
  struct Entry {
    std::uint16_t tag, rights;
    std::uint32_t id;
  };
  const std::vector<Entry> entries{
      {1, 6, ~0U}, {2, 4, 1001}, {4, 4, ~0U}, {16, 4, ~0U}, {32, 0, ~0U}};
  const std::uint32_t version = 2;
  std::string bytes(reinterpret_cast<const char*>(&version), sizeof version);
  for (const Entry& entry : entries)
    bytes.append(reinterpret_cast<const char*>(&entry), sizeof entry);
  return bytes;
}

std::string attribute(const std::string& path, const char* name) {
  char value[1024];
  return {value, static_cast<std::size_t>(MUST(getxattr(path.c_str(), name, value, sizeof value)))};
}

const char* kept_attribute() { return settings().version == kV3 ? kAccess : kMark; }

// "tree": two folders, files with an ACL (NFSv3) or an extended attribute (v4.2), a link.
void make_tree() {
  MUST(mkdir("tree", 0755));
  MUST(mkdir("tree/below", 0750));
  const std::string value = settings().version == kV3 ? acl_of_1001() : "of this file";
  for (const char* name : {"tree/one", "tree/below/two"}) {
    make(name, 0640, name);
    MUST(setxattr(name, kept_attribute(), value.data(), value.size(), 0));
  }
  MUST(symlink("one", "tree/link"));
}

void same_tree(const std::string& other) {
  for (const char* name : {"/one", "/below/two"}) {
    const std::string from = std::string("tree") + name;
    EQUAL(content(from), content(other + name));
    EQUAL(attribute(from, kept_attribute()), attribute(other + name, kept_attribute()));
  }
  TRUE(names_in("tree") == names_in(other));
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
      program("rsync_of_acls_and_attributes",
              [] {
                make_tree();
                run({"rsync", "-aAX", "tree/", "copy"});
                same_tree("copy");
                EQUAL("", run({"rsync", "-aAXin", "tree/", "copy"}));  // there is nothing to do
              }),
      program("gtar_of_acls_and_attributes",
              [] {
                make_tree();
                run({"gtar", "--xattrs", "--acls", "-cf", "archive", "tree"});
                MUST(mkdir("out", 0755));
                run({"gtar", "--xattrs", "--acls", "-xpf", "archive", "-C", "out"});
                same_tree("out/tree");
              }),
      program("make_of_zlib",
              [] {
                run({"gtar", "-xzf", kProject, "--strip-components=1"});
                run({"sh", "./configure", "--static"});
                run({"make"});
                const std::string printed = run({"make", "test"});
                TRUE(printed.find("zlib test OK") != std::string::npos);
                EQUAL("make: Nothing to be done for 'all'.\n", run({"make", "all"}));
                run({"make", "clean"});
                TRUE(!exists("libz.a"));
              }),
      program("sqlite3_transactions",
              [] {
                sqlite("db", "create table t (n);");
                insert_rows("db");
                EQUAL(std::to_string(kRows / 2) + "\n", sqlite("db", "select count(*) from t;"));
                EQUAL("ok\n", sqlite("db", "pragma integrity_check;"));
                TRUE(!exists("db-journal"));
              }),
      program("sqlite3_rollback_of_a_killed_writer",
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
          "sqlite3_of_two_clients",
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
