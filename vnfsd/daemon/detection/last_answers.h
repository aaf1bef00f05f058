// LastAnswers: whether the VIPs of a head that is not heard may count as dead. Pure;
// thread-compatible.
//
// Who has answered since its probes stopped, or whose kernel has at least taken a connection, is
// alive, and its agent away: then a question without an answer may be a packet that was lost, a
// pause, or a processor with too much to do. Only several in a row count.
#pragma once

#include <map>
#include <string>

#include "vnfsd/probe/canary.h"

namespace symnas::vnfsd::daemon {

class LastAnswers {
 public:
  enum class Verdict {
    kLives,  // as far as is known: to be asked again
    kDead,
  };
  // Its VIPs were asked and gave that sign.
  Verdict asked(const std::string& head, probe::Sign sign);
  // The store was away: until it has shown itself there an instance may not answer.
  void excuse(const std::string& head) { missing_[head] = 0; }
  // It is heard again.
  void forget(const std::string& head) { missing_.erase(head); }

 private:
  std::map<std::string, int> missing_;  // in a row; of heads that have given a sign
};

}  // namespace symnas::vnfsd::daemon
