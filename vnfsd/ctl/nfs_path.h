// Whether NFS is answered over a pair of addresses, and whether large packets pass. Needs no
// privilege and changes nothing: it sends a NULL call, then a WRITE to a file handle that no server
// has, whose data fills packets of the largest size; each answer, a refusal too, proves that it
// arrived. Thread-safe: functions without state.
#pragma once

#include <cstdint>
#include <string>

namespace symnas::vnfsd::ctl {

enum class PathSign {
  kNoLocal,    // the local address is none of this host
  kNoRoute,    // this host has no way there
  kSilent,     // nobody took the connection
  kRefused,    // a host is there, NFS is not
  kNoAnswer,   // connected, but a small call is not answered
  kSmallOnly,  // large packets are lost
  kAnswers,
};

struct PathFound {
  PathSign sign = PathSign::kSilent;
  std::string error;          // of the system, for kNoLocal and kNoRoute
  unsigned packet_bytes = 0;  // the largest that both ends agreed on; 0: no connection
  unsigned passes_bytes = 0;  // kSmallOnly: the largest of the usual sizes that passes; 0: none
};

// Asks `remote`, an address, from `local` ("" = any). Takes up to about five times timeout_ms.
PathFound ask_path(const std::string& local, const std::string& remote, std::int64_t timeout_ms);

// What was found, in words, and what to do about it ("" = nothing).
struct PathWords {
  bool problem = false;
  std::string what;
  std::string next;
};
PathWords words_of(const PathFound& found, const std::string& local, const std::string& remote,
                   const std::string& vnfs);

}  // namespace symnas::vnfsd::ctl
