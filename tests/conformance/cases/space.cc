// fallocate and SEEK: NFSv4.2's ALLOCATE, DEALLOCATE, SEEK, COPY and CLONE as Linux asks for them.
#include <linux/falloc.h>
#include <linux/fs.h>
#include <sys/ioctl.h>

#include "tests/conformance/cases/files.h"
#include "tests/conformance/cases/subjects.h"

namespace conformance {
namespace {

constexpr const char* kAllocate = "RFC 7862 15.1 ALLOCATE, fallocate(2)";
constexpr const char* kDeallocate = "RFC 7862 15.4 DEALLOCATE, fallocate(2)";
constexpr const char* kSeek = "RFC 7862 15.11 SEEK, lseek(2)";
constexpr const char* kCopy = "RFC 7862 15.2 COPY, copy_file_range(2)";
constexpr const char* kClone = "RFC 7862 15.13 CLONE, ioctl_ficlone(2)";
constexpr int kPunch = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;
constexpr off_t kBlock = 1 << 20;  // larger than any unit of allocation

// Data, a hole, data: a MiB each.
void make_with_hole(const std::string& path) {
  File file(path, O_CREAT | O_RDWR | O_TRUNC);
  put(file, std::string(kBlock, 'a'), 0);
  put(file, std::string(kBlock, 'b'), 2 * kBlock);
  MUST(fsync(file));
}

// A server may see data where there is a hole (RFC 7862 15.11.3), but here it keeps holes.
Cases seek_cases() {
  return {
      {"seek.next_hole", kSeek,
       [] {
         make_with_hole("f");
         File file("f", O_RDONLY);
         EQUAL(kBlock, MUST(lseek(file, 0, SEEK_HOLE)));
       },
       kV42},
      {"seek.next_data", kSeek,
       [] {
         make_with_hole("f");
         File file("f", O_RDONLY);
         EQUAL(2 * kBlock, MUST(lseek(file, kBlock, SEEK_DATA)));
       },
       kV42},
      {"seek.data_from_inside_the_hole", kSeek,
       [] {
         make_with_hole("f");
         File file("f", O_RDONLY);
         EQUAL(2 * kBlock, MUST(lseek(file, kBlock + 12'345, SEEK_DATA)));
       },
       kV42},
      {"seek.data_from_inside_data_is_there", kSeek,
       [] {
         make_with_hole("f");
         File file("f", O_RDONLY);
         EQUAL(12'345, MUST(lseek(file, 12'345, SEEK_DATA)));
       },
       kV42},
      {"seek.hole_from_inside_the_hole_is_there", kSeek,
       [] {
         make_with_hole("f");
         File file("f", O_RDONLY);
         EQUAL(kBlock + 8192, MUST(lseek(file, kBlock + 8192, SEEK_HOLE)));
       },
       kV42},
      {"seek.the_end_is_a_hole", kSeek,
       [] {
         make_with_hole("f");
         File file("f", O_RDONLY);
         EQUAL(3 * kBlock, MUST(lseek(file, 2 * kBlock, SEEK_HOLE)));
       },
       kAll},
      {"seek.data_behind_the_last", kSeek,
       [] {
         make_with_hole("f");
         MUST(truncate("f", 8 * kBlock));
         File file("f", O_RDONLY);
         REFUSED(ENXIO, lseek(file, 4 * kBlock, SEEK_DATA));
       },
       kV42},
      {"seek.at_the_end", kSeek,
       [] {
         make("f", 0644, "text");
         File file("f", O_RDONLY);
         REFUSED(ENXIO, lseek(file, 4, SEEK_DATA));
         REFUSED(ENXIO, lseek(file, 4, SEEK_HOLE));
       },
       kAll},
      {"seek.in_an_empty_file", kSeek,
       [] {
         make("f");
         File file("f", O_RDONLY);
         REFUSED(ENXIO, lseek(file, 0, SEEK_DATA));
       },
       kAll},
      {"seek.file_that_is_a_hole", kSeek,
       [] {
         make("f");
         MUST(truncate("f", kBlock));
         File file("f", O_RDONLY);
         EQUAL(0, MUST(lseek(file, 0, SEEK_HOLE)));
         REFUSED(ENXIO, lseek(file, 0, SEEK_DATA));
       },
       kV42},
      {"seek.full_file", kSeek,
       [] {
         make("f", 0644, "text");
         File file("f", O_RDONLY);
         EQUAL(0, MUST(lseek(file, 0, SEEK_DATA)));
         EQUAL(4, MUST(lseek(file, 0, SEEK_HOLE)));
       },
       kAll},
      {"seek.punched_hole_is_one", kSeek,
       [] {
         File file("f", O_CREAT | O_RDWR);
         put(file, std::string(3 * kBlock, 'x'), 0);
         MUST(fallocate(file, kPunch, kBlock, kBlock));
         EQUAL(kBlock, MUST(lseek(file, 0, SEEK_HOLE)));
         EQUAL(2 * kBlock, MUST(lseek(file, kBlock, SEEK_DATA)));
       },
       kV42},
      {"seek.sees_unwritten_cached_data", kSeek,
       [] {
         File file("f", O_CREAT | O_RDWR);
         MUST(ftruncate(file, 2 * kBlock));
         put(file, "x", kBlock);
         TRUE(MUST(lseek(file, 0, SEEK_DATA)) <= kBlock);
       },
       kV42},
  };
}

Cases allocate_cases() {
  return {
      {"fallocate.grows_the_file", kAllocate,
       [] {
         File file("f", O_CREAT | O_RDWR);
         MUST(fallocate(file, 0, 0, kBlock));
         EQUAL(kBlock, stat_of("f").st_size);
         EQUAL(std::string(100, '\0'), content(file, kBlock / 2, 100));
       },
       kV42},
      {"fallocate.reserves_room", kAllocate,
       [] {
         File file("f", O_CREAT | O_RDWR);
         MUST(fallocate(file, 0, 0, kBlock));
         MUST(fsync(file));
         TRUE(stat_of("f").st_blocks >= kBlock / 512);
       },
       kV42},
      {"fallocate.keeps_data", kAllocate,
       [] {
         File file("f", O_CREAT | O_RDWR);
         put(file, "text", 100);
         MUST(fallocate(file, 0, 0, kBlock));
         EQUAL("text", content(file, 100, 4));
       },
       kV42},
      {"fallocate.inside_does_not_shrink", kAllocate,
       [] {
         File file("f", O_CREAT | O_RDWR);
         MUST(ftruncate(file, kBlock));
         MUST(fallocate(file, 0, 0, 4096));
         EQUAL(kBlock, stat_of("f").st_size);
       },
       kV42},
      {"fallocate.of_length_0", "fallocate(2) EINVAL",
       [] {
         File file("f", O_CREAT | O_RDWR);
         REFUSED(EINVAL, fallocate(file, 0, 0, 0));
       },
       kV42},
      {"fallocate.read_only_descriptor", "fallocate(2) EBADF",
       [] {
         make("f");
         File file("f", O_RDONLY);
         REFUSED(EBADF, fallocate(file, 0, 0, 4096));
       },
       kV42},
      {"fallocate.more_than_there_is", "RFC 7862 15.1 NFS4ERR_NOSPC",
       [] {
         File file("f", O_CREAT | O_RDWR);
         const int result = fallocate(file, 0, 0, 1ll << 42);
         const int error = errno;
         const off_t size = stat_of("f").st_size;
         MUST(ftruncate(file, 0));  // what a server leaves fills its disk
         TRUE(result == -1 && (error == ENOSPC || error == EFBIG));
         EQUAL(0, size);
       },
       kV42},
      {"fallocate.moves_mtime_or_ctime", kAllocate,
       [] {
         File file("f", O_CREAT | O_RDWR);
         const struct stat before = stat_of("f");
         usleep(20'000);
         MUST(fallocate(file, 0, 0, 4096));
         TRUE(before.st_ctim.tv_nsec != stat_of("f").st_ctim.tv_nsec);
       },
       kV42},
      {"fallocate.unwritten_can_be_written", kAllocate,
       [] {
         File file("f", O_CREAT | O_RDWR);
         MUST(fallocate(file, 0, 0, kBlock));
         put(file, "x", 5000);
         MUST(fsync(file));
         EQUAL(std::string("\0x\0", 3), content(file, 4999, 3));
       },
       kV42},
      {"fallocate.clears_setuid", "inode_newsize, file_modified()",
       [] {
         make("f", 0777);
         set_mode("f", 06777);
         as_user([] {
           File file("f", O_RDWR);
           MUST(fallocate(file, 0, 0, 4096));
         });
         EQUAL(0777, mode_of("f"));
       },
       kV42},
      {"punch.reads_as_zeros", kDeallocate,
       [] {
         File file("f", O_CREAT | O_RDWR);
         put(file, std::string(30'000, 'x'), 0);
         MUST(fallocate(file, kPunch, 5'000, 10'000));
         EQUAL(30'000, stat_of("f").st_size);
         EQUAL(std::string(5'000, 'x') + std::string(10'000, '\0') + std::string(15'000, 'x'),
               content("f"));
       },
       kV42},
      {"punch.frees_room", kDeallocate,
       [] {
         File file("f", O_CREAT | O_RDWR);
         put(file, std::string(3 * kBlock, 'x'), 0);
         MUST(fsync(file));
         const auto before = stat_of("f").st_blocks;
         MUST(fallocate(file, kPunch, kBlock, kBlock));
         EQUAL(before - kBlock / 512, stat_of("f").st_blocks);
       },
       kV42},
      {"punch.across_the_end_keeps_the_size", kDeallocate,
       [] {
         File file("f", O_CREAT | O_RDWR);
         put(file, std::string(10'000, 'x'), 0);
         MUST(fallocate(file, kPunch, 5'000, kBlock));
         EQUAL(10'000, stat_of("f").st_size);
         EQUAL(std::string(5'000, 'x') + std::string(5'000, '\0'), content("f"));
       },
       kV42},
      {"punch.behind_the_end", kDeallocate,
       [] {
         File file("f", O_CREAT | O_RDWR);
         put(file, "text", 0);
         MUST(fallocate(file, kPunch, kBlock, kBlock));
         EQUAL("text", content("f"));
       },
       kV42},
      {"punch.then_write", kDeallocate,
       [] {
         File file("f", O_CREAT | O_RDWR);
         put(file, std::string(30'000, 'x'), 0);
         MUST(fallocate(file, kPunch, 0, 30'000));
         put(file, "y", 10'000);
         MUST(fsync(file));
         const std::string seen = content("f");
         EQUAL(10'000, seen.find_first_not_of('\0'));
         EQUAL(10'000, seen.find_last_not_of('\0'));
       },
       kV42},
      {"fallocate.not_before_v42", "RFC 7862; fallocate(2) EOPNOTSUPP",
       [] {
         File file("f", O_CREAT | O_RDWR);
         REFUSED(EOPNOTSUPP, fallocate(file, 0, 0, 4096));
       },
       kV3 | kV40 | kV41},
      // The kernel copies itself where the server cannot.
      {"copy.whole_file", kCopy,
       [] {
         make_with_hole("f");
         File from("f", O_RDONLY), to("g", O_CREAT | O_RDWR);
         off_t done = 0;
         while (done < 3 * kBlock) {
           const ssize_t n = MUST(copy_file_range(from, nullptr, to, nullptr, 3 * kBlock, 0));
           TRUE(n > 0);
           done += n;
         }
         TRUE(content("f") == content("g"));
       },
       kV42},
      {"copy.part_to_another_place", kCopy,
       [] {
         make("f", 0644, "abcdefgh");
         make("g", 0644, "01234567");
         File from("f", O_RDONLY), to("g", O_RDWR);
         off_t at = 2, onto = 5;
         EQUAL(3, MUST(copy_file_range(from, &at, to, &onto, 3, 0)));
         EQUAL("01234cde", content("g"));
       },
       kV42},
      {"clone.whole_file", kClone,
       [] {
         make("f", 0644, std::string(kBlock, 'x'));
         File from("f", O_RDONLY), to("g", O_CREAT | O_RDWR);
         MUST(ioctl(to, FICLONE, static_cast<int>(from)));
         TRUE(content("f") == content("g"));
       },
       kV42},
  };
}

}  // namespace

Cases space_cases() {
  Cases cases = seek_cases();
  for (Case& one : allocate_cases()) cases.push_back(std::move(one));
  return cases;
}

}  // namespace conformance
