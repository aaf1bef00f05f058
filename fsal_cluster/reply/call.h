// Call: identifies a request that its client may send again to the next instance. CallScope: the
// call that this thread works for.
//
// Thread class: Call is a value; CallScope is state of the thread that makes it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace symnas::fs {

// One operation of one request. Two requests of one client have equal calls only if the client
// sends the same bytes again under the same xid, or reuses that xid by chance.
struct Call {
  std::string client;           // its address without the port: 16 bytes, IPv4 mapped (RFC 4291)
  std::uint32_t xid = 0;        // RFC 5531 section 9
  std::uint64_t checksum = 0;   // of procedure, caller and arguments
  std::uint32_t operation = 0;  // NFSv4.0: its place in the COMPOUND; NFSv3: 0
  friend bool operator==(const Call&, const Call&) = default;
};

// A call and the place where its answer is kept, once it has one.
struct CallInProgress {
  Call call;
  std::optional<std::uint32_t> place;
};

// While a CallScope lives, every change by its thread is made for that call. REQUIRES: no other
// CallScope lives on this thread.
class CallScope {
 public:
  explicit CallScope(std::optional<Call> call);
  ~CallScope();
  CallScope(const CallScope&) = delete;
  CallScope& operator=(const CallScope&) = delete;

 private:
  std::optional<CallInProgress> call_;
};

// The call of this thread; nullptr: no client will ask again for what the thread does.
CallInProgress* call_in_progress();

}  // namespace symnas::fs
