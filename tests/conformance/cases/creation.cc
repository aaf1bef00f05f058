// open, mkdir and mknod that make something: flags, umask, owner and group.
#include <sys/sysmacros.h>

#include "tests/conformance/cases/files.h"
#include "tests/conformance/cases/subjects.h"

namespace conformance {
namespace {

constexpr const char* kOpen = "POSIX open()";
constexpr const char* kMkdir = "POSIX mkdir()";
constexpr const char* kGroup = "open(2), mkdir(2): group of a set-group-ID directory";

Cases open_cases() {
  return {
      {"open.create_makes_an_empty_file", kOpen,
       [] {
         File file("f", O_CREAT | O_WRONLY, 0640);
         EQUAL(0, stat_of("f").st_size);
         EQUAL(0640, mode_of("f"));
         EQUAL(1, stat_of("f").st_nlink);
       }},
      {"open.create_of_existing_keeps_mode_and_content", kOpen,
       [] {
         make("f", 0640, "x");
         File file("f", O_CREAT | O_RDWR, 0777);
         EQUAL(0640, mode_of("f"));
         EQUAL("x", content("f"));
       }},
      {"open.excl_of_existing", kOpen,
       [] {
         make("f");
         REFUSED(EEXIST, open("f", O_CREAT | O_EXCL | O_WRONLY, 0644));
       }},
      {"open.excl_of_directory", kOpen,
       [] {
         make_directory("d");
         REFUSED(EEXIST, open("d", O_CREAT | O_EXCL | O_WRONLY, 0644));
       }},
      {"open.excl_of_symlink", kOpen,
       [] {
         MUST(symlink("nowhere", "s"));
         REFUSED(EEXIST, open("s", O_CREAT | O_EXCL | O_WRONLY, 0644));
         TRUE(!exists("nowhere"));
       }},
      {"open.excl_sets_mode", kOpen,
       [] {
         File file("f", O_CREAT | O_EXCL | O_WRONLY, 0604);
         EQUAL(0604, mode_of("f"));
       }},
      {"open.excl_mode_0_can_be_written", kOpen,
       [] {
         as_user([] {
           File file("f", O_CREAT | O_EXCL | O_WRONLY, 0);
           put(file, "x", 0);
           MUST(fsync(file));
           EQUAL(0, mode_of("f"));
           EQUAL(1, stat_of("f").st_size);
         });
       }},
      {"open.excl_sets_sane_times", kOpen,
       [] {
         File file("f", O_CREAT | O_EXCL | O_WRONLY, 0644);
         const struct stat of_file = stat_of("f");
         const struct stat of_folder = stat_of(".");
         TRUE(of_file.st_mtime >= of_folder.st_mtime - 5);
         TRUE(of_file.st_atime >= of_folder.st_mtime - 5);
       }},
      {"open.create_through_dangling_symlink", kOpen,
       [] {
         MUST(symlink("f", "s"));
         File file("s", O_CREAT | O_WRONLY);
         TRUE(S_ISREG(stat_of("f").st_mode));
       }},
      {"open.trunc_empties", kOpen,
       [] {
         make("f", 0644, "text");
         File file("f", O_WRONLY | O_TRUNC);
         EQUAL(0, stat_of("f").st_size);
       }},
      {"open.trunc_moves_mtime", kOpen,
       [] {
         make("f", 0644, "text");
         const struct stat before = stat_of("f");
         usleep(20'000);
         File file("f", O_WRONLY | O_TRUNC);
         TRUE(before.st_mtim.tv_nsec != stat_of("f").st_mtim.tv_nsec);
       }},
      {"open.trunc_needs_write_permission", kOpen,
       [] {
         make("f", 0444, "x");
         as_user([] { REFUSED(EACCES, open("f", O_WRONLY | O_TRUNC)); });
         EQUAL("x", content("f"));
       }},
      {"open.create_and_trunc_of_existing_keeps_mode", kOpen,
       [] {
         make("f", 0600, "x");
         File file("f", O_CREAT | O_TRUNC | O_WRONLY, 0666);
         EQUAL(0600, mode_of("f"));
         EQUAL(0, stat_of("f").st_size);
       }},
      {"open.directory_to_write", kOpen,
       [] {
         make_directory("d");
         REFUSED(EISDIR, open("d", O_WRONLY));
         REFUSED(EISDIR, open("d", O_RDWR));
       }},
      {"open.create_of_directory", kOpen,
       [] {
         make_directory("d");
         REFUSED(EISDIR, open("d", O_CREAT | O_WRONLY, 0644));
       }},
      {"open.directory_flag_of_file", kOpen,
       [] {
         make("f");
         REFUSED(ENOTDIR, open("f", O_RDONLY | O_DIRECTORY));
       }},
      {"open.nofollow_of_symlink", kOpen,
       [] {
         make("f");
         MUST(symlink("f", "s"));
         REFUSED(ELOOP, open("s", O_RDONLY | O_NOFOLLOW));
       }},
      {"open.missing", kOpen, [] { REFUSED(ENOENT, open("f", O_RDONLY)); }},
      {"open.missing_folder", kOpen,
       [] { REFUSED(ENOENT, open("d/f", O_CREAT | O_WRONLY, 0644)); }},
      {"open.below_a_file", kOpen,
       [] {
         make("f");
         REFUSED(ENOTDIR, open("f/g", O_CREAT | O_WRONLY, 0644));
       }},
      {"open.file_with_slash", kOpen,
       [] {
         make("f");
         REFUSED(ENOTDIR, open("f/", O_RDONLY));
       }},
      {"open.create_with_slash", "open(2)",
       [] { REFUSED(EISDIR, open("f/", O_CREAT | O_WRONLY, 0644)); }},
      {"open.read_only_file_cannot_be_written", "POSIX write() EBADF",
       [] {
         make("f");
         File file("f", O_RDONLY);
         REFUSED(EBADF, write(file, "x", 1));
       }},
      {"open.tmpfile_has_no_name", "open(2) O_TMPFILE",
       [] {
         // Not every protocol can: then the error says so.
         const int fd = open(".", O_TMPFILE | O_RDWR, 0600);
         if (fd < 0) {
           TRUE(errno == EOPNOTSUPP || errno == EISDIR);
         }
         EQUAL(0, static_cast<int>(names_in(".").size()));
       }},
      {"open.create_moves_times_of_directory", kOpen,
       [] {
         make_directory("d");
         const struct stat before = stat_of("d");
         usleep(20'000);
         make("d/f");
         const struct stat after = stat_of("d");
         TRUE(before.st_mtim.tv_nsec != after.st_mtim.tv_nsec);
         TRUE(before.st_ctim.tv_nsec != after.st_ctim.tv_nsec);
       }},
      {"open.existing_does_not_move_times_of_directory", kOpen,
       [] {
         make_directory("d");
         make("d/f");
         const struct stat before = stat_of("d");
         usleep(20'000);
         { File file("d/f", O_CREAT | O_WRONLY); }
         EQUAL(before.st_mtim.tv_nsec, stat_of("d").st_mtim.tv_nsec);
       }},
      {"open.owner_is_the_user", kOpen,
       [] {
         as(1000, 2000, {}, [] { make("f"); });
         EQUAL(1000, stat_of("f").st_uid);
         EQUAL(2000, stat_of("f").st_gid);
       }},
  };
}

Cases mkdir_cases() {
  return {
      {"mkdir.makes_an_empty_directory", kMkdir,
       [] {
         make_directory("d", 0750);
         EQUAL(0750, mode_of("d"));
         TRUE(names_in("d").empty());
       }},
      {"mkdir.existing", kMkdir,
       [] {
         make_directory("d");
         REFUSED(EEXIST, mkdir("d", 0755));
       }},
      {"mkdir.existing_file", kMkdir,
       [] {
         make("f");
         REFUSED(EEXIST, mkdir("f", 0755));
       }},
      {"mkdir.existing_symlink", kMkdir,
       [] {
         MUST(symlink("nowhere", "s"));
         REFUSED(EEXIST, mkdir("s", 0755));
       }},
      {"mkdir.folder_missing", kMkdir, [] { REFUSED(ENOENT, mkdir("a/b", 0755)); }},
      {"mkdir.below_a_file", kMkdir,
       [] {
         make("f");
         REFUSED(ENOTDIR, mkdir("f/d", 0755));
       }},
      {"mkdir.folder_not_writable", kMkdir,
       [] {
         make_directory("d");
         as_user([] { REFUSED(EACCES, mkdir("d/e", 0755)); });
       }},
      {"mkdir.with_slash", kMkdir,
       [] {
         MUST(mkdir("d/", 0755));
         TRUE(S_ISDIR(stat_of("d").st_mode));
       }},
      {"mkdir.owner_is_the_user", kMkdir,
       [] {
         as(1000, 2000, {}, [] { make_directory("d"); });
         EQUAL(1000, stat_of("d").st_uid);
         EQUAL(2000, stat_of("d").st_gid);
       }},
      {"mkdir.sticky_bit", "mkdir(2)",
       [] {
         make_directory("d", 01777);
         EQUAL(01777, mode_of("d"));
       }},
      {"mkdir.deep_tree", kMkdir,
       [] {
         std::string path = ".";
         for (int depth = 0; depth < 60; ++depth) {
           path += "/d";
           make_directory(path);
         }
         make(path + "/f", 0644, "x");
         EQUAL("x", content(path + "/f"));
       }},
  };
}

// The umask of the process, for everything that can be made.
void add_umasks(Cases& cases) {
  for (const mode_t mask : {0022, 0077, 0027, 0777, 0002}) {
    const std::string text =
        std::to_string(mask >> 6) + std::to_string((mask >> 3) & 7) + std::to_string(mask & 7);
    cases.push_back({"umask." + text + "_file", "POSIX umask()", [mask] {
                       umask(mask);
                       make("f", 0666);
                       EQUAL(0666 & ~mask, mode_of("f"));
                     }});
    cases.push_back({"umask." + text + "_directory", "POSIX umask()", [mask] {
                       umask(mask);
                       make_directory("d", 0777);
                       EQUAL(0777 & ~mask, mode_of("d"));
                     }});
    cases.push_back({"umask." + text + "_fifo", "POSIX umask()", [mask] {
                       umask(mask);
                       MUST(mkfifo("p", 0666));
                       EQUAL(0666 & ~mask, mode_of("p"));
                     }});
  }
  cases.push_back({"umask.excl", "POSIX umask()", [] {
                     umask(0027);
                     File file("f", O_CREAT | O_EXCL | O_WRONLY, 0666);
                     EQUAL(0640, mode_of("f"));
                   }});
}

Cases inherited_cases() {
  const auto folder = [](mode_t mode) {
    make_directory("d");
    give("d", 0, 2000);
    set_mode("d", mode);
  };
  return {
      {"inherit.group_of_setgid_directory_file", kGroup,
       [=] {
         folder(02777);
         as_user([] { make("d/f"); });
         EQUAL(2000, stat_of("d/f").st_gid);
         EQUAL(0644, mode_of("d/f"));
       }},
      {"inherit.group_of_setgid_directory_directory", kGroup,
       [=] {
         folder(02777);
         as_user([] { make_directory("d/e"); });
         EQUAL(2000, stat_of("d/e").st_gid);
         EQUAL(02755, mode_of("d/e"));
       }},
      {"inherit.group_of_setgid_directory_symlink", kGroup,
       [=] {
         folder(02777);
         as_user([] { MUST(symlink("x", "d/s")); });
         EQUAL(2000, stat_of("d/s").st_gid);
       }},
      {"inherit.group_of_setgid_directory_fifo", kGroup,
       [=] {
         folder(02777);
         as_user([] { MUST(mkfifo("d/p", 0644)); });
         EQUAL(2000, stat_of("d/p").st_gid);
       }},
      {"inherit.by_root", kGroup,
       [=] {
         folder(02777);
         make_directory("d/e");
         EQUAL(2000, stat_of("d/e").st_gid);
         EQUAL(02755, mode_of("d/e"));
       }},
      {"inherit.not_without_setgid", kGroup,
       [=] {
         folder(0777);
         as_user([] {
           make("d/f");
           make_directory("d/e");
         });
         EQUAL(1000, stat_of("d/f").st_gid);
         EQUAL(0755, mode_of("d/e"));
       }},
      {"inherit.setgid_of_a_file_in_a_foreign_group_is_cleared", "open(2), inode_init_owner",
       [=] {
         folder(02777);
         as_user([] { make("d/f", 02755); });
         EQUAL(2000, stat_of("d/f").st_gid);
         EQUAL(0755, mode_of("d/f"));
       }},
      {"inherit.not_by_rename", "POSIX rename()",
       [=] {
         folder(02777);
         as_user([] {
           make("f");
           MUST(rename("f", "d/f"));
         });
         EQUAL(1000, stat_of("d/f").st_gid);
       }},
  };
}

}  // namespace

Cases creation_cases() {
  Cases cases = open_cases();
  for (const auto& more : {mkdir_cases(), inherited_cases()}) {
    cases.insert(cases.end(), more.begin(), more.end());
  }
  add_umasks(cases);
  return cases;
}

}  // namespace conformance
