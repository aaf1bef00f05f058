// O_DIRECT and mmap beside the cache.
#include <signal.h>
#include <sys/mman.h>

#include <cstdlib>
#include <cstring>

#include "tests/conformance/cases/files.h"
#include "tests/conformance/cases/subjects.h"

namespace conformance {
namespace {

constexpr const char* kMmap = "POSIX mmap(), msync()";
constexpr const char* kDirect = "open(2) O_DIRECT";
constexpr std::size_t kPage = 4096;

char* aligned(std::size_t length) {
  void* memory = nullptr;
  TRUE(posix_memalign(&memory, kPage, length) == 0);
  return static_cast<char*>(memory);
}

Cases direct_cases() {
  return {
      {"direct.write_is_read_by_others", kDirect,
       [] {
         File file("f", O_CREAT | O_RDWR | O_DIRECT);
         char* const block = aligned(kPage);
         std::memset(block, 'd', kPage);
         EQUAL(kPage, MUST(pwrite(file, block, kPage, 0)));
         EQUAL(std::string(kPage, 'd'), content("f"));
       }},
      {"direct.read_sees_cached_write", kDirect,
       [] {
         File cached("f", O_CREAT | O_RDWR);
         put(cached, std::string(kPage, 'c'), 0);
         File file("f", O_RDONLY | O_DIRECT);
         char* const block = aligned(kPage);
         EQUAL(kPage, MUST(pread(file, block, kPage, 0)));
         TRUE(block[0] == 'c' && block[kPage - 1] == 'c');
       }},
      {"direct.cached_read_sees_write", kDirect,
       [] {
         File cached("f", O_CREAT | O_RDWR);
         put(cached, std::string(kPage, 'c'), 0);
         EQUAL("c", content(cached, 0, 1));
         File file("f", O_RDWR | O_DIRECT);
         char* const block = aligned(kPage);
         std::memset(block, 'd', kPage);
         MUST(pwrite(file, block, kPage, 0));
         EQUAL("d", content(cached, 0, 1));
       }},
      {"direct.read_across_the_end_is_short", kDirect,
       [] {
         make("f", 0644, std::string(100, 'x'));
         File file("f", O_RDONLY | O_DIRECT);
         char* const block = aligned(kPage);
         EQUAL(100, MUST(pread(file, block, kPage, 0)));
       }},
      {"direct.unaligned_lengths", kDirect,
       [] {
         // NFS has no sectors: nothing has to be aligned.
         File file("f", O_CREAT | O_RDWR | O_DIRECT);
         char* const block = aligned(kPage);
         std::memset(block, 'd', kPage);
         EQUAL(77, MUST(pwrite(file, block, 77, 13)));
         EQUAL(90, stat_of("f").st_size);
         EQUAL(std::string(13, '\0') + std::string(77, 'd'), content("f"));
       }},
      {"direct.hole_reads_as_zeros", kDirect,
       [] {
         File file("f", O_CREAT | O_RDWR | O_DIRECT);
         MUST(ftruncate(file, 1 << 20));
         char* const block = aligned(kPage);
         std::memset(block, 'd', kPage);
         EQUAL(kPage, MUST(pread(file, block, kPage, 4096)));
         TRUE(block[0] == '\0' && block[kPage - 1] == '\0');
       }},
      {"direct.large_blocks", kDirect,
       [] {
         constexpr std::size_t kLength = 2 << 20;
         File file("f", O_CREAT | O_RDWR | O_DIRECT);
         char* const block = aligned(kLength);
         const std::string bytes = pattern(kLength);
         std::memcpy(block, bytes.data(), kLength);
         EQUAL(kLength, MUST(pwrite(file, block, kLength, 0)));
         TRUE(fresh("f") == bytes);
       }},
  };
}

char* map(int fd, std::size_t length, int protection, int flags) {
  void* const memory = mmap(nullptr, length, protection, flags, fd, 0);
  if (memory == MAP_FAILED) fail(errno_name(errno) + " at mmap");
  return static_cast<char*>(memory);
}

Cases mmap_cases() {
  constexpr int kBoth = PROT_READ | PROT_WRITE;
  return {
      {"mmap.shows_the_file", kMmap,
       [] {
         make("f", 0644, "text");
         File file("f", O_RDONLY);
         EQUAL("text", std::string(map(file, kPage, PROT_READ, MAP_SHARED), 4));
       }},
      {"mmap.rest_of_the_last_page_is_zeros", kMmap,
       [] {
         make("f", 0644, "text");
         File file("f", O_RDONLY);
         const char* const bytes = map(file, kPage, PROT_READ, MAP_SHARED);
         for (std::size_t at = 4; at < kPage; ++at) TRUE(bytes[at] == '\0');
       }},
      {"mmap.shared_write_reaches_the_file", kMmap,
       [] {
         make("f", 0644, "text");
         File file("f", O_RDWR);
         char* const bytes = map(file, kPage, kBoth, MAP_SHARED);
         bytes[1] = 'E';
         MUST(msync(bytes, kPage, MS_SYNC));
         EQUAL("tExt", fresh("f"));
       }},
      {"mmap.write_behind_the_end_is_not_kept", kMmap,
       [] {
         make("f", 0644, "text");
         File file("f", O_RDWR);
         char* const bytes = map(file, kPage, kBoth, MAP_SHARED);
         bytes[0] = 'T';
         bytes[100] = 'x';
         MUST(msync(bytes, kPage, MS_SYNC));
         munmap(bytes, kPage);
         MUST(ftruncate(file, 200));
         const std::string seen = fresh("f");
         EQUAL(200, seen.size());
         TRUE(seen[100] == '\0');
       }},
      {"mmap.private_write_stays_private", kMmap,
       [] {
         make("f", 0644, "text");
         File file("f", O_RDWR);
         char* const bytes = map(file, kPage, kBoth, MAP_PRIVATE);
         bytes[1] = 'E';
         EQUAL("text", fresh("f"));
       }},
      {"mmap.sees_write", kMmap,
       [] {
         make("f", 0644, "text");
         File file("f", O_RDWR);
         const char* const bytes = map(file, kPage, PROT_READ, MAP_SHARED);
         TRUE(bytes[0] == 't');
         put(file, "T", 0);
         TRUE(bytes[0] == 'T');
       }},
      {"mmap.read_sees_what_is_written_to_it", kMmap,
       [] {
         make("f", 0644, "text");
         File file("f", O_RDWR);
         map(file, kPage, kBoth, MAP_SHARED)[0] = 'T';
         EQUAL("Text", content(file, 0, 4));
       }},
      {"mmap.to_write_needs_a_writable_descriptor", "POSIX mmap() EACCES",
       [] {
         make("f", 0644, "text");
         File file("f", O_RDONLY);
         TRUE(mmap(nullptr, kPage, kBoth, MAP_SHARED, file, 0) == MAP_FAILED && errno == EACCES);
       }},
      {"mmap.hole_is_zeros_and_can_be_written", kMmap,
       [] {
         File file("f", O_CREAT | O_RDWR);
         MUST(ftruncate(file, 1 << 20));
         char* const bytes = map(file, 1 << 20, kBoth, MAP_SHARED);
         TRUE(bytes[500'000] == '\0');
         bytes[500'000] = 'x';
         MUST(msync(bytes, 1 << 20, MS_SYNC));
         EQUAL(500'000, fresh("f").find('x'));
       }},
      {"mmap.stays_after_close_and_unlink", kMmap,
       [] {
         make("f", 0644, "text");
         File file("f", O_RDWR);
         char* const bytes = map(file, kPage, kBoth, MAP_SHARED);
         file.close();
         MUST(unlink("f"));
         bytes[0] = 'T';
         MUST(msync(bytes, kPage, MS_SYNC));
         EQUAL("Text", std::string(bytes, 4));
       }},
      {"mmap.behind_a_truncation_is_sigbus", "POSIX mmap() SIGBUS",
       [] {
         make("f", 0644, std::string(3 * kPage, 'x'));
         File file("f", O_RDWR);
         const char* const bytes = map(file, 3 * kPage, PROT_READ, MAP_SHARED);
         TRUE(bytes[2 * kPage] == 'x');
         MUST(ftruncate(file, kPage));
         const pid_t pid = MUST(fork());
         if (pid == 0) _exit(bytes[2 * kPage] == 'x' ? 3 : 4);
         TRUE(ended_by(pid) == SIGBUS);
       }},
      {"mmap.runs_a_program", "execve(2)",
       [] {
         const std::string program = content("/proc/self/exe");
         make("f", 0755, program);
         in_child([] {
           close(STDOUT_FILENO);
           execl("./f", "f", "--list", nullptr);
           fail("cannot be executed");
         });
       }},
  };
}

}  // namespace

Cases mapped_cases() {
  Cases cases = direct_cases();
  for (Case& one : mmap_cases()) cases.push_back(std::move(one));
  return cases;
}

}  // namespace conformance
