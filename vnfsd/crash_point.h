// Crash points: where a test has vnfsd end, as by SIGKILL, in the middle of a move. Thread-safe.
//
// SYMNAS_CRASH_AT="STEP VNFS" in vnfsd's environment names one; without it nothing happens, and the
// environment is read once. Tests: `agent_killed_at_every_step` in
// tests/lab/cases/o_crash_points.py.
#pragma once

#include <string>
#include <string_view>

namespace symnas::vnfsd {

// Ends the process if that step of that VNFS is the one to end at.
void crash_point(std::string_view step, const std::string& vnfs);

}  // namespace symnas::vnfsd
