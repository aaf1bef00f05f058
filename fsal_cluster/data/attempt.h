// Attempt: one try of an operation on a file that other mounts may use, too. Plain data.
#pragma once

#include <cstdint>

#include "fsal_cluster/quota/quotas.h"

namespace symnas::fs {

// Whether an operation may go on as it is.
enum class Go : std::uint8_t {
  kOn,
  kAgain,        // something that the operation relied on has changed: enter again
  kWithAll,      // the operation needs X, and must enter again then
  kWithPublish,  // the X holder must publish first
  kAfterLook,    // a quota wants a look at what others use (QuotaAsking)
};

// What an operation knows of quotas: one for all its attempts.
struct QuotaAsking {
  Quotas::Caller caller;
  bool look_due = false;  // nothing was done: QuotaGate::look(), then enter again
  int looks = 0;
  Subjects subjects;
};

struct Attempt {
  bool sole = true;  // whether its stay is sole
  Go go = Go::kOn;
  std::uint64_t life = 0;  // FileState::life when the file was found current
  bool published = false;  // a publish has been asked for since the operation began
  // When the record was read another mount may have acknowledged more than the record says.
  bool unrecorded = false;
  QuotaAsking* quota = nullptr;  // of a WRITE
};

}  // namespace symnas::fs
