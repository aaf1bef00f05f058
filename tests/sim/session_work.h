// SessionWork: what the threads of the mounts do in the session simulation. Each operation goes
// through Session, compares the answer with the promises so far, and notes those it has got.
//
// Thread class: for the simulated threads, of which one runs at a time.
#pragma once

#include <map>
#include <string>

#include "common/kv/mem/mem_store.h"
#include "tests/sim/session_promises.h"

namespace symnas::sim {

class SessionWork {
 public:
  SessionWork(Promises& promises, const kv::MemServer& server)
      : promises_(promises), server_(server) {}

  // One thread: some operations, fewer if the mount ends.
  void run(SessionMount& mount);

 private:
  using Seen = std::map<std::string, Revision>;  // the newest revision known of a counter

  // One operation each. False: the thread ends; what it has sent last is uncertain.
  bool increment(SessionMount& mount, Seen& seen);
  bool append(SessionMount& mount);
  bool put_unique(SessionMount& mount);
  bool together(SessionMount& mount);
  bool beside(SessionMount& mount, const Seen& seen);
  bool churn(SessionMount& mount);
  bool look(SessionMount& mount, Seen& seen);
  bool scratch(SessionMount& mount);
  bool strict_read(SessionMount& mount);
  bool strict_range(SessionMount& mount);

  void check_conflict(const std::string& key, Revision compared) const;

  Promises& promises_;
  const kv::MemServer& server_;
};

}  // namespace symnas::sim
