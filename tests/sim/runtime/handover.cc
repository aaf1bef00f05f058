#include "tests/sim/runtime/handover.h"

#include <linux/futex.h>
#include <sys/auxv.h>
#include <sys/syscall.h>

#include <cstddef>

#include "tests/sim/runtime/libc.h"

#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define SYMNAS_SIM_TAKES_OVER 1
#endif

#ifdef SYMNAS_SIM_TAKES_OVER
extern "C" {
// Leaves `mine` at this point, and continues `next` where that was left.
void symnas_sim_take_over(symnas::sim::Turn* mine, symnas::sim::Turn* next);
// Leaves `mine` at this point, sets its flag and lets the OS thread sleep for good, without
// touching the stack it has left.
void symnas_sim_leave(symnas::sim::Turn* mine);
}
// Saves the registers that a function must preserve by the System V ABI (AMD64 supplement, 3.2.1).
asm(R"(
  .macro save_at_rdi
  push %rbp
  push %rbx
  push %r12
  push %r13
  push %r14
  push %r15
  rdfsbase %rax
  mov %rax, 8(%rdi)
  mov %rsp, 0(%rdi)
  .endm

  .text
  .globl symnas_sim_take_over
  .type symnas_sim_take_over, @function
symnas_sim_take_over:
  save_at_rdi
  mov 8(%rsi), %rax
  wrfsbase %rax
  mov 0(%rsi), %rsp
  pop %r15
  pop %r14
  pop %r13
  pop %r12
  pop %rbx
  pop %rbp
  ret
  .size symnas_sim_take_over, .-symnas_sim_take_over

  .globl symnas_sim_leave
  .type symnas_sim_leave, @function
symnas_sim_leave:
  save_at_rdi
  movl $1, 16(%rdi)
  lea 16(%rdi), %rdi
  mov $129, %esi   # FUTEX_WAKE_PRIVATE
  mov $1, %edx
  mov $202, %eax   # futex(2)
  syscall
1:
  mov $34, %eax    # pause(2)
  syscall
  jmp 1b
  .size symnas_sim_leave, .-symnas_sim_leave
)");
#endif

namespace symnas::sim {

namespace {

static_assert(offsetof(Turn, stack) == 0 && offsetof(Turn, thread_storage) == 8 &&
              offsetof(Turn, flag) == 16);

void wait_for_flag(Turn& turn) {
  while (turn.flag.load(std::memory_order_acquire) == 0) {
    libc::raw_syscall(SYS_futex, reinterpret_cast<long>(&turn.flag), FUTEX_WAIT_PRIVATE, 0, 0);
  }
}

#ifdef SYMNAS_SIM_TAKES_OVER
constexpr unsigned long kFsgsbase = 1UL << 1;  // HWCAP2_FSGSBASE, asm/hwcap2.h
const bool takes_over = (::getauxval(AT_HWCAP2) & kFsgsbase) != 0;
#else
constexpr bool takes_over = false;
#endif

}  // namespace

void begin(Turn& mine) {
#ifdef SYMNAS_SIM_TAKES_OVER
  if (takes_over) {
    symnas_sim_leave(&mine);
    return;
  }
#endif
  wait_for_flag(mine);
  mine.flag.store(0, std::memory_order_relaxed);
}

void wait_for_begin(Turn& created) {
  if (takes_over) wait_for_flag(created);
}

void hand_over(Turn& mine, Turn& next) {
#ifdef SYMNAS_SIM_TAKES_OVER
  if (takes_over) {
    symnas_sim_take_over(&mine, &next);
    return;
  }
#endif
  next.flag.store(1, std::memory_order_release);
  libc::raw_syscall(SYS_futex, reinterpret_cast<long>(&next.flag), FUTEX_WAKE_PRIVATE, 1, 0);
  wait_for_flag(mine);
  mine.flag.store(0, std::memory_order_relaxed);
}

}  // namespace symnas::sim
