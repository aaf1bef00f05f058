// Bounds of ha/fencing, each with its reason.
#pragma once

#include <cstddef>
#include <cstdint>

namespace symnas::ha {

// A proof goes into records and messages: the end of an agent's output is enough.
inline constexpr std::size_t kAgentOutputBytesMax = 4096;
inline constexpr std::size_t kProofCharsMax = 300;
// A login to a management controller takes a few seconds.
inline constexpr std::int64_t kAgentCheckMsMax = 20'000;
// The input of a program must fit into a pipe: nobody reads from it while it is written.
inline constexpr std::size_t kProgramInputBytesMax = 16 * 1024;
inline constexpr std::int64_t kProgramReapMs = 5'000;  // after SIGKILL

// symnas-fence reports kLunsMax LUNs at most, some 500 bytes each with a dozen registrations; a
// longer answer is cut and proves nothing.
inline constexpr std::size_t kReservationAnswerBytesMax = 4u << 20;
// One command reads or changes all LUNs at most three times; the fourth step is for the program
// itself.
inline constexpr std::int64_t kReservationSteps = 4;

}  // namespace symnas::ha
