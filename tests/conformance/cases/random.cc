// Random operations on a file, compared with a model in memory (as fsx does); the seed is printed.
#include <linux/falloc.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <random>

#include "tests/conformance/cases/files.h"
#include "tests/conformance/cases/subjects.h"

namespace conformance {
namespace {

constexpr const char* kReference = "POSIX read(), write(), ftruncate(), mmap()";
constexpr std::size_t kFileMax = 600'000;  // over several stripes of 256 KiB
constexpr std::size_t kOperationMax = 70'000;
constexpr std::size_t kPage = 4096;
constexpr int kOperations = 300;
constexpr int kOperationsLong = 1'000;
constexpr std::size_t kToldOperations = 6;

enum Kind {
  kWrite,
  kRead,
  kTruncate,
  kReopen,
  kSync,
  kMapWrite,
  kMapRead,
  kDirectWrite,
  kDirectRead,
  kPunch,
  kAllocate,
  kElsewhere
};
constexpr const char* kKindNames[] = {
    "write",    "read",         "truncate",    "reopen", "fsync",    "map_write",
    "map_read", "direct_write", "direct_read", "punch",  "allocate", "read_at_the_other_client"};

class Exerciser {
 public:
  explicit Exerciser(std::vector<Kind> kinds) : kinds_(std::move(kinds)), random_(settings().seed) {
    TRUE(posix_memalign(reinterpret_cast<void**>(&block_), kPage, kFileMax) == 0);
    reopen();
  }
  ~Exerciser() {
    std::free(block_);
    close(fd_);
  }
  Exerciser(const Exerciser&) = delete;
  Exerciser& operator=(const Exerciser&) = delete;

  void run() {
    const int operations = settings().long_form ? kOperationsLong : kOperations;
    for (int turn = 0; turn < operations; ++turn) step();
    kind_ = kReopen;
    reopen();
    compare(content("f"), 0, model_.size());
  }

 private:
  std::size_t below(std::size_t bound) { return bound == 0 ? 0 : random_() % bound; }

  void step() {
    kind_ = kinds_[below(kinds_.size())];
    at_ = below(kFileMax - kOperationMax);
    length_ = 1 + below(kOperationMax);
    if (below(3) == 0) {  // edges are where mistakes are
      at_ = at_ / kPage * kPage;
      if (below(2) == 0) length_ = (length_ + kPage - 1) / kPage * kPage;
    }
    length_ = std::min(length_, kFileMax - at_);
    told_.push_back(std::string(kKindNames[kind_]) + " " + std::to_string(at_) + "+" +
                    std::to_string(length_));
    if (told_.size() > kToldOperations) told_.erase(told_.begin());
    carry_out();
    size_is_right();
  }

  void carry_out() {
    switch (kind_) {
      case kWrite: write_with(fd_, model_write()); break;
      case kRead: compare(content(fd_, offset(), length_), at_, length_); break;
      case kTruncate: truncate_to(at_); break;
      case kReopen: reopen(); break;
      case kSync: need(fsync(fd_) == 0); break;
      case kMapWrite: map_write(); break;
      case kMapRead: map_read(); break;
      case kDirectWrite: direct_write(); break;
      case kDirectRead: direct_read(); break;
      case kPunch: punch(); break;
      case kAllocate: allocate(); break;
      case kElsewhere: read_elsewhere(); break;
    }
  }

  off_t offset() const { return static_cast<off_t>(at_); }

  [[noreturn]] void different(const std::string& what) {
    std::string last;
    for (const std::string& one : told_) last += ", " + one;
    fail("seed " + std::to_string(settings().seed) + ": " + what + " after" + last.substr(1));
  }
  void need(bool good) {
    if (!good) different(errno_name(errno));
  }

  std::string model_write() {
    const std::string bytes = pattern(length_, static_cast<unsigned>(random_()));
    if (model_.size() < at_ + length_) model_.resize(at_ + length_, '\0');
    model_.replace(at_, length_, bytes);
    return bytes;
  }

  void write_with(int fd, const std::string& bytes) {
    std::size_t done = 0;
    while (done < bytes.size()) {
      const ssize_t n =
          pwrite(fd, bytes.data() + done, bytes.size() - done, offset() + static_cast<off_t>(done));
      need(n > 0);
      done += static_cast<std::size_t>(n);
    }
  }

  void compare(const std::string& seen, std::size_t from, std::size_t length) {
    const std::string wanted = from < model_.size() ? model_.substr(from, length) : "";
    if (seen.size() != wanted.size()) {
      different(std::to_string(seen.size()) + " bytes instead of " + std::to_string(wanted.size()));
    }
    const auto unlike = std::mismatch(seen.begin(), seen.end(), wanted.begin()).first;
    if (unlike != seen.end()) {
      const auto place = static_cast<std::size_t>(unlike - seen.begin());
      different("byte " + std::to_string(from + place) + " is " + hex(seen[place]) +
                " instead of " + hex(wanted[place]));
    }
  }
  static std::string hex(char byte) {
    char text[5];
    std::snprintf(text, sizeof text, "0x%02x", static_cast<unsigned char>(byte));
    return text;
  }

