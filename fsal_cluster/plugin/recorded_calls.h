// Recorded calls: the calls that are recorded with their effect, so that their answers outlive this
// process, and the answers to calls that a former process has carried out (fsal_cluster/reply).
// Recorded are NFSv3's changes of names and attributes, and NFSv4.0's CREATE, REMOVE, RENAME, LINK
// and SETATTR.
//
// Thread class: thread-safe.
#pragma once

#include <optional>

#include "fsal_cluster/reply/call.h"

namespace symnas::plugin {

// The operation that this thread carries out; nullopt: the operation is not recorded (it is an
// internal one, one of an NFSv4.1 session, or one without a checksum).
std::optional<fs::Call> this_call();
// From now on ganesha asks before each of these operations whether a former process has carried it
// out already.
void answer_former_calls();

}  // namespace symnas::plugin
