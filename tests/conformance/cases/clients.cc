// Two clients: what one did is seen by the other when it opens (close-to-open), and locks.
#include <algorithm>

#include "tests/conformance/cases/files.h"
#include "tests/conformance/cases/lock_calls.h"
#include "tests/conformance/cases/subjects.h"

namespace conformance {
namespace {

constexpr const char* kCloseToOpen = "RFC 8881 10.3.1, nfs(5) close-to-open";
constexpr const char* kLocks = "RFC 8881 18.10 LOCK";
constexpr const char* kNamespace = "RFC 8881 18, RFC 1813 3: the server's namespace is one";

Cases content_cases() {
  return {
      {"clients.closed_file_is_read", kCloseToOpen,
       [] {
         make("f", 0644, "text");
         EQUAL("text", content(there("f")));
       }},
      {"clients.overwritten_file_is_read_anew", kCloseToOpen,
       [] {
         make("f", 0644, "one");
         EQUAL("one", content(there("f")));
         make("f", 0644, "two");
         EQUAL("two", content(there("f")));
       }},
      {"clients.both_ways", kCloseToOpen,
       [] {
         make("f", 0644, "one");
         make(there("f"), 0644, "other");
         EQUAL("other", content("f"));
       }},
      {"clients.growth_is_seen", kCloseToOpen,
       [] {
         make("f", 0644, std::string(5'000, 'a'));
         EQUAL(5'000, content(there("f")).size());
         {
           File file("f", O_WRONLY | O_APPEND);
           MUST(write(file, "b", 1));
         }
         EQUAL(5'001, content(there("f")).size());
       }},
      {"clients.truncation_is_seen", kCloseToOpen,
       [] {
         make("f", 0644, std::string(50'000, 'a'));
         EQUAL(50'000, content(there("f")).size());
         MUST(truncate("f", 10));
         EQUAL(10, content(there("f")).size());
       }},
      {"clients.appends_in_turn_are_all_there", "POSIX open() O_APPEND, nfs(5)",
       [] {
         make("f");
         for (int turn = 0; turn < 20; ++turn) {
           const std::string path = turn % 2 ? "f" : there("f");
           File file(path, O_WRONLY | O_APPEND);
           const std::string line = std::to_string(turn) + "\n";
           MUST(write(file, line.data(), line.size()));
         }
         std::string wanted;
         for (int turn = 0; turn < 20; ++turn) wanted += std::to_string(turn) + "\n";
         EQUAL(wanted, content("f"));
       }},
      {"clients.appends_under_a_lock_are_all_there", "nfs(5) data and metadata coherence",
       [] {
         make("f");
         const auto append = [](const std::string& path, char letter) {
           return [=] {
             File file(path, O_RDWR | O_APPEND);
             for (int turn = 0; turn < 10; ++turn) {
               struct flock all {
                 .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 0
               };
               MUST(fcntl(file, F_SETLKW, &all));
               MUST(write(file, &letter, 1));
               all.l_type = F_UNLCK;
               MUST(fcntl(file, F_SETLK, &all));
             }
           };
         };
         in_children({append("f", 'a'), append(there("f"), 'b')});
         const std::string seen = content("f");
         EQUAL(10, std::count(seen.begin(), seen.end(), 'a'));
         EQUAL(10, std::count(seen.begin(), seen.end(), 'b'));
       },
       kV4},
      {"clients.direct_writes_are_read_at_once", "open(2) O_DIRECT",
       [] {
         make("f", 0644, std::string(4096, 'a'));
         File other(there("f"), O_RDONLY | O_DIRECT);
         File file("f", O_WRONLY | O_DIRECT);
         alignas(4096) static char block[4096];
         std::fill(std::begin(block), std::end(block), 'b');
         MUST(pwrite(file, block, sizeof block, 0));
         MUST(pread(other, block, sizeof block, 0));
         EQUAL(std::string(4096, 'b'), std::string(block, sizeof block));
       }},
  };
}

Cases namespace_cases() {
  return {
      {"clients.created_name_is_there", kNamespace,
       [] {
         TRUE(!exists(there("f")));
         make("f");
         TRUE(exists(there("f")));
       }},
      {"clients.removed_name_is_gone", kNamespace,
       [] {
         make("f");
         TRUE(exists(there("f")));
         MUST(unlink("f"));
         TRUE(!exists(there("f")));
       }},
      {"clients.renamed_is_found_by_its_new_name", kNamespace,
       [] {
         make("f", 0644, "x");
         TRUE(exists(there("f")));
         MUST(rename("f", "g"));
         TRUE(!exists(there("f")));
         EQUAL("x", content(there("g")));
       }},
      {"clients.excl_has_one_winner", "RFC 8881 18.16.3, RFC 1813 3.3.8",
       [] {
         for (int turn = 0; turn < 10; ++turn) {
           const std::string name = "f" + std::to_string(turn);
           const auto attempt = [&](const std::string& path) {
             return [=] {
               const int fd = open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY, 0644);
               if (fd < 0 && errno != EEXIST) fail(errno_name(errno) + " at an exclusive create");
               if (fd >= 0) make(path + ".won." + std::to_string(getpid()));
             };
           };
           in_children({attempt(name), attempt(there(name)), attempt(name), attempt(there(name))});
           int winners = 0;
           for (const std::string& found : names_in("."))
             winners += found.rfind(name + ".won", 0) == 0;
           EQUAL(1, winners);
         }
       }},
      {"clients.excl_of_the_others_file", "RFC 8881 18.16.3",
       [] {
         make(there("f"));
         REFUSED(EEXIST, open("f", O_CREAT | O_EXCL | O_WRONLY, 0644));
       }},
      {"clients.mkdir_has_one_winner", kNamespace,
       [] {
         const auto attempt = [](const std::string& path) {
           return [=] {
             if (mkdir(path.c_str(), 0755) == 0) {
               make("won." + std::to_string(getpid()));
             } else {
               TRUE(errno == EEXIST);
             }
           };
         };
         in_children({attempt("d"), attempt(there("d"))});
         EQUAL(2, names_in(".").size());
       }},
      {"clients.mode_change_counts_at_once", "RFC 8881 18.1 ACCESS",
       [] {
         make("f", 0666, "x");
         as_user([] { EQUAL("x", content(there("f"))); });
         set_mode("f", 0600);
         as_user([] { REFUSED(EACCES, open(there("f").c_str(), O_RDONLY)); });
       }},
      {"clients.removed_open_file_stays_for_its_holder", "RFC 8881 18.25.4 REMOVE of an open file",
       [] {
         make("f", 0644, "text");
         File held(there("f"), O_RDONLY);
         MUST(unlink("f"));
         EQUAL("text", content(held, 0, 10));
       },
       kV41 | kV42},
      {"clients.replaced_file_is_seen_by_a_new_open", kCloseToOpen,
       [] {
         make("f", 0644, "old");
         EQUAL("old", content(there("f")));
         make("g", 0644, "new");
         MUST(rename("g", "f"));
         EQUAL("new", content(there("f")));
       }},
      {"clients.rmdir_of_what_the_other_filled", kNamespace,
       [] {
         make_directory("d");
         TRUE(exists(there("d")));
         make(there("d/f"));
         if (rmdir("d") != -1) fail("no error");
         TRUE(errno == ENOTEMPTY || errno == EEXIST);
       }},
      {"clients.rename_onto_what_the_other_made", kNamespace,
       [] {
         make("f", 0644, "mine");
         make(there("g"), 0644, "theirs");
         MUST(rename("f", "g"));
         EQUAL("mine", content(there("g")));
       }},
      {"clients.link_count_is_told", kNamespace,
       [] {
         make("f");
         MUST(link(there("f").c_str(), there("g").c_str()));
         EQUAL(2, stat_of(there("f")).st_nlink);
         File file("f", O_RDONLY);
         EQUAL(2, stat_of(file).st_nlink);
       }},
  };
}

// Over NFSv3 the second client has no statd: its locks are its own. tests/lab/cases/locks has
// these.
Cases lock_cases_of_two() {
  return {
      {"clients.write_lock_excludes", kLocks,
       [] {
         File file("f", O_CREAT | O_RDWR), other(there("f"), O_RDWR);
         TRUE(lock_ofd(file, F_WRLCK, 0, 10));
         TRUE(!lock_ofd(other, F_WRLCK, 9, 1));
         TRUE(!lock_ofd(other, F_RDLCK, 0, 1));
         TRUE(lock_ofd(other, F_WRLCK, 10, 10));
         TRUE(!lock_ofd(file, F_RDLCK, 15, 1));
       },
       kV4},
      {"clients.read_locks_share", kLocks,
       [] {
         File file("f", O_CREAT | O_RDWR), other(there("f"), O_RDWR);
         TRUE(lock_ofd(file, F_RDLCK, 0, 10));
         TRUE(lock_ofd(other, F_RDLCK, 0, 10));
         TRUE(!lock_ofd(file, F_WRLCK, 0, 1));
       },
       kV4},
      {"clients.unlock_of_the_middle_is_seen", kLocks,
       [] {
         File file("f", O_CREAT | O_RDWR), other(there("f"), O_RDWR);
         TRUE(lock_ofd(file, F_WRLCK, 0, 30));
         TRUE(lock_ofd(file, F_UNLCK, 10, 10));
         TRUE(!lock_ofd(other, F_WRLCK, 0, 10));
         TRUE(lock_ofd(other, F_WRLCK, 10, 10));
         TRUE(!lock_ofd(other, F_WRLCK, 20, 1));
       },
       kV4},
      {"clients.lock_to_the_end_of_the_range", kLocks,
       [] {
         File file("f", O_CREAT | O_RDWR), other(there("f"), O_RDWR);
         TRUE(lock_ofd(file, F_WRLCK, 5, 0));
         TRUE(!lock_ofd(other, F_WRLCK, 0x7fff'ffff'ffff'fff0, 10));
         TRUE(lock_ofd(other, F_WRLCK, 0, 5));
       },
       kV4},
      {"clients.close_frees_the_lock", kLocks,
       [] {
         File other(there("f"), O_CREAT | O_RDWR);
         {
           File file("f", O_RDWR);
           TRUE(lock_ofd(file, F_WRLCK, 0, 0));
           TRUE(!lock_ofd(other, F_WRLCK, 0, 1));
         }
         TRUE(lock_ofd(other, F_WRLCK, 0, 1));
       },
       kV4},
      {"clients.waiter_gets_the_lock", "RFC 8881 18.10.4, 10.2",
       [] {
         File file("f", O_CREAT | O_RDWR);
         TRUE(lock(file, F_WRLCK, 0, 10));
         Other waiter(there("f"));
         waiter.begin_to_wait(F_WRLCK, 0, 10);
         TRUE(!waiter.has_it(300'000));
         TRUE(lock(file, F_UNLCK, 0, 10));
         TRUE(waiter.has_it(60'000'000));
       },
       kV4},
      {"clients.killed_holder_frees_the_lock", kLocks,
       [] {
         make("f");
         File other(there("f"), O_RDWR);
         Other holder("f");
         TRUE(holder.lock(F_WRLCK, 0, 0));
         TRUE(!lock_ofd(other, F_WRLCK, 0, 1));
         holder.end();
         TRUE(lock_ofd(other, F_WRLCK, 0, 1));
       },
       kV4},
      {"clients.lock_shows_the_others_bytes", "nfs(5): a lock revalidates the cache",
       [] {
         make("f", 0644, "one");
         File file("f", O_RDWR), other(there("f"), O_RDWR);
         EQUAL("one", content(other, 0, 3));
         TRUE(lock(file, F_WRLCK, 0, 0));
         put(file, "two", 0);
         TRUE(lock(file, F_UNLCK, 0, 0));
         TRUE(lock(other, F_RDLCK, 0, 0));
         EQUAL("two", content(other, 0, 3));
       },
       kV4},
  };
}

}  // namespace

Cases client_cases() {
  Cases cases = content_cases();
  for (const auto& more : {namespace_cases(), lock_cases_of_two()}) {
    cases.insert(cases.end(), more.begin(), more.end());
  }
  return cases;
}

}  // namespace conformance
