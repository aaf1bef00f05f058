// Control: the line protocol of a FUSE LUN server on a unix socket.
//
//   power-loss LUN [SEED]   drop the volatile cache (power-off and power-on in one)
//   power-off LUN           execute and answer nothing any more
//   power-off all N         the same, before the N-th write or flush of any LUN from now on
//   power-on LUN [SEED]     drop cache and queue, then go on; SEED: a part of both was stored.
//                           Like resume and heal, it also cancels an announced "all N"
//   delay LUN MS            answer everything MS milliseconds later; 0 ends it
//   hang LUN | resume LUN   let requests wait | execute those that wait, and go on
//   hang all N              the same, from before the N-th write or flush on
//   hang LUN HEAD | resume LUN HEAD    the same for one head's requests
//   eio LUN read|write|flush on|off [HEAD]    of all requests, or of one head's
//   bad LUN BYTE BYTES      reads of these bytes end with ENODATA, as of a bad sector
//   vanish LUN | appear LUN
//   fence LUN HEAD | unfence LUN HEAD
//   heal LUN                end every fault but a power loss
//   stats LUN               one line of JSON per LUN
//   add NAME FILE           serve one more LUN
//
// LUN is a name or `all`. Each command is a line; its answer ends with a line "ok" or
// "error: WHY". Thread class: confined to the thread in serve(); execute() is thread-safe.
#pragma once

#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/base/unique_fd.h"
#include "tests/support/fuse_lun/lun_set.h"

namespace symnas::fuse_lun {

class Control {
 public:
  explicit Control(LunSet& luns) : luns_(luns) {}

  // Listens at `path`, which is replaced. Errors: kInvalidArgument (too long), kIo.
  Status listen(const std::string& path);
  // Serves one client after another, for ever.
  [[noreturn]] void serve();
  // Executes one command; returns the answer with its last line.
  std::string execute(const std::string& line);

 private:
  Status run(const std::vector<std::string>& words, std::string& output);
  Status run_on(FaultyLun& lun, const std::vector<std::string>& words, std::string& output);
  void serve_client(int client);

  LunSet& luns_;
  UniqueFd listener_;
};

}  // namespace symnas::fuse_lun
