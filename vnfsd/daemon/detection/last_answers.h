// LastAnswers: decides whether the VIPs of a head that is not heard count as dead. Pure;
// thread-compatible.
//
// A head that has answered since its probes stopped, or whose kernel has at least taken a
// connection, is alive, and only its agent is away. A question that such a head leaves unanswered
// may be a lost packet, a pause, or a processor with too much to do: only several in a row count.
#pragma once

#include <map>
#include <string>

#include "vnfsd/probe/canary.h"

namespace symnas::vnfsd::daemon {

class LastAnswers {
 public:
  enum class Liveness {
    kLives,  // as far as is known: the head is to be asked again
    kDead,
  };
  // The VIPs of the head were asked and gave that sign.
  Liveness asked(const std::string& head, probe::Sign sign);
  // The store was away. An instance may not answer until it has proved itself in the store again,
  // so its silence until now means nothing.
  void excuse(const std::string& head) { missing_[head] = 0; }
  // The head is heard again.
  void forget(const std::string& head) { missing_.erase(head); }

 private:
  std::map<std::string, int> missing_;  // in a row; of heads that have given a sign
};

}  // namespace symnas::vnfsd::daemon
