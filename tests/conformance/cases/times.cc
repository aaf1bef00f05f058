// utimensat: what is set, by whom; and which operations move which time.
#include <sys/stat.h>

#include "tests/conformance/cases/files.h"
#include "tests/conformance/cases/subjects.h"

namespace conformance {
namespace {

constexpr const char* kSet = "POSIX utimensat()";
constexpr const char* kMoved = "POSIX 4.9 File Times Update";
constexpr timespec kThen = {1'000'000'000, 123'456'789};
constexpr timespec kLater = {1'500'000'000, 987'654'321};
constexpr timespec kNow = {0, UTIME_NOW};
constexpr timespec kOmit = {0, UTIME_OMIT};

int set_times(const std::string& path, timespec access, timespec modification, int flags = 0) {
  const timespec both[2] = {access, modification};
  return utimensat(AT_FDCWD, path.c_str(), both, flags);
}

std::string text(const timespec& time) {
  return std::to_string(time.tv_sec) + "." + std::to_string(time.tv_nsec);
}
std::string accessed(const std::string& path) { return text(stat_of(path).st_atim); }
std::string modified(const std::string& path) { return text(stat_of(path).st_mtim); }
std::string changed(const std::string& path) { return text(stat_of(path).st_ctim); }

void file_of_user(mode_t mode) {
  make("f", mode, "x");
  give("f", 1000, 1000);
  MUST(set_times("f", kThen, kThen));
}

Cases set_cases() {
  return {
      {"times.both_with_nanoseconds", kSet,
       [] {
         make("f");
         MUST(set_times("f", kThen, kLater));
         EQUAL(text(kThen), accessed("f"));
         EQUAL(text(kLater), modified("f"));
       }},
      {"times.of_directory", kSet,
       [] {
         make_directory("d");
         MUST(set_times("d", kThen, kLater));
         EQUAL(text(kLater), modified("d"));
       }},
      {"times.of_symlink_itself", kSet,
       [] {
         make("f");
         MUST(symlink("f", "s"));
         MUST(set_times("s", kThen, kLater, AT_SYMLINK_NOFOLLOW));
         EQUAL(text(kLater), modified("s"));
         TRUE(modified("f") != text(kLater));
       }},
      {"times.through_symlink", kSet,
       [] {
         make("f");
         MUST(symlink("f", "s"));
         MUST(set_times("s", kThen, kLater));
         EQUAL(text(kLater), modified("f"));
       }},
      {"times.omit_access", kSet,
       [] {
         make("f");
         MUST(set_times("f", kThen, kThen));
         MUST(set_times("f", kOmit, kLater));
         EQUAL(text(kThen), accessed("f"));
         EQUAL(text(kLater), modified("f"));
       }},
      {"times.omit_modification", kSet,
       [] {
         make("f");
         MUST(set_times("f", kThen, kThen));
         MUST(set_times("f", kLater, kOmit));
         EQUAL(text(kLater), accessed("f"));
         EQUAL(text(kThen), modified("f"));
       }},
      {"times.omit_both_moves_nothing", kSet,
       [] {
         make("f");
         const std::string before = changed("f");
         usleep(20'000);
         MUST(set_times("f", kOmit, kOmit));
         EQUAL(before, changed("f"));
       }},
      {"times.now", kSet,
       [] {
         make("f");
         make("g");
         MUST(set_times("f", kThen, kThen));
         MUST(set_times("f", kNow, kNow));
         TRUE(stat_of("f").st_mtime >= stat_of("g").st_mtime);
         EQUAL(modified("f"), accessed("f"));
       }},
      {"times.now_for_one", kSet,
       [] {
         make("f");
         MUST(set_times("f", kThen, kThen));
         MUST(set_times("f", kOmit, kNow));
         EQUAL(text(kThen), accessed("f"));
         TRUE(modified("f") != text(kThen));
       }},
      {"times.before_the_epoch_or_refused", kSet,
       [] {
         make("f");
         // NFSv3 and some servers have unsigned seconds: anything but another time is right.
         if (set_times("f", {-1000, 0}, {-1000, 0}) == 0) {
           const time_t seen = stat_of("f").st_mtime;
           TRUE(seen == -1000 || seen == 0 || seen == 4'294'966'296);
         }
       }},
      {"times.of_2037", kSet,
       [] {
         make("f");
         MUST(set_times("f", {2'140'000'000, 0}, {2'140'000'000, 5}));
         EQUAL("2140000000.5", modified("f"));
       }},
      {"times.after_2038", "RFC 8881 2.2, RFC 1813 2.5 (unsigned)",
       [] {
         make("f");
         MUST(set_times("f", {4'000'000'000, 0}, {4'000'000'000, 0}));
         EQUAL(4'000'000'000, stat_of("f").st_mtime);
       }},
      {"times.setting_moves_ctime", kSet,
       [] {
         make("f");
         const std::string before = changed("f");
         usleep(20'000);
         MUST(set_times("f", kThen, kThen));
         TRUE(before != changed("f"));
       }},
      {"times.missing", kSet, [] { REFUSED(ENOENT, set_times("f", kThen, kThen)); }},
      {"times.bad_nanoseconds", kSet,
       [] {
         make("f");
         REFUSED(EINVAL, set_times("f", {1, 1'000'000'000}, kThen));
       }},
      {"times.owner_may_set", kSet,
       [] {
         file_of_user(0400);
         as_user([] { MUST(set_times("f", kLater, kLater)); });
         EQUAL(text(kLater), modified("f"));
       }},
      {"times.writer_may_not_set", kSet,
       [] {
         file_of_user(0666);
         as(1001, 1001, {}, [] { REFUSED(EPERM, set_times("f", kLater, kLater)); });
         EQUAL(text(kThen), modified("f"));
       }},
      {"times.writer_may_set_now", kSet,
       [] {
         file_of_user(0666);
         as(1001, 1001, {}, [] { MUST(set_times("f", kNow, kNow)); });
         TRUE(modified("f") != text(kThen));
       }},
      {"times.reader_may_not_set_now", kSet,
       [] {
         file_of_user(0644);
         as(1001, 1001, {}, [] { REFUSED(EACCES, set_times("f", kNow, kNow)); });
       }},
      {"times.owner_of_read_only_file_may_set_now", kSet,
       [] {
         file_of_user(0400);
         as_user([] { MUST(set_times("f", kNow, kNow)); });
       }},
      {"times.of_open_file", "POSIX futimens()",
       [] {
         make("f");
         File file("f", O_RDONLY);
         const timespec both[2] = {kThen, kLater};
         MUST(futimens(file, both));
         EQUAL(text(kLater), modified("f"));
       }},
  };
}

// What an operation moves, of the modification time and the status change time.
void add_moves(Cases& cases) {
  struct Operation {
    const char* name;
    std::function<void()> carry_out;
    bool moves_mtime;
    bool moves_ctime;
  };
  const std::vector<Operation> operations = {
      {"write",
       [] {
         File file("f", O_WRONLY);
         put(file, "y", 0);
         MUST(fsync(file));
       },
       true, true},
      {"truncate", [] { MUST(truncate("f", 1)); }, true, true},
      {"link", [] { MUST(link("f", "g")); }, false, true},
      {"chmod", [] { MUST(chmod("f", 0600)); }, false, true},
      {"read", [] { content("f"); }, false, false},
      {"stat", [] { stat_of("f"); }, false, false},
      {"open_to_write", [] { File file("f", O_WRONLY); }, false, false},
      {"lookup", [] { MUST(access("f", R_OK)); }, false, false},
  };
  for (const Operation& one : operations) {
    cases.push_back({std::string("times.moved_by_") + one.name, kMoved, [one] {
                       make("f", 0644, "text");
                       MUST(set_times("f", kThen, kThen));
                       const std::string ctime_before = changed("f");
                       usleep(20'000);
                       one.carry_out();
                       EQUAL(one.moves_mtime, modified("f") != text(kThen));
                       EQUAL(one.moves_ctime, changed("f") != ctime_before);
                     }});
  }
  const std::vector<Operation> of_folder = {
      {"create", [] { make("d/new"); }, true, true},
      {"mkdir", [] { make_directory("d/new"); }, true, true},
      {"symlink", [] { MUST(symlink("x", "d/new")); }, true, true},
      {"mknod", [] { MUST(mkfifo("d/new", 0644)); }, true, true},
      {"link_in", [] { MUST(link("f", "d/new")); }, true, true},
      {"unlink", [] { MUST(unlink("d/old")); }, true, true},
      {"rmdir", [] { MUST(rmdir("d/sub")); }, true, true},
      {"rename_inside", [] { MUST(rename("d/old", "d/new")); }, true, true},
      {"rename_out", [] { MUST(rename("d/old", "old")); }, true, true},
      {"write_to_its_file",
       [] {
         File file("d/old", O_WRONLY);
         put(file, "x", 0);
       },
       false, false},
      {"readdir", [] { names_in("d"); }, false, false},
      {"failed_create", [] { REFUSED(EEXIST, mkdir("d/old", 0755)); }, false, false},
  };
  for (const Operation& one : of_folder) {
    cases.push_back({std::string("times.of_directory_moved_by_") + one.name, kMoved, [one] {
                       make("f");
                       make_directory("d");
                       make("d/old");
                       make_directory("d/sub");
                       MUST(set_times("d", kThen, kThen));
                       const std::string ctime_before = changed("d");
                       usleep(20'000);
                       one.carry_out();
                       EQUAL(one.moves_mtime, modified("d") != text(kThen));
                       EQUAL(one.moves_ctime, changed("d") != ctime_before);
                     }});
  }
  cases.push_back({"times.ctime_of_unlinked_link_moves", "POSIX unlink()", [] {
                     make("f");
                     MUST(link("f", "g"));
                     const std::string before = changed("f");
                     usleep(20'000);
                     MUST(unlink("g"));
                     TRUE(before != changed("f"));
                   }});
  cases.push_back({"times.grow_with_each_write", kMoved, [] {
                     make("f");
                     File file("f", O_WRONLY);
                     std::string before = modified("f");
                     for (int turn = 0; turn < 5; ++turn) {
                       usleep(10'000);
                       put(file, "x", turn);
                       MUST(fsync(file));
                       TRUE(before != modified("f"));
                       before = modified("f");
                     }
                   }});
}

}  // namespace

Cases time_cases() {
  Cases cases = set_cases();
  add_moves(cases);
  return cases;
}

}  // namespace conformance
