// Answers: which calls are remembered over the end of this process, and the answers to those that a
// former one has carried out (fsal_cluster/reply). NFSv3's changes of names and attributes, and
// NFSv4.0's CREATE, REMOVE, RENAME, LINK and SETATTR.
//
// Thread class: thread-safe.
#pragma once

#include <optional>

#include "fsal_cluster/reply/call.h"

namespace symnas::plugin {

// The operation that this thread carries out; nullopt: none that is remembered (an internal one, a
// session's, one without a checksum).
std::optional<fs::Call> this_call();
// From now on ganesha asks before such an operation whether it has been carried out.
void answer_former_calls();

}  // namespace symnas::plugin
