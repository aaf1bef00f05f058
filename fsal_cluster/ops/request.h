// The request that a thread works for. Strict reads of a request must show everything that was
// acknowledged before it arrived (INV-4): so its first barrier is good for all of them.
//
// Thread class: state of the calling thread. An asynchronous request that continues on another
// thread takes a barrier there again.
#pragma once

#include <cstdint>

namespace symnas::fs {

struct RequestId {
  const void* request = nullptr;  // nullptr: no request; no barrier is remembered
  std::int64_t arrived_ns = 0;    // distinguishes requests that lie at one address
  friend bool operator==(const RequestId&, const RequestId&) = default;
};

// From now on this thread works for request `id`. Cheap when it did so already.
void work_for(RequestId id);
// Whether a barrier of `session` has passed since the request came to this thread.
bool has_passed_barrier(const void* session);
void note_barrier(const void* session);

}  // namespace symnas::fs
