#include "fsal_cluster/plugin/door.h"

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "fsal_cluster/plugin/ganesha.h"
#include "fsal_cluster/plugin/limits.h"
#include "fsal_cluster/plugin/milestones.h"
#include "fsal_cluster/plugin/names.h"
#include "fsal_cluster/plugin/send_queues.h"
#include "fsal_cluster/state/gate.h"

namespace symnas::plugin {
namespace {

using Clock = std::chrono::steady_clock;

std::atomic<bool> shut{false};
std::atomic<std::uint64_t> kept{0};

// Called in the thread that has decoded the request. The counters that shut_door() reads count a
// request before it comes here: so shut_door() waits for a request that saw the door open. A
// request that is kept is never resumed.
bool admit(svc_req* request) {
  fs::Gate::forget_passed();
  if (!shut.load()) {
    // It comes here again.
    if (request->rq_msg.cb_proc != 0 && !names_are_known(request)) return false;
    if (request->rq_msg.cb_proc != 0) note_request();
    return true;
  }
  kept.fetch_add(1);
  return false;
}

// The same for a request whose caller is known by now; nothing has been done for it yet.
bool admit_caller(svc_req* request, const char* principal) {
  fs::Gate::forget_passed();  // of another request that this thread has served
  if (!shut.load()) return principal_is_known(request, principal);
  kept.fetch_add(1);
  return false;
}

// The order of the loads matters: the counts of done and kept requests only grow, so the result is
// never too small.
std::uint64_t begun() {
  const std::uint64_t done = __atomic_load_n(&nfs_health_.dequeued_reqs, __ATOMIC_SEQ_CST);
  const std::uint64_t unbegun = kept.load();
  return __atomic_load_n(&nfs_health_.enqueued_reqs, __ATOMIC_SEQ_CST) - done - unbegun;
}

// Replies on their way to the clients, in user space and in the sockets.
struct Unsent {
  std::uint64_t replies = 0;
  std::uint64_t bytes = 0;
  friend bool operator==(const Unsent&, const Unsent&) = default;
};

Unsent unsent(const std::vector<ClientSocket>& sockets) {
  return {__atomic_load_n(&svc_unsent, __ATOMIC_SEQ_CST), unacknowledged_bytes(sockets)};
}

std::int64_t ms_since(Clock::time_point start) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start).count();
}

void pause() { std::this_thread::sleep_for(std::chrono::microseconds(kDrainPollUs)); }

// Waits until everything has arrived, or nothing has moved for too long. Replies of transports that
// died stay counted; once the sockets are empty, all other replies need only a moment.
void wait_for_clients(const std::vector<ClientSocket>& sockets) {
  Unsent last = unsent(sockets);
  Clock::time_point moved = Clock::now();
  bool asked = false;
  for (;;) {
    const Unsent now = unsent(sockets);
    if (now == Unsent{}) return;
    if (now.replies == 0 && !std::exchange(asked, true)) ask_for_acknowledgements(sockets);
    if (now != last) moved = Clock::now();
    last = now;
    if (ms_since(moved) >= (now.bytes == 0 ? kLostRepliesMs : kRepliesMs)) return;
    pause();
  }
}

}  // namespace

void guard_door() {
  nfs_before_request = admit;
  nfs_after_authentication = admit_caller;
}

Result<std::int64_t> shut_door(std::int64_t timeout_ms) {
  const Clock::time_point start = Clock::now();
  shut.store(true);
  resume_unnamed();  // they are kept now
  while (begun() != 0) {
    if (ms_since(start) >= timeout_ms) {
      return fail(ErrorCode::kUnavailable,
                  fmt::format("{} requests have not ended after {} ms", begun(), timeout_ms));
    }
    pause();
  }
  return ms_since(start);
}

Delivered deliver_replies() {
  const Clock::time_point start = Clock::now();
  Delivered delivered;
  const std::vector<ClientSocket> sockets = client_sockets(kNfsPort);
  wait_for_clients(without_silent(sockets, kSilentAfterRetransmits));
  if (const std::uint64_t bytes = unacknowledged_bytes(sockets); bytes != 0) {
    delivered.unsent = fmt::format("{} bytes of replies were not acknowledged: {}", bytes,
                                   describe_outstanding(sockets));
  }
  delivered.replies_ms = ms_since(start);
  delivered.kept = kept.load();
  delivered.connections = describe_connections(sockets);
  return delivered;
}

}  // namespace symnas::plugin
