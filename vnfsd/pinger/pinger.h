// Pinger: a client of one VIP that only asks whether NFS answers (NULL of version 3: RFC 1813,
// 3.3.0), again and again. Thread class: thread-safe; works on a thread of its own, in the network
// namespace of the thread that makes it.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>

#include "common/base/thread_annotations.h"
#include "vnfsd/network/net_address.h"
#include "vnfsd/pinger/answer_times.h"

namespace symnas::vnfsd::pinger {

class Pinger {
 public:
  explicit Pinger(const IpAddress& vip);
  ~Pinger();
  Pinger(const Pinger&) = delete;
  Pinger& operator=(const Pinger&) = delete;

  struct Seen {
    AnswerTimes answers;
    std::uint64_t connections = 0;  // made, the first one included
  };
  // Until now; while nothing is answered, the gap that lasts counts.
  Seen seen() const;

 private:
  void run();
  bool ping(int fd, std::uint32_t xid);

  const IpAddress vip_;
  mutable Mutex mutex_;  // leaf
  Seen seen_ GUARDED_BY(mutex_);
  std::atomic<bool> ending_{false};
  std::thread thread_;
};

}  // namespace symnas::vnfsd::pinger
