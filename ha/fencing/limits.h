// Bounds of ha/fencing, each with its reason.
#pragma once

#include <cstddef>
#include <cstdint>

namespace symnas::ha {

// A proof goes into records and messages: the end of what an agent prints is enough.
inline constexpr std::size_t kAgentOutputBytesMax = 4096;
inline constexpr std::size_t kProofCharsMax = 300;
// A login to a management controller takes a few seconds.
inline constexpr std::int64_t kAgentCheckMsMax = 20'000;
// What goes to a program must fit into a pipe: nobody reads while it is written.
inline constexpr std::size_t kProgramInputBytesMax = 16 * 1024;
inline constexpr std::int64_t kProgramReapMs = 5'000;  // after SIGKILL

// symnas-fence tells of kLunsMax LUNs at most, some 500 bytes each with a dozen registrations; a
// longer answer is cut and proves nothing.
inline constexpr std::size_t kReservationAnswerBytesMax = 4u << 20;
// It looks at all LUNs or changes them at most three times in one command, and has a moment for
// itself.
inline constexpr std::int64_t kReservationSteps = 4;

}  // namespace symnas::ha
