// Health: judges, from a try a second, whether this head reaches a thing (a LUN, a network) well.
// Pure, thread-compatible. Invariant: one slow or failed try says nothing; a thing that was ill is
// well again only after kWellMs without a fault, so that no VNFS moves to and fro with it.
#pragma once

#include <cstdint>
#include <string>

namespace symnas::vnfsd::daemon {

class Health {
 public:
  // The thing was ill when it was last known: it stays ill until kWellMs have passed without a
  // fault.
  void was_ill(std::int64_t now_ms, const std::string& why);
  // A try begins.
  void asked(std::int64_t now_ms);
  // The try ended; `error` is "" if it went well.
  void answered(std::int64_t now_ms, const std::string& error);
  // The try was refused because this head has no key there (EBADE). No fault until that has lasted
  // for kRegistersMs.
  void refused(std::int64_t now_ms, const std::string& error);
  // Nobody waits for the try under way any more.
  void given_up() { asked_ms_ = -1; }

  // kRegistering, kIll: no VNFS that needs the thing is to be brought here. After kRegistering it
  // is well at once. kWorse: ill for so long that every other head with the same fault has said so;
  // VNFSs that are here may go to a head without the fault.
  enum class State { kWell, kRegistering, kIll, kWorse };
  State look(std::int64_t now_ms);
  // Why the thing is ill, for a person; "": it is not, or kRegistering.
  const std::string& why() const { return why_; }

 private:
  bool fails(std::int64_t now_ms) const;

  std::int64_t asked_ms_ = -1;    // of the try under way; -1: none is
  std::int64_t refused_ms_ = -1;  // since when every try has been refused; -1: the last was not
  std::int64_t failing_ms_ = -1;  // since when every try has failed; -1: the last was answered
  int failures_ = 0;              // in a row
  std::string error_;             // of the last of them
  std::int64_t ill_ms_ = -1;      // since when the thing is ill; -1: it is well
  std::int64_t well_ms_ = -1;     // while it is ill: since when no try has failed
  std::string why_;
};

}  // namespace symnas::vnfsd::daemon
