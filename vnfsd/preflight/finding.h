// Finding: what one look at this machine has shown, and what to do about it. Value type.
#pragma once

#include <string>

namespace symnas::vnfsd::preflight {

// kDoubt: it works, but not as well as it should, or not in every case. kProblem: it will not work.
// kUnknown: this look could not be had.
enum class Verdict { kFine, kDoubt, kProblem, kUnknown };

struct Finding {
  std::string subject;  // "clock", "path to 10.99.0.2"
  Verdict verdict = Verdict::kUnknown;
  std::string what;  // was seen
  std::string next;  // what to do; "": nothing
};

// fine, doubt, problem, unknown
std::string word_of(Verdict verdict);

}  // namespace symnas::vnfsd::preflight
