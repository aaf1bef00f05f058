// Waiters: who waits for a lock in ganesha's lists is recorded (FileLocks), and waits on when an
// instance of the VNFS begins. An NLM client waits for a call of the server: so its wait comes back
// into the lists, in its old place, as soon as the client can be called. An NFSv4.1 client is told
// to ask again when it has reclaimed; several times, because Linux takes no call before it has the
// answer to RECLAIM_COMPLETE.
//
// Thread class: thread-safe.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "common/base/thread_annotations.h"
#include "fsal_cluster/plugin/ganesha.h"
#include "fsal_cluster/state/file_locks.h"

namespace symnas::fs {
class Mount;
}

namespace symnas::plugin {

class Waiters {
 public:
  // Those of this process, whose threads end with it. Made at first use, on a thread in the network
  // namespace of the VNFS, when ganesha has read its configuration.
  static Waiters& get();
  Waiters(const Waiters&) = delete;
  Waiters& operator=(const Waiters&) = delete;

  // Brings back those of that mount, which outlives this object; and has ganesha look at once when
  // it is the turn of somebody who waits there. Does not wait.
  void add(fs::Mount& mount);
  // The NFSv4.1 client has reclaimed: it is to ask again for what it waited for. Does not wait.
  void client_is_ready(const nfs_client_id_t& client);

 private:
  // `lease_s`: of NFSv4. After two leases nobody comes back for what is left.
  explicit Waiters(std::int64_t lease_s);
  struct Mounted {
    fs::Mount* mount;
    std::int64_t since_ns;
  };
  struct Ready {
    clientid4 id;
    std::string client;  // LockOwner::client
    std::size_t calls;   // made so far
    std::int64_t due_ns;
  };
  [[noreturn]] void run();
  // False: that was the last call.
  static bool call(const std::vector<Mounted>& mounts, Ready& ready);
  void pause(std::chrono::milliseconds pause) REQUIRES(mutex_);
  // False: somebody may yet come.
  bool bring_back(const Mounted& mounted) const;

  const std::int64_t patience_ns_;
  Mutex mutex_;
  CondVar wake_;
  std::vector<Mounted> mounts_ GUARDED_BY(mutex_);  // where somebody may yet come
  std::vector<Ready> ready_ GUARDED_BY(mutex_);
  bool called_ GUARDED_BY(mutex_) = false;  // somebody's turn has come
  std::thread thread_;
};

// Has ganesha tell of everybody who begins to wait for a lock.
void record_waits();

}  // namespace symnas::plugin
