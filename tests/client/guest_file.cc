// guest_file: file calls that the client VM's busybox has no command for.
//
//   guest_file attributes FILE            one line: everything that a server reports, times in ns
//   guest_file names DIRECTORY            the names in the order of getdents, without a LOOKUP each
//   guest_file append FILE WORD COUNT     COUNT lines "WORD N", each under its own fcntl lock,
//                                         requested until granted; then how often it was refused
//   guest_file hold FILE FLAG locked|open  keeps FILE open, and locked as a whole; adds "one",
//                                         prints "holding", waits until FLAG exists, adds "two",
//                                         prints both and its working directory
//   guest_file try FILE                   "granted" or "refused": a lock of the whole file
//   guest_file wait FILE                  waits for a lock of the whole file, then "granted"
//   guest_file ranges FILE START LENGTH COUNT
//                                         locks COUNT ranges, the first at START, each twice its
//                                         length behind the one before; "granted", or the number of
//                                         the first that is not, and why
//   guest_file turns FILE COUNT           COUNT times: opens it, waits for a lock of all of it,
//                                         adds one to the number in it, unlocks and closes it
//   guest_file relay FILE HOLD-MS FLAG    until FLAG exists: waits for a lock of all of it, adds
//   one
//                                         to the number in it, holds it for HOLD-MS, unlocks it;
//                                         then "N turns, longest wait N ms"
//   guest_file space FILE allocate|punch OFFSET BYTES
//                                         fallocate(2), of mode 0, or punching a hole; "done", or
//                                         why not
//   guest_file space FILE data|hole OFFSET
//                                         lseek(2); where it is, or why there is none
//   guest_file write FILE BYTES COUNT WRITER WRITERS ROUND
//                                         O_DIRECT: the blocks WRITER, WRITER + WRITERS, ... of
//                                         COUNT, in a random order; each contains its place and
//                                         round, and has a checksum
//   guest_file verify FILE BYTES COUNT ROUND direct|cached|mapped
//                                         every block is there, sound and of that round
//   guest_file map FILE BYTES COUNT ROUND FLAG
//                                         verifies as `mapped`, prints "mapped", waits until FLAG
//                                         exists, verifies a mapping of a new open against
//                                         ROUND + 1, while the old mapping still exists
// Exit status: 0; 1 an error, or something differs (printed); 2 usage.
// Confined to one thread.
#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace {

constexpr std::size_t kAlignment = 4096;
constexpr std::size_t kBlockBytesMax = 1 << 20;
constexpr useconds_t kLockPollUs = 20'000;
constexpr useconds_t kFlagPollUs = 50'000;

[[noreturn]] void fail(const std::string& what, const std::string& object) {
  std::printf("guest_file: %s %s: %s\n", what.c_str(), object.c_str(), std::strerror(errno));
  std::exit(1);
}

