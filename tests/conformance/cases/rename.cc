// rename(): every kind of target.
#include <cstdio>

#include "tests/conformance/cases/files.h"
#include "tests/conformance/cases/subjects.h"

namespace conformance {
namespace {

constexpr const char* kRename = "POSIX rename()";
constexpr const char* kErrors = "POSIX rename() ERRORS";

void make_kind(const std::string& path, const std::string& kind) {
  if (kind == "file") make(path, 0644, "old");
  if (kind == "directory") make_directory(path);
  if (kind == "symlink") MUST(symlink("nowhere", path.c_str()));
  if (kind == "fifo") MUST(mkfifo(path.c_str(), 0644));
}

mode_t kind_bits(const std::string& path) { return stat_of(path).st_mode & S_IFMT; }

// Every kind onto every other: what is no directory replaces what is none, nothing else.
void add_pairs(Cases& cases) {
  for (const std::string from : {"file", "directory", "symlink", "fifo"}) {
    cases.push_back({"rename." + from + "_to_new_name", kRename, [from] {
                       make_kind("a", from);
                       const ino_t ino = stat_of("a").st_ino;
                       MUST(rename("a", "b"));
                       TRUE(!exists("a"));
                       EQUAL(ino, stat_of("b").st_ino);
                     }});
    for (const std::string onto : {"file", "directory", "symlink", "fifo"}) {
      cases.push_back({"rename." + from + "_onto_" + onto, kErrors, [from, onto] {
                         make_kind("a", from);
                         make_kind("b", onto);
                         const struct stat before = stat_of("a");
                         if (from == "directory" && onto != "directory") {
                           REFUSED(ENOTDIR, rename("a", "b"));
                         } else if (from != "directory" && onto == "directory") {
                           REFUSED(EISDIR, rename("a", "b"));
                         } else {
                           MUST(rename("a", "b"));
                           TRUE(!exists("a"));
                           EQUAL(before.st_ino, stat_of("b").st_ino);
                           EQUAL(before.st_mode & S_IFMT, kind_bits("b"));
                           return;
                         }
                         TRUE(exists("a") && exists("b"));
                       }});
    }
  }
}

}  // namespace

Cases rename_cases() {
  Cases cases = {
      {"rename.same_name", kRename,
       [] {
         make("a", 0644, "x");
         MUST(rename("a", "a"));
         EQUAL("x", content("a"));
       }},
      {"rename.links_of_one_file_both_stay", kRename,
       [] {
         make("a");
         MUST(link("a", "b"));
         MUST(rename("a", "b"));
         TRUE(exists("a") && exists("b"));
         EQUAL(2, stat_of("a").st_nlink);
       }},
      {"rename.onto_full_directory", kErrors,
       [] {
         make_directory("a");
         make_directory("b");
         make("b/file");
         if (rename("a", "b") != -1) fail("no error");
         TRUE(errno == ENOTEMPTY || errno == EEXIST);
         TRUE(exists("a") && exists("b/file"));
       }},
      {"rename.full_directory_onto_empty_one", kRename,
       [] {
         make_directory("a");
         make("a/file", 0644, "x");
         make_directory("b");
         MUST(rename("a", "b"));
         EQUAL("x", content("b/file"));
       }},
      {"rename.directory_into_itself", kErrors,
       [] {
         make_directory("a");
         REFUSED(EINVAL, rename("a", "a/b"));
         TRUE(exists("a") && !exists("a/b"));
       }},
      {"rename.directory_into_its_descendant", kErrors,
       [] {
         make_directory("a");
         make_directory("a/b");
         make_directory("a/b/c");
         REFUSED(EINVAL, rename("a", "a/b/c/d"));
       }},
      {"rename.onto_its_ancestor", kErrors,
       [] {
         make_directory("a");
         make_directory("a/b");
         if (rename("a/b", "a") != -1) fail("no error");
         TRUE(errno == ENOTEMPTY || errno == EEXIST);
       }},
      {"rename.source_missing", kErrors, [] { REFUSED(ENOENT, rename("a", "b")); }},
      {"rename.source_missing_target_stays", kErrors,
       [] {
         make("b", 0644, "x");
         REFUSED(ENOENT, rename("a", "b"));
         EQUAL("x", content("b"));
       }},
      {"rename.target_folder_missing", kErrors,
       [] {
         make("a");
         REFUSED(ENOENT, rename("a", "no/b"));
         TRUE(exists("a"));
       }},
      {"rename.target_folder_is_file", kErrors,
       [] {
         make("a");
         make("f");
         REFUSED(ENOTDIR, rename("a", "f/b"));
       }},
      {"rename.target_ends_with_dot", kErrors,
       [] {
         make_directory("a");
         make_directory("b");
         if (rename("a", "b/.") != -1) fail("no error");
         TRUE(errno == EBUSY || errno == EINVAL);
       }},
      {"rename.target_name_too_long", kErrors,
       [] {
         make("a");
         REFUSED(ENAMETOOLONG, rename("a", std::string(256, 'x').c_str()));
         TRUE(exists("a"));
       }},
      {"rename.replaced_file_loses_a_link", kRename,
       [] {
         make("a");
         make("b");
         MUST(link("b", "c"));
         MUST(rename("a", "b"));
         EQUAL(1, stat_of("c").st_nlink);
       }},
      {"rename.replaced_open_file_can_be_read", kRename,
       [] {
         make("a", 0644, "new");
         make("b", 0644, "old");
         File held("b", O_RDONLY);
         MUST(rename("a", "b"));
         EQUAL("old", content(held, 0, 10));
         EQUAL("new", content("b"));
       }},
      {"rename.open_file_follows", kRename,
       [] {
         make("a", 0644, "x");
         File held("a", O_RDWR);
         MUST(rename("a", "b"));
         put(held, "y", 1);
         MUST(fsync(held));
         EQUAL("xy", content("b"));
       }},
      {"rename.directory_moves_nlink_of_parents", kRename,
       [] {
         make_directory("a");
         make_directory("b");
         make_directory("a/d");
         EQUAL(3, stat_of("a").st_nlink);
         MUST(rename("a/d", "b/d"));
         EQUAL(2, stat_of("a").st_nlink);
         EQUAL(3, stat_of("b").st_nlink);
       }},
      {"rename.directory_gets_new_dotdot", kRename,
       [] {
         make_directory("a");
         make_directory("b");
         make_directory("a/d");
         MUST(rename("a/d", "b/d"));
         EQUAL(stat_of("b").st_ino, stat_of("b/d/..").st_ino);
       }},
      {"rename.into_other_directory", kRename,
       [] {
         make_directory("d");
         make("a", 0644, "x");
         MUST(rename("a", "d/b"));
         EQUAL("x", content("d/b"));
         TRUE(!exists("a"));
       }},
      {"rename.moves_times_of_both_directories", kRename,
       [] {
         make_directory("a");
         make_directory("b");
         make("a/f");
         const struct stat from = stat_of("a");
         const struct stat to = stat_of("b");
         usleep(20'000);
         MUST(rename("a/f", "b/f"));
         const struct stat from_now = stat_of("a");
         const struct stat to_now = stat_of("b");
         TRUE(from_now.st_mtim.tv_nsec != from.st_mtim.tv_nsec);
         TRUE(to_now.st_mtim.tv_nsec != to.st_mtim.tv_nsec);
       }},
      {"rename.symlink_itself_moves", kRename,
       [] {
         make("f");
         MUST(symlink("f", "a"));
         MUST(rename("a", "b"));
         EQUAL(S_IFLNK, kind_bits("b"));
         EQUAL(S_IFREG, kind_bits("f"));
       }},
      {"rename.folder_not_writable", kErrors,
       [] {
         make_directory("d", 0755);
         make("d/a", 0666);
         as_user([] { REFUSED(EACCES, rename("d/a", "d/b")); });
       }},
      {"rename.target_folder_not_writable", kErrors,
       [] {
         make_directory("d", 0755);
         as_user([] {
           make("a");
           REFUSED(EACCES, rename("a", "d/a"));
         });
       }},
  };
  add_pairs(cases);
  return cases;
}

}  // namespace conformance
