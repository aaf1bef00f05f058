// Hard links, symbolic links, special files.
#include <poll.h>
#include <sys/socket.h>
#include <sys/sysmacros.h>
#include <sys/un.h>

#include <climits>
#include <cstring>

#include "tests/conformance/cases/files.h"
#include "tests/conformance/cases/subjects.h"

namespace conformance {
namespace {

constexpr const char* kLink = "POSIX link()";
constexpr const char* kSymlink = "POSIX symlink()";
constexpr const char* kReadlink = "POSIX readlink()";
constexpr const char* kResolution = "POSIX 4.13 Pathname Resolution";
constexpr const char* kMknod = "POSIX mknod(), mkfifo()";

std::string target_of(const std::string& path) {
  char target[PATH_MAX];
  const ssize_t length = MUST(readlink(path.c_str(), target, sizeof target));
  return std::string(target, static_cast<std::size_t>(length));
}

Cases link_cases() {
  return {
      {"link.counts", kLink,
       [] {
         make("f");
         MUST(link("f", "g"));
         EQUAL(2, stat_of("f").st_nlink);
         EQUAL(stat_of("f").st_ino, stat_of("g").st_ino);
         MUST(unlink("f"));
         EQUAL(1, stat_of("g").st_nlink);
       }},
      {"link.shares_content", kLink,
       [] {
         make("f", 0644, "x");
         MUST(link("f", "g"));
         File file("g", O_WRONLY);
         put(file, "y", 0);
         file.close();
         EQUAL("y", content("f"));
       }},
      {"link.shares_mode", kLink,
       [] {
         make("f");
         MUST(link("f", "g"));
         MUST(chmod("g", 0601));
         EQUAL(0601, mode_of("f"));
       }},
      {"link.onto_existing", kLink,
       [] {
         make("f");
         make("g", 0644, "x");
         REFUSED(EEXIST, link("f", "g"));
         EQUAL("x", content("g"));
         EQUAL(1, stat_of("f").st_nlink);
       }},
      {"link.onto_itself", kLink,
       [] {
         make("f");
         REFUSED(EEXIST, link("f", "f"));
       }},
      {"link.onto_directory", kLink,
       [] {
         make("f");
         make_directory("d");
         REFUSED(EEXIST, link("f", "d"));
       }},
      {"link.of_directory", kLink,
       [] {
         make_directory("d");
         REFUSED(EPERM, link("d", "e"));
       }},
      {"link.of_missing", kLink, [] { REFUSED(ENOENT, link("f", "g")); }},
      {"link.in_missing_folder", kLink,
       [] {
         make("f");
         REFUSED(ENOENT, link("f", "d/g"));
       }},
      {"link.below_a_file", kLink,
       [] {
         make("f");
         make("g");
         REFUSED(ENOTDIR, link("f", "g/h"));
       }},
      {"link.in_other_directory", kLink,
       [] {
         make("f", 0644, "x");
         make_directory("d");
         MUST(link("f", "d/g"));
         EQUAL("x", content("d/g"));
       }},
      {"link.folder_not_writable", kLink,
       [] {
         make_directory("d");
         as_user([] {
           make("f");
           REFUSED(EACCES, link("f", "d/g"));
         });
       }},
      {"link.of_symlink_is_of_the_symlink", "link(2)",
       [] {
         MUST(symlink("nowhere", "s"));
         MUST(link("s", "t"));
         TRUE(S_ISLNK(stat_of("t").st_mode));
         EQUAL(2, stat_of("s").st_nlink);
       }},
      {"link.of_fifo", kLink,
       [] {
         MUST(mkfifo("p", 0644));
         MUST(link("p", "q"));
         EQUAL(2, stat_of("q").st_nlink);
       }},
      {"link.of_unlinked_open_file", "linkat(2)",
       [] {
         make("f", 0644, "x");
         MUST(link("f", "g"));
         MUST(unlink("f"));
         MUST(link("g", "f"));
         EQUAL(2, stat_of("g").st_nlink);
       }},
      {"link.hundred_of_one_file", kLink,
       [] {
         make("f");
         for (int at = 1; at < 100; ++at) MUST(link("f", ("f" + std::to_string(at)).c_str()));
         EQUAL(100, stat_of("f").st_nlink);
         for (int at = 1; at < 100; ++at) MUST(unlink(("f" + std::to_string(at)).c_str()));
         EQUAL(1, stat_of("f").st_nlink);
       }},
  };
}

Cases symlink_cases() {
  Cases cases = {
      {"symlink.keeps_its_text", kReadlink,
       [] {
         MUST(symlink("some/../where//else", "s"));
         EQUAL("some/../where//else", target_of("s"));
         EQUAL(19, stat_of("s").st_size);
       }},
      {"symlink.truncates_for_small_buffers", kReadlink,
       [] {
         MUST(symlink("abcdef", "s"));
         char text[3];
         EQUAL(3, MUST(readlink("s", text, 3)));
         EQUAL("abc", std::string(text, 3));
       }},
      {"symlink.of_utf8", kReadlink,
       [] {
         MUST(symlink("\xc3\xa4/\xe2\x82\xac", "s"));
         EQUAL("\xc3\xa4/\xe2\x82\xac", target_of("s"));
       }},
      {"symlink.onto_existing", kSymlink,
       [] {
         make("f");
         REFUSED(EEXIST, symlink("x", "f"));
       }},
      {"symlink.onto_symlink", kSymlink,
       [] {
         MUST(symlink("x", "s"));
         REFUSED(EEXIST, symlink("y", "s"));
         EQUAL("x", target_of("s"));
       }},
      {"symlink.empty_text", "symlink(2)", [] { REFUSED(ENOENT, symlink("", "s")); }},
      {"symlink.in_missing_folder", kSymlink, [] { REFUSED(ENOENT, symlink("x", "d/s")); }},
      {"symlink.folder_not_writable", kSymlink,
       [] {
         make_directory("d");
         as_user([] { REFUSED(EACCES, symlink("x", "d/s")); });
       }},
      {"symlink.owner_is_the_user", kSymlink,
       [] {
         as(1000, 2000, {}, [] { MUST(symlink("x", "s")); });
         EQUAL(1000, stat_of("s").st_uid);
         EQUAL(2000, stat_of("s").st_gid);
       }},
      {"symlink.readlink_of_file", kReadlink,
       [] {
         make("f");
         char text[10];
         REFUSED(EINVAL, readlink("f", text, sizeof text));
       }},
      {"symlink.readlink_of_directory", kReadlink,
       [] {
         make_directory("d");
         char text[10];
         REFUSED(EINVAL, readlink("d", text, sizeof text));
       }},
      {"symlink.dangling_is_missing", kResolution,
       [] {
         MUST(symlink("no", "s"));
         REFUSED(ENOENT, open("s", O_RDONLY));
       }},
      {"symlink.to_itself", kResolution,
       [] {
         MUST(symlink("s", "s"));
         REFUSED(ELOOP, open("s", O_RDONLY));
       }},
      {"symlink.circle", kResolution,
       [] {
         MUST(symlink("b", "a"));
         MUST(symlink("a", "b"));
         REFUSED(ELOOP, open("a", O_RDONLY));
       }},
      {"symlink.unlink_leaves_the_target", "POSIX unlink()",
       [] {
         make("f");
         MUST(symlink("f", "s"));
         MUST(unlink("s"));
         TRUE(exists("f") && !exists("s"));
       }},
      {"symlink.rmdir_of_one_to_a_directory", "POSIX rmdir()",
       [] {
         make_directory("d");
         MUST(symlink("d", "s"));
         REFUSED(ENOTDIR, rmdir("s"));
       }},
      {"symlink.through_directory", kResolution,
       [] {
         make_directory("d");
         make("d/f", 0644, "x");
         MUST(symlink("d", "s"));
         EQUAL("x", content("s/f"));
         EQUAL("x", content("s/../d/f"));
       }},
      {"symlink.chain_of_40_at_most", "path_resolution(7)",
       [] {
         make("l0", 0644, "x");
         for (int at = 1; at <= 41; ++at) {
           MUST(
               symlink(("l" + std::to_string(at - 1)).c_str(), ("l" + std::to_string(at)).c_str()));
         }
         EQUAL("x", content("l40"));
         REFUSED(ELOOP, open("l41", O_RDONLY));
       }},
  };
  for (const std::size_t length : {255u, 1000u, 1023u}) {
    cases.push_back({"symlink.text_of_" + std::to_string(length) + "_bytes", kSymlink, [=] {
                       const std::string text(length, 'x');
                       MUST(symlink(text.c_str(), "s"));
                       EQUAL(text, target_of("s"));
                       EQUAL(length, stat_of("s").st_size);
                     }});
  }
  return cases;
}

Cases special_cases() {
  return {
      {"special.fifo", kMknod,
       [] {
         MUST(mkfifo("p", 0640));
         TRUE(S_ISFIFO(stat_of("p").st_mode));
         EQUAL(0640, mode_of("p"));
       }},
      {"special.fifo_carries_bytes", kMknod,
       [] {
         MUST(mkfifo("p", 0644));
         File reader("p", O_RDONLY | O_NONBLOCK);
         File writer("p", O_WRONLY);
         MUST(write(writer, "x", 1));
         char byte = 0;
         EQUAL(1, MUST(read(reader, &byte, 1)));
         TRUE(byte == 'x');
       }},
      {"special.fifo_without_reader", "POSIX open() ENXIO",
       [] {
         MUST(mkfifo("p", 0644));
         REFUSED(ENXIO, open("p", O_WRONLY | O_NONBLOCK));
       }},
      {"special.fifo_by_user", kMknod,
       [] {
         as_user([] { MUST(mkfifo("p", 0644)); });
         EQUAL(1000, stat_of("p").st_uid);
       }},
      {"special.existing", kMknod,
       [] {
         make("f");
         REFUSED(EEXIST, mkfifo("f", 0644));
       }},
      {"special.character_device", kMknod,
       [] {
         MUST(mknod("c", S_IFCHR | 0600, makedev(1, 3)));
         TRUE(S_ISCHR(stat_of("c").st_mode));
         EQUAL(1, major(stat_of("c").st_rdev));
         EQUAL(3, minor(stat_of("c").st_rdev));
       }},
      {"special.character_device_works", kMknod,
       [] {
         MUST(mknod("null", S_IFCHR | 0666, makedev(1, 3)));
         File file("null", O_RDWR);
         EQUAL(1, MUST(write(file, "x", 1)));
         char byte;
         EQUAL(0, MUST(read(file, &byte, 1)));
       }},
      {"special.block_device", kMknod,
       [] {
         MUST(mknod("b", S_IFBLK | 0600, makedev(7, 200)));
         TRUE(S_ISBLK(stat_of("b").st_mode));
         EQUAL(7, major(stat_of("b").st_rdev));
         EQUAL(200, minor(stat_of("b").st_rdev));
       }},
      {"special.large_device_number", "RFC 1813 2.5 specdata3, RFC 8881 5.8.2.29 rawdev",
       [] {
         MUST(mknod("c", S_IFCHR | 0600, makedev(259, 70'000)));
         EQUAL(259, major(stat_of("c").st_rdev));
         EQUAL(70'000, minor(stat_of("c").st_rdev));
       }},
      {"special.device_by_user", "mknod(2)",
       [] { as_user([] { REFUSED(EPERM, mknod("c", S_IFCHR | 0600, makedev(1, 3))); }); }},
      {"special.socket", kMknod,
       [] {
         MUST(mknod("s", S_IFSOCK | 0600, 0));
         TRUE(S_ISSOCK(stat_of("s").st_mode));
       }},
      {"special.socket_of_bind", "unix(7)",
       [] {
         const int fd = MUST(socket(AF_UNIX, SOCK_STREAM, 0));
         sockaddr_un address{};
         address.sun_family = AF_UNIX;
         std::strcpy(address.sun_path, "s");
         MUST(bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address));
         TRUE(S_ISSOCK(stat_of("s").st_mode));
       }},
      {"special.mknod_of_regular_file", kMknod,
       [] {
         MUST(mknod("f", S_IFREG | 0640, 0));
         TRUE(S_ISREG(stat_of("f").st_mode));
         EQUAL(0640, mode_of("f"));
       }},
      {"special.renamed_stays_what_it_is", kMknod,
       [] {
         MUST(mknod("c", S_IFCHR | 0600, makedev(1, 3)));
         MUST(rename("c", "e"));
         TRUE(S_ISCHR(stat_of("e").st_mode));
         EQUAL(1, major(stat_of("e").st_rdev));
       }},
      {"special.has_no_size", kMknod,
       [] {
         MUST(mkfifo("p", 0644));
         EQUAL(0, stat_of("p").st_size);
       }},
      {"special.truncate_of_fifo", "truncate(2) EINVAL",
       [] {
         MUST(mkfifo("p", 0644));
         REFUSED(EINVAL, truncate("p", 0));
       }},
      {"special.seek_in_fifo", "POSIX lseek() ESPIPE",
       [] {
         MUST(mkfifo("p", 0644));
         File file("p", O_RDWR);
         REFUSED(ESPIPE, lseek(file, 0, SEEK_SET));
       }},
  };
}

}  // namespace

Cases link_and_special_cases() {
  Cases cases = link_cases();
  for (const auto& more : {symlink_cases(), special_cases()}) {
    cases.insert(cases.end(), more.begin(), more.end());
  }
  return cases;
}

}  // namespace conformance