class File {
 public:
  File(std::string path, int flags) : path_(std::move(path)), fd_(open(path_.c_str(), flags)) {
    if (fd_ < 0) fail("open", path_);
  }
  ~File() {
    if (close(fd_) != 0) fail("close", path_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int fd() const { return fd_; }
  const std::string& path() const { return path_; }

 private:
  const std::string path_;
  const int fd_;
};

// --- blocks

struct BlockHead {
  std::uint64_t index;
  std::uint64_t round;
  std::uint64_t checksum;  // of the block, with this field 0
};

std::uint64_t checksum(const char* block, std::size_t bytes) {
  std::uint64_t sum = 0xcbf29ce484222325ull;
  for (std::size_t at = 0; at < bytes; at += sizeof sum) {
    std::uint64_t word = 0;
    if (at != offsetof(BlockHead, checksum)) std::memcpy(&word, block + at, sizeof word);
    sum = (sum ^ word) * 0x100000001b3ull;
  }
  return sum;
}

void make_block(char* block, std::size_t bytes, std::uint64_t index, std::uint64_t round) {
  const std::uint64_t filler = (index << 20 | round) * 0x9e3779b97f4a7c15ull;
  for (std::size_t at = 0; at < bytes; at += sizeof filler)
    std::memcpy(block + at, &filler, sizeof filler);
  BlockHead head{index, round, 0};
  std::memcpy(block, &head, sizeof head);
  head.checksum = checksum(block, bytes);
  std::memcpy(block, &head, sizeof head);
}

// Prints what is wrong with the block, if anything.
bool sound(const char* block, std::size_t bytes, std::uint64_t index, std::uint64_t round) {
  BlockHead head;
  std::memcpy(&head, block, sizeof head);
  if (head.index == index && head.round == round && head.checksum == checksum(block, bytes))
    return true;
  std::printf("block %llu: it says index %llu round %llu instead of round %llu, checksum %s\n",
              static_cast<unsigned long long>(index), static_cast<unsigned long long>(head.index),
              static_cast<unsigned long long>(head.round), static_cast<unsigned long long>(round),
              head.checksum == checksum(block, bytes) ? "right" : "WRONG");
  return false;
}

char* aligned_block(std::size_t bytes) {
  void* memory = nullptr;
  if (posix_memalign(&memory, kAlignment, bytes) != 0) fail("allocate", "a block");
  return static_cast<char*>(memory);
}

int write_blocks(const std::string& path, std::size_t bytes, std::uint64_t count,
                 std::uint64_t writer, std::uint64_t writers, std::uint64_t round) {
  const File file(path, O_WRONLY | O_DIRECT);
  char* const block = aligned_block(bytes);
  std::vector<std::uint64_t> order;
  for (std::uint64_t i = writer; i < count; i += writers) order.push_back(i);
  std::shuffle(order.begin(), order.end(), std::mt19937_64(round * writers + writer));
  for (const std::uint64_t index : order) {
    make_block(block, bytes, index, round);
    const ssize_t n = pwrite(file.fd(), block, bytes, static_cast<off_t>(index * bytes));
    if (n != static_cast<ssize_t>(bytes)) fail("write", path);
  }
  if (fsync(file.fd()) != 0) fail("fsync", path);
  return 0;
}

int verify_read(const std::string& path, std::size_t bytes, std::uint64_t count,
                std::uint64_t round, int flags) {
  const File file(path, O_RDONLY | flags);
  char* const block = aligned_block(bytes);
  std::uint64_t bad = 0;
  for (std::uint64_t index = 0; index < count; ++index) {
    std::memset(block, 0, bytes);
    const ssize_t n = pread(file.fd(), block, bytes, static_cast<off_t>(index * bytes));
    if (n < 0) fail("read", path);
    if (n != static_cast<ssize_t>(bytes))
      std::printf("block %llu: %zd bytes\n", static_cast<unsigned long long>(index), n);
    bad += !sound(block, bytes, index, round);
  }
  return bad > 0 ? 1 : 0;
}

int verify_mapped(const std::string& path, std::size_t bytes, std::uint64_t count,
                  std::uint64_t round) {
  const File file(path, O_RDONLY);
  void* const memory = mmap(nullptr, bytes * count, PROT_READ, MAP_SHARED, file.fd(), 0);
  if (memory == MAP_FAILED) fail("map", path);
  std::uint64_t bad = 0;
  for (std::uint64_t index = 0; index < count; ++index)
    bad += !sound(static_cast<const char*>(memory) + index * bytes, bytes, index, round);
  return bad > 0 ? 1 : 0;  // the mapping stays until the program ends
}

int map_twice(const std::string& path, std::size_t bytes, std::uint64_t count, std::uint64_t round,
              const std::string& flag) {
  if (verify_mapped(path, bytes, count, round) != 0) return 1;
  std::printf("mapped\n");
  std::fflush(stdout);
  while (access(flag.c_str(), F_OK) != 0) usleep(kFlagPollUs);
  return verify_mapped(path, bytes, count, round + 1);
}

// --- the other commands

int append(const std::string& path, const std::string& word, std::uint64_t count) {
  const File file(path, O_RDWR | O_APPEND);
  std::uint64_t refused = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    struct flock lock {};
    lock.l_type = F_WRLCK;
    while (fcntl(file.fd(), F_SETLK, &lock) != 0) {
      if (errno != EAGAIN && errno != EACCES) fail("lock", path);
      ++refused;
      usleep(kLockPollUs);
    }
    const std::string line = word + " " + std::to_string(i) + "\n";
    if (write(file.fd(), line.data(), line.size()) != static_cast<ssize_t>(line.size()))
      fail("append to", path);
    lock.l_type = F_UNLCK;  // the client sends its cached writes before it gives the lock back
    if (fcntl(file.fd(), F_SETLK, &lock) != 0) fail("unlock", path);
  }
  std::printf("refused %llu\n", static_cast<unsigned long long>(refused));
  return 0;
}

bool try_lock(const File& file, const std::string& path) {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  if (fcntl(file.fd(), F_SETLK, &lock) == 0) return true;
  if (errno != EAGAIN && errno != EACCES) fail("lock", path);
  return false;
}

int hold(const std::string& path, const std::string& flag, bool locked) {
  const File file(path, O_RDWR);
  if (locked && !try_lock(file, path)) fail("lock", path);
  const auto add = [&](std::string_view text) {
    if (write(file.fd(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
      fail("write", path);
    }
    if (fsync(file.fd()) != 0) fail("sync", path);
  };
  add("one ");
  std::printf("holding\n");
  std::fflush(stdout);
  while (access(flag.c_str(), F_OK) != 0) usleep(kFlagPollUs);
  add("two");
  char text[16] = {};
  if (pread(file.fd(), text, sizeof text - 1, 0) < 0) fail("read", path);
  char directory[4096];
  if (getcwd(directory, sizeof directory) == nullptr) fail("find", "the working directory");
  std::printf("%s %s\n", text, directory);
  return 0;
}

int try_once(const std::string& path) {
  const File file(path, O_RDWR);
  std::printf(try_lock(file, path) ? "granted\n" : "refused\n");
  return 0;
}

int wait_for_lock(const std::string& path) {
  const File file(path, O_RDWR);
  std::printf("waiting\n");
  std::fflush(stdout);
  struct flock lock {};
  lock.l_type = F_WRLCK;
  if (fcntl(file.fd(), F_SETLKW, &lock) != 0) fail("lock", path);
  std::printf("granted\n");
  return 0;
}

long long time_ns(const timespec& time) { return time.tv_sec * 1'000'000'000ll + time.tv_nsec; }

int attributes(const std::string& path) {
  struct stat seen;
  if (lstat(path.c_str(), &seen) != 0) fail("stat", path);
  std::printf("mode=%o links=%llu uid=%u gid=%u size=%lld mtime=%lld ctime=%lld\n", seen.st_mode,
              static_cast<unsigned long long>(seen.st_nlink), seen.st_uid, seen.st_gid,
              static_cast<long long>(seen.st_size), time_ns(seen.st_mtim), time_ns(seen.st_ctim));
  return 0;
}

int names(const std::string& path) {
  DIR* const directory = opendir(path.c_str());
  if (directory == nullptr) fail("open", path);
  errno = 0;
  while (const dirent* entry = readdir(directory)) std::printf("%s\n", entry->d_name);
  if (errno != 0) fail("list", path);
  closedir(directory);
  return 0;
}

// Under a lock: two that hold it at once lose a turn.
void add_turn(const File& file, const std::string& path) {
  std::uint64_t taken = 0;
  if (pread(file.fd(), &taken, sizeof taken, 0) < 0) fail("read", path);
  ++taken;
  if (pwrite(file.fd(), &taken, sizeof taken, 0) != sizeof taken) fail("write", path);
}

int take_turns(const std::string& path, std::uint64_t count) {
  for (std::uint64_t turn = 0; turn < count; ++turn) {
    const File file(path, O_RDWR);
    struct flock lock {};
    lock.l_type = F_WRLCK;
    if (fcntl(file.fd(), F_SETLKW, &lock) != 0) fail("lock", path);
    add_turn(file, path);
    lock.l_type = F_UNLCK;
    if (fcntl(file.fd(), F_SETLK, &lock) != 0) fail("unlock", path);
  }
  return 0;
}

long long now_ms() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return time_ns(now) / 1'000'000;
}

int relay(const std::string& path, std::uint64_t hold_ms, const std::string& flag) {
  const File file(path, O_RDWR);
  unsigned long long turns = 0;
  long long longest_ms = 0;
  for (; access(flag.c_str(), F_OK) != 0; ++turns) {
    struct flock lock {};
    lock.l_type = F_WRLCK;
    const long long begun_ms = now_ms();
    if (fcntl(file.fd(), F_SETLKW, &lock) != 0) fail("lock", path);
    longest_ms = std::max(longest_ms, now_ms() - begun_ms);
    add_turn(file, path);
    usleep(static_cast<useconds_t>(hold_ms * 1000));
    lock.l_type = F_UNLCK;
    if (fcntl(file.fd(), F_SETLK, &lock) != 0) fail("unlock", path);
  }
  std::printf("%llu turns, longest wait %lld ms\n", turns, longest_ms);
  return 0;
}

int usage() {
  std::printf(
      "usage: guest_file attributes|names|append|hold|try|wait|turns|relay|space|write|verify|map "
      "FILE ...\n");
  return 2;
}

int lock_ranges(const std::string& path, std::uint64_t start, std::uint64_t length,
                std::uint64_t count) {
  const int fd = open(path.c_str(), O_RDWR | O_CREAT, 0644);
  if (fd < 0) fail("open", path);
  for (std::uint64_t number = 1; number <= count; ++number, start += 2 * length) {
    struct flock range {};
    range.l_type = F_WRLCK;
    range.l_whence = SEEK_SET;
    range.l_start = static_cast<off_t>(start);
    range.l_len = static_cast<off_t>(length);
    if (fcntl(fd, F_SETLK, &range) == 0) continue;
    std::printf("%llu: %s\n", static_cast<unsigned long long>(number), std::strerror(errno));
    return 0;
  }
  std::puts("granted");
  return 0;
}

int change_space(const std::string& path, const std::string& what, std::uint64_t offset,
                 std::uint64_t bytes) {
  const File file(path, O_RDWR);
  const int mode = what == "punch" ? FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE : 0;
  const int failed =
      fallocate(file.fd(), mode, static_cast<off_t>(offset), static_cast<off_t>(bytes));
  std::puts(failed == 0 ? "done" : std::strerror(errno));
  return 0;
}

int seek(const std::string& path, const std::string& what, std::uint64_t offset) {
  const File file(path, O_RDONLY);
  const off_t at =
      lseek(file.fd(), static_cast<off_t>(offset), what == "data" ? SEEK_DATA : SEEK_HOLE);
  if (at < 0) {
    std::puts(std::strerror(errno));
  } else {
    std::printf("%lld\n", static_cast<long long>(at));
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() < 2) return usage();
  const std::string& command = words[0];
  const std::string& path = words[1];
  const auto number = [&](std::size_t at) { return std::strtoull(words[at].c_str(), nullptr, 10); };
  if (command == "attributes" && words.size() == 2) return attributes(path);
  if (command == "names" && words.size() == 2) return names(path);
  if (command == "append" && words.size() == 4) return append(path, words[2], number(3));
  if (command == "hold" && words.size() == 4) return hold(path, words[2], words[3] == "locked");
  if (command == "try" && words.size() == 2) return try_once(path);
  if (command == "wait" && words.size() == 2) return wait_for_lock(path);
  if (command == "turns" && words.size() == 3) return take_turns(path, number(2));
  if (command == "relay" && words.size() == 4) return relay(path, number(2), words[3]);
  if (command == "ranges" && words.size() == 5)
    return lock_ranges(path, number(2), number(3), number(4));
  if (command == "space" && words.size() == 5)
    return change_space(path, words[2], number(3), number(4));
  if (command == "space" && words.size() == 4) return seek(path, words[2], number(3));
  if (words.size() < 6) return usage();
  const std::size_t bytes = number(2);
  if (bytes < sizeof(BlockHead) || bytes > kBlockBytesMax || bytes % 8 != 0) return usage();
  if (command == "write" && words.size() == 7)
    return write_blocks(path, bytes, number(3), number(4), number(5), number(6));
  if (command == "map" && words.size() == 6)
    return map_twice(path, bytes, number(3), number(4), words[5]);
  if (command != "verify") return usage();
  if (words[5] == "mapped") return verify_mapped(path, bytes, number(3), number(4));
  return verify_read(path, bytes, number(3), number(4), words[5] == "direct" ? O_DIRECT : 0);
}
