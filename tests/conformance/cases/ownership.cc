// chmod and chown: who may, and what else changes.
#include "tests/conformance/cases/files.h"
#include "tests/conformance/cases/subjects.h"

namespace conformance {
namespace {

constexpr const char* kChmod = "POSIX chmod()";
constexpr const char* kChown = "POSIX chown()";
constexpr const char* kLinuxChown = "chown(2)";

void file_of_user(mode_t mode) {
  make("f", mode, "x");
  give("f", 1000, 1000);
  set_mode("f", mode);
}

std::string owner_of(const std::string& path) {
  const struct stat found = stat_of(path);
  return std::to_string(found.st_uid) + ":" + std::to_string(found.st_gid);
}

bool same_time(const timespec& one, const timespec& other) {
  return one.tv_sec == other.tv_sec && one.tv_nsec == other.tv_nsec;
}

Cases chmod_cases() {
  return {
      {"chmod.owner_may", kChmod,
       [] {
         file_of_user(0600);
         as_user([] { MUST(chmod("f", 0751)); });
         EQUAL(0751, mode_of("f"));
       }},
      {"chmod.root_may", kChmod,
       [] {
         file_of_user(0600);
         MUST(chmod("f", 0751));
         EQUAL(0751, mode_of("f"));
       }},
      {"chmod.other_may_not", kChmod,
       [] {
         file_of_user(0666);
         as(1001, 1001, {}, [] { REFUSED(EPERM, chmod("f", 0777)); });
         EQUAL(0666, mode_of("f"));
       }},
      {"chmod.group_may_not", kChmod,
       [] {
         file_of_user(0666);
         as(1001, 1000, {}, [] { REFUSED(EPERM, chmod("f", 0777)); });
       }},
      {"chmod.all_bits_by_root", kChmod,
       [] {
         make("f");
         MUST(chmod("f", 07777));
         EQUAL(07777, mode_of("f"));
       }},
      {"chmod.no_bits", kChmod,
       [] {
         make("f");
         MUST(chmod("f", 0));
         EQUAL(0, mode_of("f"));
       }},
      {"chmod.setgid_by_member_stays", kChmod,
       [] {
         file_of_user(0755);
         as_user([] { MUST(chmod("f", 02755)); });
         EQUAL(02755, mode_of("f"));
       }},
      {"chmod.setgid_by_supplementary_member_stays", kChmod,
       [] {
         make("f", 0755);
         give("f", 1000, 2000);
         as(1000, 1000, {2000}, [] { MUST(chmod("f", 02755)); });
         EQUAL(02755, mode_of("f"));
       }},
      {"chmod.setgid_by_owner_of_foreign_group_is_cleared", kChmod,
       [] {
         make("f", 0755);
         give("f", 1000, 2000);
         as_user([] { MUST(chmod("f", 02755)); });
         EQUAL(0755, mode_of("f"));
       }},
      {"chmod.setuid_by_owner_stays", kChmod,
       [] {
         file_of_user(0755);
         as_user([] { MUST(chmod("f", 04755)); });
         EQUAL(04755, mode_of("f"));
       }},
      {"chmod.directory_setgid_and_sticky", kChmod,
       [] {
         make_directory("d");
         MUST(chmod("d", 03775));
         EQUAL(03775, mode_of("d"));
       }},
      {"chmod.moves_ctime_only", kChmod,
       [] {
         make("f", 0644, "x");
         const struct stat before = stat_of("f");
         usleep(20'000);
         MUST(chmod("f", 0600));
         const struct stat after = stat_of("f");
         TRUE(!same_time(before.st_ctim, after.st_ctim));
         TRUE(same_time(before.st_mtim, after.st_mtim));
       }},
      {"chmod.follows_symlink", kChmod,
       [] {
         make("f", 0644);
         MUST(symlink("f", "s"));
         MUST(chmod("s", 0600));
         EQUAL(0600, mode_of("f"));
       }},
      {"chmod.of_open_file", "POSIX fchmod()",
       [] {
         make("f", 0644);
         File file("f", O_RDONLY);
         MUST(fchmod(file, 0600));
         EQUAL(0600, mode_of("f"));
       }},
      {"chmod.of_unlinked_file", "POSIX fchmod()",
       [] {
         make("f", 0644);
         File file("f", O_RDONLY);
         MUST(unlink("f"));
         MUST(fchmod(file, 0600));
         EQUAL(0600, stat_of(file).st_mode & 07777);
       }},
      {"chmod.missing", kChmod, [] { REFUSED(ENOENT, chmod("f", 0600)); }},
      {"chmod.below_a_file", kChmod,
       [] {
         make("f");
         REFUSED(ENOTDIR, chmod("f/x", 0600));
       }},
      {"chmod.denied_without_search", kChmod,
       [] {
         make_directory("d");
         make("d/f");
         give("d/f", 1000, 1000);
         set_mode("d", 0600);
         as_user([] { REFUSED(EACCES, chmod("d/f", 0600)); });
       }},
  };
}

Cases chown_cases() {
  Cases cases = {
      {"chown.root_may", kChown,
       [] {
         make("f");
         MUST(chown("f", 1234, 5678));
         EQUAL("1234:5678", owner_of("f"));
       }},
      {"chown.large_ids", kChown,
       [] {
         make("f");
         MUST(chown("f", 4294967293u, 4294967292u));
         EQUAL("4294967293:4294967292", owner_of("f"));
       }},
      {"chown.minus_one_leaves_both", kChown,
       [] {
         make("f");
         give("f", 1234, 5678);
         MUST(chown("f", static_cast<uid_t>(-1), static_cast<gid_t>(-1)));
         EQUAL("1234:5678", owner_of("f"));
       }},
      {"chown.owner_only", kChown,
       [] {
         make("f");
         give("f", 1234, 5678);
         MUST(chown("f", 1, static_cast<gid_t>(-1)));
         EQUAL("1:5678", owner_of("f"));
       }},
      {"chown.owner_cannot_give_away", kChown,
       [] {
         file_of_user(0644);
         as_user([] { REFUSED(EPERM, chown("f", 1001, static_cast<gid_t>(-1))); });
         EQUAL("1000:1000", owner_of("f"));
       }},
      {"chown.owner_to_supplementary_group", kChown,
       [] {
         file_of_user(0644);
         as(1000, 1000, {2000}, [] { MUST(chown("f", static_cast<uid_t>(-1), 2000)); });
         EQUAL("1000:2000", owner_of("f"));
       }},
      {"chown.owner_to_own_group", kChown,
       [] {
         make("f");
         give("f", 1000, 5);
         as_user([] { MUST(chown("f", 1000, 1000)); });
         EQUAL("1000:1000", owner_of("f"));
       }},
      {"chown.owner_to_foreign_group", kChown,
       [] {
         file_of_user(0644);
         as_user([] { REFUSED(EPERM, chown("f", static_cast<uid_t>(-1), 2000)); });
         EQUAL("1000:1000", owner_of("f"));
       }},
      {"chown.other_may_not", kChown,
       [] {
         file_of_user(0666);
         as(1001, 1001, {1000}, [] { REFUSED(EPERM, chown("f", 1001, 1000)); });
       }},
      {"chown.group_by_other_member_may_not", kChown,
       [] {
         file_of_user(0666);
         as(1001, 1001, {}, [] { REFUSED(EPERM, chown("f", static_cast<uid_t>(-1), 1001)); });
       }},
      {"chown.symlink_itself", "POSIX lchown()",
       [] {
         make("f");
         MUST(symlink("f", "s"));
         MUST(lchown("s", 7, 8));
         EQUAL("7:8", owner_of("s"));
         EQUAL("0:0", owner_of("f"));
       }},
      {"chown.follows_symlink", kChown,
       [] {
         make("f");
         MUST(symlink("f", "s"));
         MUST(chown("s", 7, 8));
         EQUAL("0:0", owner_of("s"));
         EQUAL("7:8", owner_of("f"));
       }},
      {"chown.moves_ctime_only", kChown,
       [] {
         make("f", 0644, "x");
         const struct stat before = stat_of("f");
         usleep(20'000);
         MUST(chown("f", 7, 8));
         const struct stat after = stat_of("f");
         TRUE(!same_time(before.st_ctim, after.st_ctim));
         TRUE(same_time(before.st_mtim, after.st_mtim));
       }},
      {"chown.directory_keeps_setgid", kLinuxChown,
       [] {
         make_directory("d");
         set_mode("d", 02775);
         MUST(chown("d", 7, 8));
         EQUAL(02775, mode_of("d"));
       }},
      {"chown.by_root_clears_setuid_and_setgid", kLinuxChown,
       [] {
         make("f");
         set_mode("f", 06755);
         MUST(chown("f", 7, 8));
         EQUAL(0755, mode_of("f"));
       }},
      {"chown.by_owner_clears_setuid_and_setgid", kChown,
       [] {
         file_of_user(06755);
         as(1000, 1000, {2000}, [] { MUST(chown("f", static_cast<uid_t>(-1), 2000)); });
         EQUAL(0755, mode_of("f"));
       }},
      {"chown.missing", kChown, [] { REFUSED(ENOENT, chown("f", 1, 1)); }},
      {"chown.dangling_symlink", kChown,
       [] {
         MUST(symlink("no", "s"));
         REFUSED(ENOENT, chown("s", 1, 1));
       }},
      {"chown.of_unlinked_file", "POSIX fchown()",
       [] {
         make("f");
         File file("f", O_RDONLY);
         MUST(unlink("f"));
         MUST(fchown(file, 7, 8));
         EQUAL(7, stat_of(file).st_uid);
       }},
  };
  return cases;
}

// What changes a file as somebody who may clears the bits that would run it as its owner.
void add_clearing(Cases& cases) {
  struct Change {
    const char* name;
    std::function<void()> make;
  };
  const std::vector<Change> changes = {
      {"write",
       [] {
         File file("f", O_WRONLY);
         put(file, "y", 0);
         MUST(fsync(file));
       }},
      {"append",
       [] {
         File file("f", O_WRONLY | O_APPEND);
         MUST(write(file, "y", 1));
         MUST(fsync(file));
       }},
      {"truncate", [] { MUST(truncate("f", 0)); }},
      {"growing_truncate", [] { MUST(truncate("f", 100)); }},
      {"open_to_truncate", [] { File file("f", O_WRONLY | O_TRUNC); }},
  };
  for (const Change& change : changes) {
    const auto carry_out = change.make;
    for (const mode_t bits : {04000, 02000, 06000}) {
      const std::string what = bits == 04000   ? "setuid"
                               : bits == 02000 ? "setgid"
                                               : "setuid_and_setgid";
      cases.push_back({std::string("clearing.") + what + "_by_" + change.name,
                       "POSIX write(), ftruncate()", [=] {
                         make("f", 0777, "x");
                         set_mode("f", 0777 | bits);
                         as_user(carry_out);
                         EQUAL(0777, mode_of("f"));
                       }});
    }
  }
  cases.push_back({"clearing.not_by_read", "POSIX read()", [] {
                     make("f", 0777, "x");
                     set_mode("f", 06777);
                     as_user([] { EQUAL("x", content("f")); });
                     EQUAL(06777, mode_of("f"));
                   }});
  cases.push_back({"clearing.not_by_link", "POSIX link()", [] {
                     make("f", 0777, "x");
                     set_mode("f", 06777);
                     MUST(link("f", "g"));
                     EQUAL(06777, mode_of("f"));
                   }});
  cases.push_back({"clearing.not_by_rename", "POSIX rename()", [] {
                     make("f", 0777, "x");
                     set_mode("f", 06777);
                     MUST(rename("f", "g"));
                     EQUAL(06777, mode_of("g"));
                   }});
  cases.push_back({"clearing.sticky_of_file_stays", "POSIX write()", [] {
                     make("f", 0777, "x");
                     set_mode("f", 01777);
                     as_user([] {
                       File file("f", O_WRONLY);
                       put(file, "y", 0);
                     });
                     EQUAL(01777, mode_of("f"));
                   }});
}

}  // namespace

Cases ownership_cases() {
  Cases cases = chmod_cases();
  for (Case& one : chown_cases()) cases.push_back(std::move(one));
  add_clearing(cases);
  return cases;
}

}  // namespace conformance
