// Names and paths: lengths, bytes, dots; removal; directories while they change.
#include <dirent.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>

#include <algorithm>
#include <climits>
#include <set>

#include "tests/conformance/cases/files.h"
#include "tests/conformance/cases/subjects.h"

namespace conformance {
namespace {

constexpr const char* kNames = "POSIX 3.281 Pathname, limits.h NAME_MAX";
constexpr const char* kUnlink = "POSIX unlink()";
constexpr const char* kRmdir = "POSIX rmdir()";
constexpr const char* kReaddir = "POSIX readdir()";
constexpr int kManyNames = 100'000;
constexpr int kSomeNames = 1'000;

// A name is kept byte for byte, for each kind of object.
void add_names(Cases& cases) {
  const std::vector<std::pair<const char*, std::string>> names = {
      {"of_one_byte", "a"},
      {"of_255_bytes", std::string(255, 'n')},
      {"utf8", "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"},
      {"utf8_of_255_bytes",
       [] {
         std::string text;
         for (int at = 0; at < 85; ++at) text += "\xe2\x82\xac";
         return text;
       }()},
      {"newline", "a\nb"},
      {"space_at_both_ends", " a "},
      {"only_spaces", "   "},
      {"backslash", "a\\b"},
      {"quotes", "'\"`"},
      {"star", "*?[a]"},
      {"tab_and_control_bytes", "\t\x01\x7f"},
      {"dash_first", "-rf"},
      {"three_dots", "..."},
      {"dot_first", ".hidden"},
      {"dots_and_a_letter", "..a"},
      {"trailing_dot", "a."},
      {"colon", "a:b"},
      {"percent", "%s%n%00"},
  };
  for (const auto& [rule, name] : names) {
    cases.push_back({std::string("names.") + rule, kNames, [name = name] {
                       make(name, 0644, "x");
                       EQUAL("x", content(name));
                       const auto found = names_in(".");
                       EQUAL(1, found.size());
                       EQUAL(name, found[0]);
                       MUST(rename(name.c_str(), "other"));
                       make_directory(name);
                       MUST(rmdir(name.c_str()));
                       MUST(symlink(name.c_str(), name.c_str()));
                       MUST(unlink(name.c_str()));
                     }});
  }
  const std::string too_long(256, 'n');
  const std::vector<std::pair<const char*, std::function<int(const char*)>>> calls = {
      {"create", [](const char* name) { return open(name, O_CREAT | O_WRONLY, 0644); }},
      {"open", [](const char* name) { return open(name, O_RDONLY); }},
      {"mkdir", [](const char* name) { return mkdir(name, 0755); }},
      {"symlink", [](const char* name) { return symlink("x", name); }},
      {"mkfifo", [](const char* name) { return mkfifo(name, 0644); }},
      {"link",
       [](const char* name) {
         make("f");
         return link("f", name);
       }},
      {"unlink", [](const char* name) { return unlink(name); }},
      {"rmdir", [](const char* name) { return rmdir(name); }},
  };
  for (const auto& [what, call] : calls) {
    cases.push_back({std::string("names.of_256_bytes_") + what, kNames,
                     [=, call = call] { REFUSED(ENAMETOOLONG, call(too_long.c_str())); }});
  }
}

Cases path_cases() {
  return {
      {"names.case_matters", kNames,
       [] {
         make("a", 0644, "small");
         make("A", 0644, "large");
         EQUAL("small", content("a"));
         EQUAL("large", content("A"));
       }},
      {"names.normal_forms_of_utf8_differ", "RFC 8881 14.4: names are bytes here",
       [] {
         make("\xc3\xa9", 0644, "composed");
         make("e\xcc\x81", 0644, "decomposed");
         EQUAL("composed", content("\xc3\xa9"));
         EQUAL("decomposed", content("e\xcc\x81"));
       }},
      {"names.255_bytes_and_one_other", kNames,
       [] {
         const std::string stem(254, 'n');
         make(stem + "a", 0644, "1");
         make(stem + "b", 0644, "2");
         EQUAL("1", content(stem + "a"));
         EQUAL("2", content(stem + "b"));
       }},
      {"names.dot_is_the_directory", kNames,
       [] {
         make_directory("d");
         EQUAL(stat_of("d").st_ino, stat_of("d/.").st_ino);
         EQUAL(stat_of(".").st_ino, stat_of("d/..").st_ino);
       }},
      {"names.mkdir_of_dot", "POSIX mkdir() EEXIST",
       [] {
         REFUSED(EEXIST, mkdir(".", 0755));
         REFUSED(EEXIST, mkdir("..", 0755));
       }},
      {"names.rmdir_of_dot", kRmdir, [] { REFUSED(EINVAL, rmdir(".")); }},
      {"names.rmdir_of_dotdot", "rmdir(2) ENOTEMPTY",
       [] {
         make_directory("d");
         REFUSED(ENOTEMPTY, rmdir("d/.."));
       }},
      {"names.rename_of_dot", "POSIX rename() EINVAL",
       [] {
         if (rename(".", "x") != -1) fail("no error");
         TRUE(errno == EINVAL || errno == EBUSY);
       }},
      {"names.empty", kNames, [] { REFUSED(ENOENT, open("", O_RDONLY)); }},
      {"names.path_of_4096_bytes", "POSIX limits.h PATH_MAX",
       [] {
         std::string path;
         while (path.size() < 4096) path += "./";
         REFUSED(ENAMETOOLONG, open((path + "f").c_str(), O_RDONLY));
       }},
      {"names.many_slashes", kNames,
       [] {
         make_directory("d");
         make("d/f", 0644, "x");
         EQUAL("x", content("d////f"));
       }},
      {"names.limit_is_told", "POSIX pathconf()",
       [] {
         struct statvfs told;
         MUST(statvfs(".", &told));
         EQUAL(255, told.f_namemax);
       }},
  };
}

Cases removal_cases() {
  return {
      {"unlink.removes", kUnlink,
       [] {
         make("f");
         MUST(unlink("f"));
         TRUE(!exists("f"));
         TRUE(names_in(".").empty());
       }},
      {"unlink.missing", kUnlink, [] { REFUSED(ENOENT, unlink("f")); }},
      {"unlink.twice", kUnlink,
       [] {
         make("f");
         MUST(unlink("f"));
         REFUSED(ENOENT, unlink("f"));
       }},
      {"unlink.of_directory", "unlink(2) EISDIR",
       [] {
         make_directory("d");
         REFUSED(EISDIR, unlink("d"));
         TRUE(exists("d"));
       }},
      {"unlink.below_a_file", kUnlink,
       [] {
         make("f");
         REFUSED(ENOTDIR, unlink("f/g"));
       }},
      {"unlink.folder_not_writable", kUnlink,
       [] {
         make_directory("d");
         make("d/f", 0666);
         give("d/f", 1000, 1000);
         as_user([] { REFUSED(EACCES, unlink("d/f")); });
       }},
      {"unlink.needs_no_right_on_the_file", kUnlink,
       [] {
         make("f", 0);
         as_user([] { MUST(unlink("f")); });
       }},
      {"unlink.of_fifo", kUnlink,
       [] {
         MUST(mkfifo("p", 0644));
         MUST(unlink("p"));
         TRUE(!exists("p"));
       }},
      {"unlink.name_can_be_used_again", kUnlink,
       [] {
         make("f", 0644, "old");
         MUST(unlink("f"));
         make("f", 0644, "new");
         EQUAL("new", content("f"));
       }},
      {"unlink.open_file_can_be_read_and_written", kUnlink,
       [] {
         make("f", 0644, "x");
         File file("f", O_RDWR);
         MUST(unlink("f"));
         put(file, "y", 1);
         MUST(fsync(file));
         EQUAL("xy", content(file, 0, 10));
         TRUE(!exists("f"));
       }},
      {"unlink.open_file_can_be_truncated", kUnlink,
       [] {
         make("f", 0644, "text");
         File file("f", O_RDWR);
         MUST(unlink("f"));
         MUST(ftruncate(file, 2));
         EQUAL(2, stat_of(file).st_size);
       }},
      {"unlink.open_file_beside_a_new_one_of_its_name", kUnlink,
       [] {
         make("f", 0644, "old");
         File file("f", O_RDWR);
         MUST(unlink("f"));
         make("f", 0644, "new");
         EQUAL("old", content(file, 0, 10));
         EQUAL("new", content("f"));
       }},
      {"unlink.open_file_leaves_nothing_when_closed", kUnlink,
       [] {
         make_directory("d");
         make("d/f", 0644, "x");
         File file("d/f", O_RDONLY);
         MUST(unlink("d/f"));
         file.close();
         EQUAL(0, static_cast<int>(names_in("d").size()));
         MUST(rmdir("d"));
       }},
      {"rmdir.removes", kRmdir,
       [] {
         make_directory("d");
         MUST(rmdir("d"));
         TRUE(!exists("d"));
       }},
      {"rmdir.missing", kRmdir, [] { REFUSED(ENOENT, rmdir("d")); }},
      {"rmdir.of_file", kRmdir,
       [] {
         make("f");
         REFUSED(ENOTDIR, rmdir("f"));
       }},
      {"rmdir.of_full_directory", kRmdir,
       [] {
         make_directory("d");
         make("d/f");
         if (rmdir("d") != -1) fail("no error");
         TRUE(errno == ENOTEMPTY || errno == EEXIST);
       }},
      {"rmdir.after_its_file_went", kRmdir,
       [] {
         make_directory("d");
         make("d/f");
         MUST(unlink("d/f"));
         MUST(rmdir("d"));
       }},
      {"rmdir.of_directory_with_directory", kRmdir,
       [] {
         make_directory("d");
         make_directory("d/e");
         if (rmdir("d") != -1) fail("no error");
         TRUE(errno == ENOTEMPTY || errno == EEXIST);
       }},
      {"rmdir.folder_not_writable", kRmdir,
       [] {
         make_directory("d");
         make_directory("d/e", 0777);
         as_user([] { REFUSED(EACCES, rmdir("d/e")); });
       }},
      {"rmdir.of_working_directory", "rmdir(2)",
       [] {
         make_directory("d");
         MUST(chdir("d"));
         MUST(rmdir("../d"));
         if (open("f", O_CREAT | O_WRONLY, 0644) != -1) fail("no error");
         TRUE(errno == ENOENT || errno == ESTALE);
       }},
  };
}

std::vector<std::string> numbered(const std::string& folder, int count) {
  make_directory(folder);
  std::vector<std::string> names;
  for (int at = 0; at < count; ++at) {
    names.push_back("name" + std::to_string(at));
    const int fd = MUST(open((folder + "/" + names.back()).c_str(), O_CREAT | O_WRONLY, 0644));
    MUST(close(fd));
  }
  std::sort(names.begin(), names.end());
  return names;
}

void all_there(const std::string& folder, const std::vector<std::string>& names) {
  const auto found = names_in(folder);
  EQUAL(names.size(), found.size());
  TRUE(std::equal(names.begin(), names.end(), found.begin()));
}

Cases readdir_cases() {
  return {
      {"readdir.of_empty_directory_has_dots", kReaddir,
       [] {
         make_directory("d");
         std::multiset<std::string> names;
         DIR* const folder = opendir("d");
         while (const dirent* entry = readdir(folder)) names.insert(entry->d_name);
         EQUAL(2, names.size());
         TRUE(names.count(".") == 1 && names.count("..") == 1);
       }},
      {"readdir.tells_kinds_and_inodes", kReaddir,
       [] {
         make("f");
         make_directory("d");
         MUST(symlink("x", "s"));
         DIR* const folder = opendir(".");
         while (const dirent* entry = readdir(folder)) {
           const std::string name = entry->d_name;
           if (name[0] == '.') continue;
           EQUAL(stat_of(name).st_ino, entry->d_ino);
           const unsigned char kind = name == "f" ? DT_REG : name == "d" ? DT_DIR : DT_LNK;
           TRUE(entry->d_type == kind || entry->d_type == DT_UNKNOWN);
         }
       }},
      {"readdir.thousand_names_once_each", kReaddir,
       [] {
         const auto names = numbered("d", kSomeNames);
         all_there("d", names);
       }},
      {"readdir.rewind_shows_what_is_new", "POSIX rewinddir()",
       [] {
         make_directory("d");
         DIR* const folder = opendir("d");
         while (readdir(folder)) {
         }
         make("d/new");
         rewinddir(folder);
         bool seen = false;
         while (const dirent* entry = readdir(folder)) seen |= entry->d_name == std::string("new");
         TRUE(seen);
       }},
      {"readdir.unlinking_each_as_it_comes_leaves_none", kReaddir,
       [] {
         numbered("d", kSomeNames);
         DIR* const folder = opendir("d");
         while (const dirent* entry = readdir(folder)) {
           const std::string name = entry->d_name;
           if (name[0] != '.') MUST(unlink(("d/" + name).c_str()));
         }
         EQUAL(0, static_cast<int>(names_in("d").size()));
         MUST(rmdir("d"));
       }},
      {"readdir.names_that_stay_come_once_beside_removals", kReaddir,
       [] {
         const auto names = numbered("d", kSomeNames);
         std::multiset<std::string> seen;
         DIR* const folder = opendir("d");
         int turn = 0;
         while (const dirent* entry = readdir(folder)) {
           const std::string name = entry->d_name;
           if (name[0] != '.') seen.insert(name);
           // The odd ones go, from the end.
           const int odd = kSomeNames - 1 - 2 * turn++;
           if (odd > 0) unlink(("d/name" + std::to_string(odd)).c_str());
         }
         for (int at = 0; at < kSomeNames; at += 2) {
           EQUAL(1, seen.count("name" + std::to_string(at)));
         }
         for (const auto& name : seen) EQUAL(1, seen.count(name));
       }},
      {"readdir.names_that_stay_come_once_beside_creates", kReaddir,
       [] {
         const auto names = numbered("d", 300);
         std::multiset<std::string> seen;
         DIR* const folder = opendir("d");
         int turn = 0;
         while (const dirent* entry = readdir(folder)) {
           seen.insert(entry->d_name);
           if (turn < 300) make("d/extra" + std::to_string(turn++));
         }
         for (const auto& name : names) EQUAL(1, seen.count(name));
       }},
      {"readdir.seek_goes_back_to_a_place", "POSIX telldir(), seekdir()",
       [] {
         numbered("d", 200);
         DIR* const folder = opendir("d");
         for (int at = 0; at < 50; ++at) TRUE(readdir(folder));
         const long place = telldir(folder);
         const std::string next = readdir(folder)->d_name;
         while (readdir(folder)) {
         }
         seekdir(folder, place);
         EQUAL(next, std::string(readdir(folder)->d_name));
       }},
      {"readdir.without_read_permission", "POSIX opendir() EACCES",
       [] {
         make_directory("d", 0711);
         as_user([] { TRUE(!opendir("d") && errno == EACCES); });
       }},
      {"readdir.with_read_permission_only", kReaddir,
       [] {
         make_directory("d", 0744);
         make("d/f");
         as_user([] {
           EQUAL(1, names_in("d").size());
           struct stat found;
           REFUSED(EACCES, lstat("d/f", &found));
         });
       }},
      {"readdir.long_names_over_many_replies", kReaddir,
       [] {
         make_directory("d");
         std::vector<std::string> names;
         for (int at = 100; at < 400; ++at) {
           names.push_back(std::string(252, 'n') + std::to_string(at));
           make("d/" + names.back());
         }
         all_there("d", names);
       }},
  };
}

Cases statfs_cases() {
  return {
      {"statfs.blocks_fit_each_other", "POSIX statvfs()",
       [] {
         struct statvfs told;
         MUST(statvfs(".", &told));
         TRUE(told.f_frsize > 0 && told.f_blocks > 0);
         TRUE(told.f_bfree <= told.f_blocks && told.f_bavail <= told.f_bfree);
         TRUE(told.f_ffree <= told.f_files && told.f_files > 0);
       }},
      {"statfs.of_open_file_is_the_same", "POSIX fstatvfs()",
       [] {
         make("f");
         File file("f", O_RDONLY);
         struct statvfs by_path, by_file;
         MUST(statvfs(".", &by_path));
         MUST(fstatvfs(file, &by_file));
         EQUAL(by_path.f_blocks, by_file.f_blocks);
       }},
      {"statfs.is_nfs", "statfs(2)",
       [] {
         struct statfs told;
         MUST(statfs(".", &told));
         EQUAL(0x6969, told.f_type);
       }},
      {"statfs.written_bytes_take_room", "POSIX statvfs(), stat() st_blocks",
       [] {
         File file("f", O_CREAT | O_RDWR);
         put(file, std::string(1 << 20, 'x'), 0);
         MUST(fsync(file));
         TRUE(stat_of("f").st_blocks >= 2048);
       }},
  };
}

}  // namespace

Cases name_cases() {
  Cases cases = path_cases();
  add_names(cases);
  for (const auto& more : {removal_cases(), readdir_cases(), statfs_cases()}) {
    cases.insert(cases.end(), more.begin(), more.end());
  }
  return cases;
}

Cases many_names_cases() {
  return {
      {"many_names.come_once_each", kReaddir,
       [] {
         const auto names = names_in("../../many");
         EQUAL(kManyNames, names.size());
         TRUE(std::adjacent_find(names.begin(), names.end()) == names.end());
       }},
  };
}

}  // namespace conformance
