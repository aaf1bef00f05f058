// Bytes: read, write, append, truncate, holes.
#include <sys/uio.h>

#include <climits>

#include "tests/conformance/cases/files.h"
#include "tests/conformance/cases/subjects.h"

namespace conformance {
namespace {

constexpr const char* kRead = "POSIX read(), pread()";
constexpr const char* kWrite = "POSIX write(), pwrite()";
constexpr const char* kTruncate = "POSIX ftruncate()";
constexpr const char* kHoles = "POSIX lseek(): data not written reads as zeros";
constexpr std::size_t kPage = 4096;
constexpr off_t kFar = 1ll << 40;  // 1 TiB

Cases read_and_write_cases() {
  Cases cases = {
      {"data.read_at_the_end_is_empty", kRead,
       [] {
         make("f", 0644, "text");
         File file("f", O_RDONLY);
         EQUAL("", content(file, 4, 10));
         EQUAL("", content(file, 1'000'000, 10));
       }},
      {"data.read_across_the_end_is_short", kRead,
       [] {
         make("f", 0644, "text");
         File file("f", O_RDONLY);
         char bytes[10];
         EQUAL(2, MUST(pread(file, bytes, sizeof bytes, 2)));
       }},
      {"data.read_of_directory", "POSIX read() EISDIR",
       [] {
         make_directory("d");
         File file("d", O_RDONLY);
         char byte;
         REFUSED(EISDIR, read(file, &byte, 1));
       }},
      {"data.write_of_nothing", kWrite,
       [] {
         make("f", 0644, "x");
         File file("f", O_WRONLY);
         EQUAL(0, MUST(write(file, "", 0)));
         EQUAL(1, stat_of("f").st_size);
       }},
      {"data.write_moves_the_offset", kWrite,
       [] {
         File file("f", O_CREAT | O_RDWR);
         MUST(write(file, "abc", 3));
         EQUAL(3, MUST(lseek(file, 0, SEEK_CUR)));
         MUST(pwrite(file, "xyz", 3, 10));
         EQUAL(3, MUST(lseek(file, 0, SEEK_CUR)));
       }},
      {"data.overwrite_in_the_middle", kWrite,
       [] {
         make("f", 0644, "abcdefgh");
         File file("f", O_WRONLY);
         put(file, "XY", 3);
         file.close();
         EQUAL("abcXYfgh", fresh("f"));
       }},
      {"data.vectors", "readv(2), writev(2)",
       [] {
         File file("f", O_CREAT | O_RDWR);
         char one[] = "ab", two[] = "cde";
         const iovec parts[2] = {{one, 2}, {two, 3}};
         EQUAL(5, MUST(writev(file, parts, 2)));
         EQUAL("abcde", content("f"));
       }},
      {"data.seek_from_the_end", "POSIX lseek()",
       [] {
         make("f", 0644, "text");
         File file("f", O_RDONLY);
         EQUAL(4, MUST(lseek(file, 0, SEEK_END)));
         EQUAL(1, MUST(lseek(file, -3, SEEK_END)));
         REFUSED(EINVAL, lseek(file, -1, SEEK_SET));
       }},
      {"data.two_descriptors_see_each_other", kWrite,
       [] {
         File one("f", O_CREAT | O_RDWR);
         File other("f", O_RDWR);
         put(one, "abc", 0);
         EQUAL("abc", content(other, 0, 10));
         put(other, "X", 1);
         EQUAL("aXc", content(one, 0, 10));
       }},
      {"data.far_write_makes_a_large_file", kWrite,
       [] {
         File file("f", O_CREAT | O_RDWR);
         put(file, "x", kFar);
         MUST(fsync(file));
         EQUAL(kFar + 1, stat_of("f").st_size);
         EQUAL("x", content(file, kFar, 10));
         EQUAL(std::string(10, '\0'), content(file, kFar / 2, 10));
       }},
      {"data.write_above_the_largest_offset", "POSIX write() EFBIG, EINVAL",
       [] {
         File file("f", O_CREAT | O_RDWR);
         if (pwrite(file, "x", 1, LLONG_MAX) != -1) fail("no error");
         TRUE(errno == EFBIG || errno == EINVAL || errno == EOVERFLOW);
       }},
      {"data.megabytes_come_back", kWrite,
       [] {
         const std::string bytes = pattern(3 << 20);
         make("f", 0644, bytes);
         TRUE(fresh("f") == bytes);
       }},
      {"data.sync_writes", "open(2) O_SYNC, O_DSYNC",
       [] {
         File file("f", O_CREAT | O_RDWR | O_SYNC);
         put(file, "abc", 0);
         File other("f", O_RDWR | O_DSYNC);
         put(other, "d", 3);
         EQUAL("abcd", fresh("f"));
       }},
      {"data.fdatasync", "POSIX fdatasync()",
       [] {
         File file("f", O_CREAT | O_RDWR);
         put(file, "abc", 0);
         MUST(fdatasync(file));
         EQUAL("abc", fresh("f"));
       }},
      {"data.append_writes_at_the_end", "POSIX open() O_APPEND",
       [] {
         make("f", 0644, "abc");
         File file("f", O_RDWR | O_APPEND);
         MUST(lseek(file, 0, SEEK_SET));
         MUST(write(file, "d", 1));
         EQUAL("abcd", content("f"));
       }},
      {"data.two_appenders_of_one_client", "POSIX open() O_APPEND",
       [] {
         File one("f", O_CREAT | O_WRONLY | O_APPEND);
         File other("f", O_WRONLY | O_APPEND);
         for (int turn = 0; turn < 20; ++turn) {
           MUST(write(one, "a", 1));
           MUST(write(other, "b", 1));
         }
         EQUAL(40, content("f").size());
       }},
  };
  // Around the edges of pages, of the stripe (256 KiB) and of what one WRITE carries (1 MiB).
  for (const std::size_t at :
       {kPage, std::size_t{65'536}, std::size_t{262'144}, std::size_t{1'048'576}}) {
    for (const int shift : {-1, 0, 1}) {
      const off_t edge = static_cast<off_t>(at) + shift;
      cases.push_back({"data.write_around_" + std::to_string(edge), kWrite, [edge] {
                         const std::string bytes = pattern(5000, static_cast<unsigned>(edge));
                         File file("f", O_CREAT | O_RDWR);
                         put(file, bytes, edge - 2500);
                         file.close();
                         const std::string whole = fresh("f");
                         const auto from = static_cast<std::size_t>(edge - 2500);
                         EQUAL(from + 5000, whole.size());
                         TRUE(whole.substr(from) == bytes);
                         TRUE(whole.find_first_not_of('\0') >= from);
                       }});
    }
  }
  return cases;
}

Cases truncate_cases() {
  Cases cases = {
      {"truncate.missing", kTruncate, [] { REFUSED(ENOENT, truncate("f", 0)); }},
      {"truncate.of_directory", "POSIX truncate() EISDIR",
       [] {
         make_directory("d");
         REFUSED(EISDIR, truncate("d", 0));
       }},
      {"truncate.negative", "POSIX truncate() EINVAL",
       [] {
         make("f");
         REFUSED(EINVAL, truncate("f", -1));
       }},
      {"truncate.needs_write_permission", "POSIX truncate() EACCES",
       [] {
         make("f", 0644, "x");
         as_user([] { REFUSED(EACCES, truncate("f", 0)); });
         EQUAL(1, stat_of("f").st_size);
       }},
      {"truncate.of_read_only_descriptor", "POSIX ftruncate() EINVAL",
       [] {
         make("f", 0644, "x");
         File file("f", O_RDONLY);
         REFUSED(EINVAL, ftruncate(file, 0));
       }},
      {"truncate.of_open_file_without_permission_any_more", kTruncate,
       [] {
         as_user([] {
           make("f", 0644, "text");
           File file("f", O_RDWR);
           MUST(chmod("f", 0));
           MUST(ftruncate(file, 2));
           EQUAL(2, stat_of("f").st_size);
         });
       }},
      {"truncate.cut_bytes_do_not_come_back", kTruncate,
       [] {
         make("f", 0644, "abcdefgh");
         MUST(truncate("f", 3));
         MUST(truncate("f", 8));
         EQUAL(std::string("abc\0\0\0\0\0", 8), fresh("f"));
       }},
      {"truncate.cut_bytes_do_not_come_back_after_a_far_write", kTruncate,
       [] {
         File file("f", O_CREAT | O_RDWR);
         put(file, pattern(20'000), 0);
         MUST(fsync(file));
         MUST(ftruncate(file, 100));
         put(file, "x", 19'999);
         MUST(fsync(file));
         const std::string seen = fresh("f");
         EQUAL(20'000, seen.size());
         EQUAL(std::string::npos, seen.substr(100, 19'899).find_first_not_of('\0'));
       }},
      {"truncate.far_up_and_down", kTruncate,
       [] {
         make("f", 0644, "x");
         MUST(truncate("f", kFar));
         EQUAL(kFar, stat_of("f").st_size);
         MUST(truncate("f", 1));
         EQUAL("x", content("f"));
       }},
      {"truncate.frees_room", "stat(2) st_blocks",
       [] {
         File file("f", O_CREAT | O_RDWR);
         put(file, pattern(1 << 20), 0);
         MUST(fsync(file));
         MUST(ftruncate(file, 0));
         EQUAL(0, stat_of("f").st_blocks);
       }},
      {"truncate.beyond_a_reader_makes_it_short", kTruncate,
       [] {
         make("f", 0644, pattern(10'000));
         File file("f", O_RDONLY);
         EQUAL(10'000, content(file, 0, 20'000).size());
         MUST(truncate("f", 5'000));
         EQUAL(5'000, content(file, 0, 20'000).size());
       }},
  };
  for (const off_t to : {0, 1, 4095, 4096, 4097, 262'143, 262'144, 262'145}) {
    cases.push_back({"truncate.to_" + std::to_string(to), kTruncate, [to] {
                       const std::string bytes = pattern(300'000);
                       make("f", 0644, bytes);
                       MUST(truncate("f", to));
                       EQUAL(to, stat_of("f").st_size);
                       TRUE(fresh("f") == bytes.substr(0, static_cast<std::size_t>(to)));
                       MUST(truncate("f", 300'000));
                       const std::string grown = fresh("f");
                       EQUAL(300'000, grown.size());
                       EQUAL(std::string::npos,
                             grown.find_first_not_of('\0', static_cast<std::size_t>(to)));
                     }});
  }
  return cases;
}

Cases hole_cases() {
  return {
      {"holes.read_as_zeros", kHoles,
       [] {
         File file("f", O_CREAT | O_RDWR);
         put(file, "a", 0);
         put(file, "b", 1'000'000);
         MUST(fsync(file));
         EQUAL(std::string(5000, '\0'), content(file, 500'000, 5000));
         EQUAL(1'000'001, stat_of("f").st_size);
       }},
      {"holes.take_no_room", "stat(2) st_blocks",
       [] {
         File file("f", O_CREAT | O_RDWR);
         put(file, "b", 1 << 30);
         MUST(fsync(file));
         TRUE(stat_of("f").st_blocks < 4096);
       }},
      {"holes.write_into_one", kHoles,
       [] {
         File file("f", O_CREAT | O_RDWR);
         MUST(ftruncate(file, 1'000'000));
         put(file, "x", 500'000);
         file.close();
         const std::string seen = fresh("f");
         EQUAL(500'000, seen.find_first_not_of('\0'));
         EQUAL(500'000, seen.find_last_not_of('\0'));
       }},
      {"holes.pages_beside_written_ones", kHoles,
       [] {
         File file("f", O_CREAT | O_RDWR);
         for (off_t at = 0; at < 64; at += 2) put(file, std::string(kPage, 'x'), at * 4096);
         MUST(fsync(file));
         const std::string seen = fresh("f");
         for (std::size_t at = 0; at < 63; ++at) {
           TRUE(seen[at * kPage] == (at % 2 ? '\0' : 'x'));
         }
       }},
  };
}

}  // namespace

Cases data_cases() {
  Cases cases = read_and_write_cases();
  for (const auto& more : {truncate_cases(), hole_cases()}) {
    cases.insert(cases.end(), more.begin(), more.end());
  }
  return cases;
}

}  // namespace conformance
