// Bounds of ha/fencing, each with its reason.
#pragma once

#include <cstddef>
#include <cstdint>

namespace symnas::ha {

// A proof goes into records and messages: the end of what an agent prints is enough.
inline constexpr std::size_t kAgentOutputBytesMax = 4096;
inline constexpr std::size_t kProofCharsMax = 300;
// What goes to an agent must fit into a pipe: nobody reads while it is written.
inline constexpr std::size_t kAgentInputBytesMax = 16 * 1024;
inline constexpr std::int64_t kAgentReapMs = 5'000;  // after SIGKILL

}  // namespace symnas::ha
