#include "vnfsd/daemon/detection/last_answers.h"

#include "vnfsd/daemon/detection/limits.h"

namespace symnas::vnfsd::daemon {

LastAnswers::Liveness LastAnswers::asked(const std::string& head, probe::Sign sign) {
  if (sign == probe::Sign::kAnswered) {
    missing_[head] = 0;
    return Liveness::kLives;
  }
  if (sign == probe::Sign::kAccepted) missing_.try_emplace(head, 0);
  const auto known = missing_.find(head);
  if (known == missing_.end()) return Liveness::kDead;
  return ++known->second < kMissingMin ? Liveness::kLives : Liveness::kDead;
}

}  // namespace symnas::vnfsd::daemon
