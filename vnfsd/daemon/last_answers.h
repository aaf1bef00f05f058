// LastAnswers: whether the VIPs of a head that is not heard may count as dead. Pure;
// thread-compatible.
//
// Who has answered since its probes stopped is alive, and its agent away: then a question without
// an answer may be a packet that was lost, or a pause. Only several in a row count.
#pragma once

#include <map>
#include <string>

namespace symnas::vnfsd::daemon {

class LastAnswers {
 public:
  // Its VIPs were asked. Answers whether it counts as dead.
  bool asked(const std::string& head, bool answered);
  // The store was away: until it has shown itself there an instance may not answer.
  void excuse(const std::string& head) { missing_[head] = 0; }
  // It is heard again.
  void forget(const std::string& head) { missing_.erase(head); }

 private:
  std::map<std::string, int> missing_;  // since the last answer, in a row; of who has answered
};

}  // namespace symnas::vnfsd::daemon
