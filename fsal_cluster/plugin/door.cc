#include "fsal_cluster/plugin/door.h"

#include <atomic>
#include <chrono>
#include <fstream>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "fsal_cluster/plugin/ganesha.h"
#include "fsal_cluster/plugin/limits.h"
#include "fsal_cluster/plugin/send_queues.h"

namespace symnas::plugin {
namespace {

using Clock = std::chrono::steady_clock;

struct Door {
  std::atomic<bool> shut{false};
  std::mutex mutex;
  std::vector<svc_req*> kept;            // guarded by mutex
  std::atomic<std::uint64_t> n_kept{0};  // of them; read without the mutex
};

Door& door() {
  static Door* const instance = new Door;  // requests may pass it to the last moment
  return *instance;
}

// In the thread that has decoded the request. The counters of shut_door() count a request before it
// comes here: one that saw the door open is waited for.
bool admit(svc_req* request) {
  Door& d = door();
  if (!d.shut.load()) return true;
  const std::scoped_lock lock(d.mutex);
  if (!d.shut.load()) return true;
  d.kept.push_back(request);
  d.n_kept.fetch_add(1);
  return false;
}

// The order of the loads matters: what is done and kept only grows, so the sum is never too large.
std::uint64_t begun() {
  const std::uint64_t done = __atomic_load_n(&nfs_health_.dequeued_reqs, __ATOMIC_SEQ_CST);
  const std::uint64_t kept = door().n_kept.load();
  return __atomic_load_n(&nfs_health_.enqueued_reqs, __ATOMIC_SEQ_CST) - done - kept;
}

bool all_sent() {
  if (__atomic_load_n(&svc_unsent, __ATOMIC_SEQ_CST) != 0) return false;
  for (const char* path : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    if (unacknowledged_bytes(text.str(), kNfsPort) != 0) return false;
  }
  return true;
}

std::int64_t ms_since(Clock::time_point start) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start).count();
}

template <class Condition>
bool poll_until(const Condition& holds, Clock::time_point start, std::int64_t timeout_ms) {
  while (!holds()) {
    if (ms_since(start) >= timeout_ms) return false;
    std::this_thread::sleep_for(std::chrono::microseconds(kDrainPollUs));
  }
  return true;
}

}  // namespace

void guard_door() { nfs_before_request = admit; }

Result<Drained> shut_door(std::int64_t timeout_ms) {
  const Clock::time_point start = Clock::now();
  door().shut.store(true);
  Drained drained;
  if (!poll_until([] { return begun() == 0; }, start, timeout_ms)) {
    return fail(ErrorCode::kUnavailable,
                fmt::format("{} requests have not ended after {} ms", begun(), timeout_ms));
  }
  drained.requests_ms = ms_since(start);
  const Clock::time_point ended = Clock::now();
  (void)poll_until(all_sent, ended, kRepliesMs);
  drained.replies_ms = ms_since(ended);
  drained.kept = door().n_kept.load();
  return drained;
}

void open_door() {
  Door& d = door();
  std::vector<svc_req*> kept;
  {
    const std::scoped_lock lock(d.mutex);
    d.shut.store(false);
    kept.swap(d.kept);
    d.n_kept.store(0);
  }
  for (svc_req* request : kept) svc_resume(request);
}

}  // namespace symnas::plugin
