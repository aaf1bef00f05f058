// Journal: what one boot incarnation has ever done to register itself, one file per key, so that it
// registers on no LUN twice. SCSI would let a fenced head register again and write on; also under
// another name, which is another key of the same boot.
// Thread class: thread-compatible; appends of several processes do not mix.
//
// Lines "begun LUN", "refused LUN", "done LUN", "withdrawn LUN" (docs/formats/reservation.md).
// "begun" is on disk before the command is sent. The folder must live as long as the boot: /run.
// Deleting it allows a second registration: whoever deletes it is responsible for that.
#pragma once

#include <map>
#include <string>

#include "common/base/result.h"
#include "common/base/unique_fd.h"
#include "ha/reservation/key.h"

namespace symnas::ha {

enum class Enrolment {
  kNever,
  kBegun,      // sent, or about to be: the outcome is not known
  kDone,       // the key was seen on the LUN
  kWithdrawn,  // given back; never to be taken again
};

class Journal {
 public:
  // Opens or makes the key's file in `directory`, and locks it until the object is destroyed and
  // every process forked meanwhile has ended. Errors: kUnavailable (another registration of this
  // key runs, or hangs), kIo, kPermission (a line, of this key or another one, is not valid: nobody
  // knows what this boot has done).
  static Result<Journal> open(const std::string& directory, ReservationKey key);

  Enrolment of(const std::string& lun) const;
  // The other key that this boot has registered there, or tried to, and not given back; "" = none.
  std::string other_key_of(const std::string& lun) const;
  // Appends a line, which is on disk when this returns. kNever: the LUN refused the registration
  // that had begun. Errors: kIo.
  Status note(const std::string& lun, Enrolment what);

 private:
  Journal(UniqueFd fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}

  UniqueFd fd_;
  std::string path_;
  std::map<std::string, Enrolment> seen_;
  std::map<std::string, std::string> others_;  // key by LUN
};

}  // namespace symnas::ha
