// Crash points: where a test has vnfsd end, as by SIGKILL, in the middle of a move or of a fence.
// Thread-safe.
//
// SYMNAS_CRASH_AT="STEP NAME" in vnfsd's environment names one, of the move of that VNFS or of the
// fence of that head; without the variable nothing happens. The environment is read once. Tests:
// tests/lab/cases/crashes/every_step.py.
#pragma once

#include <string>
#include <string_view>

namespace symnas::vnfsd {

// Ends the process if that step of that VNFS or head is the one to end at.
void crash_point(std::string_view step, const std::string& name);

}  // namespace symnas::vnfsd
