// RefusalLog: which refusals get a line in the log: the first of a subject, then one a minute. A
// program that goes on writing into a full quota is refused thousands of times a second.
//
// Thread class: thread-compatible. Invariant: it knows at most kRefusalsKnownMax subjects; while so
// many are refused within a minute, others get no line.
#pragma once

#include <cstdint>
#include <map>

#include "fsal_cluster/quota/subject.h"

namespace symnas::fs {

class RefusalLog {
 public:
  bool is_due(const Subject& subject, std::int64_t now_ns);

 private:
  std::map<Subject, std::int64_t> told_ns_;
};

}  // namespace symnas::fs
