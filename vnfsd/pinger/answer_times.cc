#include "vnfsd/pinger/answer_times.h"

namespace symnas::vnfsd::pinger {

void AnswerTimes::note(std::int64_t at_ns) {
  const Gap gap{last_ns_, at_ns};
  if (gap.ended_ns - gap.began_ns > longest_.ended_ns - longest_.began_ns) longest_ = gap;
  if (gap.ended_ns - gap.began_ns >= min_gap_ns_ && gaps_.size() < kGapsMax) gaps_.push_back(gap);
}

void AnswerTimes::answered(std::int64_t at_ns) {
  if (count_ != 0) note(at_ns);
  ++count_;
  last_ns_ = at_ns;
}

void AnswerTimes::ended(std::int64_t at_ns) {
  if (count_ != 0) note(at_ns);
}

}  // namespace symnas::vnfsd::pinger
