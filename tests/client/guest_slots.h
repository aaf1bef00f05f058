// Slots: the blocks of a file that count their exclusive holders, read and written with O_DIRECT.
//
// The arbiter knows how many holders a slot has had, so a lost or an old write is noticed as well.
// A lock covers whole slots: two owners never write the same block.
// Thread class: confined to one process.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>

#include "guest_arbiter.h"

namespace symnas::guest {

inline constexpr std::size_t kSlotBytes = 4096;
inline constexpr int kOpenTries = 20;
inline constexpr useconds_t kOpenAgainUs = 500'000;

// A lock of the slots from `first` to before `end`. to_the_end: to the end of the file.
inline struct flock range(short type, int first, int end, bool to_the_end) {
  struct flock wanted {};
  wanted.l_type = type;
  wanted.l_whence = SEEK_SET;
  wanted.l_start = static_cast<off_t>(first) * kSlotBytes;
  wanted.l_len = to_the_end ? 0 : static_cast<off_t>(end - first) * kSlotBytes;
  return wanted;
}

class Slots {
 public:
  explicit Slots(const Arbiter& arbiter) : arbiter_(&arbiter) {
    void* memory = nullptr;
    if (posix_memalign(&memory, kSlotBytes, kSlotBytes) != 0) arbiter_->fail("no memory");
    block_ = static_cast<char*>(memory);
  }
  ~Slots() { std::free(block_); }
  Slots(const Slots&) = delete;
  Slots& operator=(const Slots&) = delete;

  // The open may happen while the server is down: the mount is hard, so it waits. Whoever comes
  // first makes the file.
  int open_file(const std::string& path) const {
    for (int attempt = 0;; ++attempt) {
      const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_DIRECT | O_CLOEXEC, 0644);
      if (fd >= 0) return fd;
      if (attempt == kOpenTries) arbiter_->fail("open " + path);
      usleep(kOpenAgainUs);
    }
  }

  std::uint64_t count_in(int fd, int slot) const {
    std::memset(block_, 0, kSlotBytes);
    if (pread(fd, block_, kSlotBytes, static_cast<off_t>(slot) * kSlotBytes) < 0)
      arbiter_->lost("read under a lock");
    std::uint64_t count = 0;
    std::memcpy(&count, block_, sizeof count);
    return count;
  }

  void write_count(int fd, int slot, std::uint64_t count) const {
    std::memset(block_, 0, kSlotBytes);
    std::memcpy(block_, &count, sizeof count);
    const off_t at = static_cast<off_t>(slot) * kSlotBytes;
    if (pwrite(fd, block_, kSlotBytes, at) != static_cast<ssize_t>(kSlotBytes))
      arbiter_->lost("write under a lock");
  }

  // Ends the process when the slot has another content.
  void expect(int fd, int slot, std::uint64_t count) const {
    const std::uint64_t seen = count_in(fd, slot);
    if (seen == count) return;
    arbiter_->tell("corrupt slot " + std::to_string(slot) + " says " + std::to_string(seen) +
                   " instead of " + std::to_string(count));
  }

  // Reports that the slots are locked, and checks the first of them; returns its content from now
  // on. An exclusive holder counts itself.
  std::uint64_t enter(int fd, const std::string& name, int first, int end, bool shared) const {
    const std::string what = name + " " + std::to_string(first) + " " + std::to_string(end);
    const std::string said = arbiter_->tell("enter " + what + (shared ? " shared" : " exclusive"));
    std::uint64_t before = std::strtoull(said.c_str(), nullptr, 10);
    if (said == "?") {  // the last one could not say whether it had counted itself
      before = count_in(fd, first);
      arbiter_->tell("says " + name + " " + std::to_string(first) + " " +
                     std::to_string(shared ? before : before + 1));
    } else {
      expect(fd, first, before);
    }
    if (shared) return before;
    write_count(fd, first, before + 1);
    return before + 1;
  }

  // Enters, does the work, checks the first slot and leaves. False: this kernel has given the lock
  // up. Linux recovers an open once more that was under way while its owner was recovered, and
  // takes NFSv4.0 locks under it for lost (_nfs4_open_and_get_state, nfs4_lock_expired;
  // recover_lost_locks is off). Processes of one mount that open the same file are one owner.
  bool stay_in(int fd, const std::string& name, int first, int end, bool shared,
               const std::function<void()>& work) const {
    bool kept = true;
    try {
      const std::uint64_t count = enter(fd, name, first, end, shared);
      work();
      expect(fd, first, count);
    } catch (const GivenUp&) {
      kept = false;
    }
    arbiter_->tell("leave");
    return kept;
  }

 private:
  const Arbiter* arbiter_;
  char* block_ = nullptr;
};

}  // namespace symnas::guest