  void size_is_right() {
    struct stat found;
    need(fstat(fd_, &found) == 0);
    if (found.st_size != static_cast<off_t>(model_.size())) {
      different("size " + std::to_string(found.st_size) + " instead of " +
                std::to_string(model_.size()));
    }
  }

  void truncate_to(std::size_t size) {
    need(ftruncate(fd_, static_cast<off_t>(size)) == 0);
    model_.resize(size, '\0');
  }

  void reopen() {
    if (fd_ >= 0) need(close(fd_) == 0);
    fd_ = open("f", O_CREAT | O_RDWR, 0644);
    need(fd_ >= 0);
  }

  // A mapping of the part that is inside the file.
  template <class Body>
  void mapped(int protection, Body body) {
    if (at_ >= model_.size()) return;
    length_ = std::min(length_, model_.size() - at_);
    const std::size_t begin = at_ / kPage * kPage;
    const std::size_t whole = at_ + length_ - begin;
    void* const memory =
        mmap(nullptr, whole, protection, MAP_SHARED, fd_, static_cast<off_t>(begin));
    need(memory != MAP_FAILED);
    body(static_cast<char*>(memory) + (at_ - begin));
    if (protection & PROT_WRITE) need(msync(memory, whole, MS_SYNC) == 0);
    munmap(memory, whole);
  }
  void map_write() {
    mapped(PROT_READ | PROT_WRITE, [&](char* bytes) {
      const std::string fresh_bytes = model_write();
      std::memcpy(bytes, fresh_bytes.data(), length_);
    });
  }
  void map_read() {
    mapped(PROT_READ,
           [&](const char* bytes) { compare(std::string(bytes, length_), at_, length_); });
  }

  void direct_write() {
    const int fd = open("f", O_WRONLY | O_DIRECT);
    need(fd >= 0);
    const std::string bytes = model_write();
    std::memcpy(block_, bytes.data(), length_);
    need(pwrite(fd, block_, length_, offset()) == static_cast<ssize_t>(length_));
    need(close(fd) == 0);
  }
  void direct_read() {
    const int fd = open("f", O_RDONLY | O_DIRECT);
    need(fd >= 0);
    const ssize_t n = pread(fd, block_, length_, offset());
    need(n >= 0);
    compare(std::string(block_, static_cast<std::size_t>(n)), at_, length_);
    need(close(fd) == 0);
  }

  void punch() {
    need(fallocate(fd_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset(),
                   static_cast<off_t>(length_)) == 0);
    if (at_ >= model_.size()) return;
    const std::size_t inside = std::min(length_, model_.size() - at_);
    model_.replace(at_, inside, inside, '\0');
  }
  void allocate() {
    need(fallocate(fd_, 0, offset(), static_cast<off_t>(length_)) == 0);
    if (model_.size() < at_ + length_) model_.resize(at_ + length_, '\0');
  }

  void read_elsewhere() {
    need(fsync(fd_) == 0);
    File other(there("f"), O_RDONLY);
    compare(content(other, offset(), length_), at_, length_);
  }

  const std::vector<Kind> kinds_;
  std::mt19937_64 random_;
  std::string model_;
  int fd_ = -1;
  char* block_ = nullptr;
  Kind kind_ = kWrite;
  std::size_t at_ = 0;
  std::size_t length_ = 0;
  std::vector<std::string> told_;
};

Case random(const std::string& name, std::vector<Kind> kinds, unsigned versions = kAll) {
  return {"random." + name, kReference, [kinds] { Exerciser(kinds).run(); }, versions};
}

}  // namespace

Cases random_cases() {
  return {
      random("cached", {kWrite, kRead, kTruncate, kReopen, kSync}),
      random("mapped", {kWrite, kRead, kTruncate, kReopen, kMapWrite, kMapRead}),
      random("direct", {kDirectWrite, kDirectRead, kTruncate}),
      random("cached_and_direct", {kWrite, kRead, kTruncate, kSync, kDirectWrite, kDirectRead}),
      random("mapped_and_direct",
             {kWrite, kRead, kTruncate, kReopen, kMapWrite, kMapRead, kDirectWrite, kDirectRead}),
      random("holes", {kWrite, kRead, kTruncate, kReopen, kPunch, kAllocate}, kV42),
      random("everything",
             {kWrite, kRead, kTruncate, kReopen, kSync, kMapWrite, kMapRead, kDirectWrite,
              kDirectRead, kPunch, kAllocate},
             kV42),
      random("read_at_the_other_client", {kWrite, kTruncate, kReopen, kElsewhere}),
  };
}

}  // namespace conformance
