// Locks of fcntl, OFD and flock, of the processes of one client.
#include <signal.h>
#include <sys/file.h>

#include <climits>

#include "tests/conformance/cases/files.h"
#include "tests/conformance/cases/lock_calls.h"
#include "tests/conformance/cases/subjects.h"

namespace conformance {
namespace {

constexpr const char* kFcntl = "POSIX fcntl() F_SETLK";
constexpr const char* kGetlk = "POSIX fcntl() F_GETLK";
constexpr const char* kOfd = "fcntl(2) open file description locks";
constexpr const char* kFlock = "flock(2)";
constexpr useconds_t kMomentUs = 200'000;

// What another process sees of a range.
void free_for_others(off_t start, off_t length) {
  in_child([=] {
    File file("f", O_RDWR);
    if (!lock(file, F_WRLCK, start, length)) {
      fail("locked at " + std::to_string(start) + "+" + std::to_string(length));
    }
  });
}
void locked_for_others(off_t start, off_t length) {
  in_child([=] {
    File file("f", O_RDWR);
    if (lock(file, F_WRLCK, start, length)) {
      fail("free at " + std::to_string(start) + "+" + std::to_string(length));
    }
  });
}

Cases fcntl_cases() {
  return {
      {"locks.write_excludes_write", kFcntl,
       [] {
         File file("f", O_CREAT | O_RDWR);
         TRUE(lock(file, F_WRLCK, 0, 10));
         locked_for_others(0, 10);
         locked_for_others(9, 1);
         free_for_others(10, 1);
       }},
      {"locks.read_admits_read", kFcntl,
       [] {
         File file("f", O_CREAT | O_RDWR);
         TRUE(lock(file, F_RDLCK, 0, 10));
         in_child([] {
           File other("f", O_RDWR);
           TRUE(lock(other, F_RDLCK, 0, 10));
         });
       }},
      {"locks.read_excludes_write", kFcntl,
       [] {
         File file("f", O_CREAT | O_RDWR);
         TRUE(lock(file, F_RDLCK, 0, 10));
         locked_for_others(5, 1);
       }},
      {"locks.write_excludes_read", kFcntl,
       [] {
         File file("f", O_CREAT | O_RDWR);
         TRUE(lock(file, F_WRLCK, 0, 10));
         in_child([] {
           File other("f", O_RDONLY);
           TRUE(!lock(other, F_RDLCK, 3, 2));
         });
       }},
      {"locks.length_0_is_to_the_end", kFcntl,
       [] {
         File file("f", O_CREAT | O_RDWR);
         TRUE(lock(file, F_WRLCK, 100, 0));
         free_for_others(0, 100);
         locked_for_others(1ll << 40, 1);
         locked_for_others(LLONG_MAX, 1);
       }},
      {"locks.last_byte", kFcntl,
       [] {
         File file("f", O_CREAT | O_RDWR);
         TRUE(lock(file, F_WRLCK, LLONG_MAX, 1));
         locked_for_others(LLONG_MAX, 1);
         free_for_others(0, LLONG_MAX);
       }},
      {"locks.negative_length_is_before_the_start", kFcntl,
       [] {
         File file("f", O_CREAT | O_RDWR);
         TRUE(lock(file, F_WRLCK, 100, -50));
         locked_for_others(50, 1);
         locked_for_others(99, 1);
         free_for_others(49, 1);
         free_for_others(100, 1);
       }},
      {"locks.from_the_end_of_the_file", kFcntl,
       [] {
         make("f", 0644, std::string(1000, 'x'));
         File file("f", O_RDWR);
         struct flock range {
           .l_type = F_WRLCK, .l_whence = SEEK_END, .l_start = -10, .l_len = 10
         };
         MUST(fcntl(file, F_SETLK, &range));
         locked_for_others(990, 10);
         free_for_others(0, 990);
       }},
      {"locks.start_before_0", "POSIX fcntl() EINVAL",
       [] {
         File file("f", O_CREAT | O_RDWR);
         struct flock range {
           .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = -1, .l_len = 1
         };
         REFUSED(EINVAL, fcntl(file, F_SETLK, &range));
       }},
      {"locks.behind_the_end_of_an_empty_file", kFcntl,
       [] {
         File file("f", O_CREAT | O_RDWR);
         TRUE(lock(file, F_WRLCK, 1'000'000, 10));
         locked_for_others(1'000'005, 1);
         EQUAL(0, stat_of("f").st_size);
       }},
      {"locks.upgrade", kFcntl,
       [] {
         File file("f", O_CREAT | O_RDWR);
         TRUE(lock(file, F_RDLCK, 0, 10));
         TRUE(lock(file, F_WRLCK, 0, 10));
         in_child([] {
           File other("f", O_RDWR);
           TRUE(!lock(other, F_RDLCK, 0, 10));
         });
       }},
      {"locks.downgrade", kFcntl,
       [] {
         File file("f", O_CREAT | O_RDWR);
         TRUE(lock(file, F_WRLCK, 0, 10));
         TRUE(lock(file, F_RDLCK, 0, 10));
         in_child([] {
           File other("f", O_RDWR);
           TRUE(lock(other, F_RDLCK, 0, 10));
           TRUE(!lock(other, F_WRLCK, 0, 10));
         });
       }},
      {"locks.refused_upgrade_keeps_the_read_lock", kFcntl,
       [] {
         File file("f", O_CREAT | O_RDWR);
         TRUE(lock(file, F_RDLCK, 0, 10));
         Other other("f");
         TRUE(other.lock(F_RDLCK, 0, 10));
         TRUE(!lock(file, F_WRLCK, 0, 10));
         TRUE(!other.lock(F_WRLCK, 0, 10));
       }},
      {"locks.upgrade_of_the_middle", kFcntl,
       [] {
         File file("f", O_CREAT | O_RDWR);
         TRUE(lock(file, F_RDLCK, 0, 30));
         TRUE(lock(file, F_WRLCK, 10, 10));
         in_child([] {
           File other("f", O_RDWR);
           TRUE(lock(other, F_RDLCK, 0, 10));
           TRUE(!lock(other, F_RDLCK, 10, 10));
           TRUE(lock(other, F_RDLCK, 20, 10));
         });
       }},
      {"locks.unlock_splits", kFcntl,
       [] {
         File file("f", O_CREAT | O_RDWR);
         TRUE(lock(file, F_WRLCK, 0, 30));
         TRUE(lock(file, F_UNLCK, 10, 10));
         locked_for_others(0, 10);
         free_for_others(10, 10);
         locked_for_others(20, 10);
       }},
      {"locks.unlock_of_the_beginning", kFcntl,
       [] {
         File file("f", O_CREAT | O_RDWR);
         TRUE(lock(file, F_WRLCK, 0, 30));
         TRUE(lock(file, F_UNLCK, 0, 10));
         free_for_others(0, 10);
         locked_for_others(10, 1);
       }},
      {"locks.unlock_of_the_end", kFcntl,
       [] {
         File file("f", O_CREAT | O_RDWR);
         TRUE(lock(file, F_WRLCK, 0, 30));
         TRUE(lock(file, F_UNLCK, 20, 0));
         locked_for_others(19, 1);
         free_for_others(20, 100);
       }},
      {"locks.neighbours_merge", kFcntl,
       [] {
         File file("f", O_CREAT | O_RDWR);
         TRUE(lock(file, F_WRLCK, 0, 10));
         TRUE(lock(file, F_WRLCK, 10, 10));
         const struct flock seen = seen_by_others("f", 0, 0);
         EQUAL(0, seen.l_start);
         EQUAL(20, seen.l_len);
       }},
      {"locks.overlapping_merge", kFcntl,
       [] {
         File file("f", O_CREAT | O_RDWR);
         TRUE(lock(file, F_WRLCK, 0, 15));
         TRUE(lock(file, F_WRLCK, 10, 20));
         TRUE(lock(file, F_UNLCK, 0, 30));
         free_for_others(0, 0);
       }},
      {"locks.unlock_of_what_is_not_locked", kFcntl,
       [] {
         File file("f", O_CREAT | O_RDWR);
         TRUE(lock(file, F_UNLCK, 0, 0));
       }},
      {"locks.getlk_of_a_free_range", kGetlk,
       [] {
         File file("f", O_CREAT | O_RDWR);
         TRUE(lock(file, F_WRLCK, 0, 10));
         EQUAL(F_UNLCK, seen_by_others("f", 10, 10).l_type);
       }},
      {"locks.getlk_tells_the_first", kGetlk,
       [] {
         File file("f", O_CREAT | O_RDWR);
         TRUE(lock(file, F_WRLCK, 20, 10));
         const struct flock seen = seen_by_others("f", 0, 0);
         EQUAL(F_WRLCK, seen.l_type);
         EQUAL(20, seen.l_start);
         EQUAL(10, seen.l_len);
       }},
      {"locks.getlk_tells_the_kind", kGetlk,
       [] {
         File file("f", O_CREAT | O_RDWR);
         TRUE(lock(file, F_RDLCK, 0, 10));
         EQUAL(F_RDLCK, seen_by_others("f", 0, 0).l_type);
       }},
      {"locks.getlk_does_not_see_ones_own", kGetlk,
       [] {
         File file("f", O_CREAT | O_RDWR);
         TRUE(lock(file, F_WRLCK, 0, 10));
         struct flock range {
           .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 0
         };
         MUST(fcntl(file, F_GETLK, &range));
         EQUAL(F_UNLCK, range.l_type);
       }},
      {"locks.close_of_any_descriptor_drops_them", "POSIX close()",
       [] {
         File file("f", O_CREAT | O_RDWR);
         TRUE(lock(file, F_WRLCK, 0, 10));
         { File again("f", O_RDONLY); }
         free_for_others(0, 10);
       }},
      {"locks.end_of_the_process_drops_them", "POSIX fcntl()",
       [] {
         make("f");
         in_child([] {
           File file("f", O_RDWR);
           TRUE(lock(file, F_WRLCK, 0, 10));
           _exit(0);
         });
         free_for_others(0, 10);
       }},
      {"locks.not_inherited_by_fork", "POSIX fork()",
       [] {
         File file("f", O_CREAT | O_RDWR);
         TRUE(lock(file, F_WRLCK, 0, 10));
         in_child([&] { TRUE(!lock(file, F_WRLCK, 0, 10)); });
       }},
      {"locks.write_lock_needs_a_writable_descriptor", "POSIX fcntl() EBADF",
       [] {
         make("f");
         File file("f", O_RDONLY);
         struct flock range {
           .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 1
         };
         REFUSED(EBADF, fcntl(file, F_SETLK, &range));
       }},
      {"locks.read_lock_needs_a_readable_descriptor", "POSIX fcntl() EBADF",
       [] {
         make("f");
         File file("f", O_WRONLY);
         struct flock range {
           .l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 1
         };
         REFUSED(EBADF, fcntl(file, F_SETLK, &range));
       }},
      {"locks.waiter_gets_it_after_the_unlock", "POSIX fcntl() F_SETLKW",
       [] {
         File file("f", O_CREAT | O_RDWR);
         TRUE(lock(file, F_WRLCK, 0, 10));
         Other other("f");
         other.begin_to_wait(F_WRLCK, 0, 10);
         TRUE(!other.has_it(kMomentUs));
         TRUE(lock(file, F_UNLCK, 0, 10));
         TRUE(other.has_it(35'000'000));  // a client of NFSv4.0 polls; one of NFSv3 after 30 s
         TRUE(!lock(file, F_WRLCK, 0, 10));
       }},
      {"locks.waiter_gets_it_when_the_holder_ends", "POSIX fcntl() F_SETLKW",
       [] {
         make("f");
         Other holder("f"), other("f");
         TRUE(holder.lock(F_WRLCK, 0, 0));
         other.begin_to_wait(F_WRLCK, 5, 1);
         TRUE(!other.has_it(kMomentUs));
         holder.end();
         TRUE(other.has_it(35'000'000));
       }},
      {"locks.waiter_of_a_part_only", "POSIX fcntl() F_SETLKW",
       [] {
         File file("f", O_CREAT | O_RDWR);
         TRUE(lock(file, F_WRLCK, 0, 100));
         Other other("f");
         other.begin_to_wait(F_WRLCK, 40, 10);
         TRUE(lock(file, F_UNLCK, 40, 10));
         TRUE(other.has_it(35'000'000));
         locked_for_others(0, 40);
       }},
      {"locks.waiting_ends_with_a_signal", "POSIX fcntl() EINTR",
       [] {
         File file("f", O_CREAT | O_RDWR);
         TRUE(lock(file, F_WRLCK, 0, 10));
         in_child([] {
           struct sigaction action {};
           action.sa_handler = [](int) {};
           MUST(sigaction(SIGUSR1, &action, nullptr));
           const pid_t waiter = getpid();
           const pid_t killer = MUST(fork());
           if (killer == 0) {
             usleep(kMomentUs);
             kill(waiter, SIGUSR1);
             _exit(0);
           }
           File other("f", O_RDWR);
           struct flock range {
             .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 1
           };
           REFUSED(EINTR, fcntl(other, F_SETLKW, &range));
         });
       }},
      {"locks.hundred_ranges", kFcntl,
       [] {
         File file("f", O_CREAT | O_RDWR);
         for (int at = 0; at < 100; ++at) TRUE(lock(file, F_WRLCK, at * 10, 5));
         locked_for_others(994, 1);
         free_for_others(995, 1);
         TRUE(lock(file, F_UNLCK, 0, 0));
         free_for_others(0, 0);
       }},
      {"locks.file_can_be_read_and_written_by_others", "POSIX fcntl(): advisory",
       [] {
         File file("f", O_CREAT | O_RDWR);
         TRUE(lock(file, F_WRLCK, 0, 0));
         in_child([] {
           File other("f", O_RDWR);
           put(other, "x", 0);
           MUST(fsync(other));
           EQUAL("x", content(other, 0, 1));
         });
       }},
      {"locks.of_an_unlinked_file", kFcntl,
       [] {
         File file("f", O_CREAT | O_RDWR);
         MUST(unlink("f"));
         TRUE(lock(file, F_WRLCK, 0, 10));
         TRUE(lock(file, F_UNLCK, 0, 10));
       }},
      {"locks.survive_rename", kFcntl,
       [] {
         File file("g", O_CREAT | O_RDWR);
         TRUE(lock(file, F_WRLCK, 0, 10));
         MUST(rename("g", "f"));
         locked_for_others(0, 10);
       }},
  };
}

Cases ofd_and_flock_cases() {
  return {
      {"locks.ofd_of_two_descriptions_exclude", kOfd,
       [] {
         File one("f", O_CREAT | O_RDWR), other("f", O_RDWR);
         TRUE(lock_ofd(one, F_WRLCK, 0, 10));
         TRUE(!lock_ofd(other, F_WRLCK, 5, 1));
         TRUE(lock_ofd(other, F_WRLCK, 10, 1));
       }},
      {"locks.ofd_stays_when_another_description_closes", kOfd,
       [] {
         File one("f", O_CREAT | O_RDWR);
         TRUE(lock_ofd(one, F_WRLCK, 0, 10));
         { File other("f", O_RDWR); }
         File other("f", O_RDWR);
         TRUE(!lock_ofd(other, F_WRLCK, 0, 10));
       }},
      {"locks.ofd_goes_with_its_last_descriptor", kOfd,
       [] {
         File other("f", O_CREAT | O_RDWR);
         {
           File one("f", O_RDWR);
           TRUE(lock_ofd(one, F_WRLCK, 0, 10));
         }
         TRUE(lock_ofd(other, F_WRLCK, 0, 10));
       }},
      {"locks.ofd_is_shared_with_a_child", kOfd,
       [] {
         File one("f", O_CREAT | O_RDWR);
         TRUE(lock_ofd(one, F_WRLCK, 0, 10));
         in_child([&] { TRUE(lock_ofd(one, F_WRLCK, 0, 10)); });
       }},
      {"locks.ofd_and_process_exclude_each_other", kOfd,
       [] {
         File one("f", O_CREAT | O_RDWR), other("f", O_RDWR);
         TRUE(lock_ofd(one, F_WRLCK, 0, 10));
         TRUE(!lock(other, F_WRLCK, 0, 10));
       }},
      {"locks.flock_excludes", kFlock,
       [] {
         File one("f", O_CREAT | O_RDWR), other("f", O_RDWR);
         MUST(flock(one, LOCK_EX));
         REFUSED(EWOULDBLOCK, flock(other, LOCK_EX | LOCK_NB));
         REFUSED(EWOULDBLOCK, flock(other, LOCK_SH | LOCK_NB));
         MUST(flock(one, LOCK_UN));
         MUST(flock(other, LOCK_EX | LOCK_NB));
       }},
      {"locks.flock_shared_admits_shared", kFlock,
       [] {
         File one("f", O_CREAT | O_RDWR), other("f", O_RDWR);
         MUST(flock(one, LOCK_SH));
         MUST(flock(other, LOCK_SH | LOCK_NB));
         REFUSED(EWOULDBLOCK, flock(other, LOCK_EX | LOCK_NB));
       }},
      {"locks.flock_goes_with_close", kFlock,
       [] {
         File other("f", O_CREAT | O_RDWR);
         {
           File one("f", O_RDWR);
           MUST(flock(one, LOCK_EX));
         }
         MUST(flock(other, LOCK_EX | LOCK_NB));
       }},
      {"locks.flock_downgrade", kFlock,
       [] {
         File one("f", O_CREAT | O_RDWR), other("f", O_RDWR);
         MUST(flock(one, LOCK_EX));
         MUST(flock(one, LOCK_SH));
         MUST(flock(other, LOCK_SH | LOCK_NB));
       }},
      {"locks.flock_is_a_lock_of_the_whole_file", "flock(2), NFS details",
       [] {
         File one("f", O_CREAT | O_RDWR);
         MUST(flock(one, LOCK_EX));
         locked_for_others(1'000, 1);
       }},
  };
}

}  // namespace

Cases lock_cases() {
  Cases cases = fcntl_cases();
  for (Case& one : ofd_and_flock_cases()) cases.push_back(std::move(one));
  return cases;
}

}  // namespace conformance
