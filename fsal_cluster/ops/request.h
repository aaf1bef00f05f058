// The request that a thread works for. What it reads strictly must show all that was acknowledged
// before it arrived (INV-4): its first barrier is good for everything it reads.
//
// Thread class: state of the calling thread. An asynchronous request that goes on on another thread
// takes a barrier there again.
#pragma once

#include <cstdint>

namespace symnas::fs {

struct RequestId {
  const void* request = nullptr;  // nullptr: none; nothing is remembered
  std::int64_t arrived_ns = 0;    // tells requests apart that lie at one address
  friend bool operator==(const RequestId&, const RequestId&) = default;
};

// From now on this thread works for that one. Cheap when it did already.
void work_for(RequestId id);
// Whether a barrier of `session` has passed since the request came to this thread.
bool has_passed_barrier(const void* session);
void note_barrier(const void* session);

}  // namespace symnas::fs
