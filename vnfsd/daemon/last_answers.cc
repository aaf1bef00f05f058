#include "vnfsd/daemon/last_answers.h"

#include "vnfsd/daemon/limits.h"

namespace symnas::vnfsd::daemon {

bool LastAnswers::asked(const std::string& head, bool answered) {
  if (answered) missing_[head] = 0;
  if (answered) return false;
  const auto known = missing_.find(head);
  return known == missing_.end() || ++known->second >= kMissingMin;
}

}  // namespace symnas::vnfsd::daemon
