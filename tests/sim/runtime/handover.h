// Handover: passes the turn from one carrier to another.
//
// On x86-64 with FSGSBASE one OS thread takes over the stack and thread-local storage of every
// carrier, whose own OS thread sleeps for good: a turn costs a few instructions instead of two
// system calls and a context switch, which were two thirds of a run. Elsewhere, and under
// sanitizers (they keep track of stacks), each carrier runs on its own OS thread and waits for its
// turn on a futex.
//
// Thread class: called by the carrier that has the turn; begin() by a new one.
#pragma once

#include <atomic>

namespace symnas::sim {

struct Turn {
  void* stack = nullptr;           // of a waiting carrier that was taken over
  void* thread_storage = nullptr;  // FS base
  std::atomic<int> flag{0};        // 1: can be taken over; on an OS thread of its own: has the turn
};

// To be called first by a new carrier: returns when it gets its first turn.
void begin(Turn& mine);
// To be called after the OS thread of `created` was made: then hand_over() may give it the turn.
void wait_for_begin(Turn& created);
// Passes the turn on; returns when `mine` gets it again.
void hand_over(Turn& mine, Turn& next);

}  // namespace symnas::sim
