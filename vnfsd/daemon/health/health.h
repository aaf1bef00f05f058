// Health: what follows from tries, one a second, whether this head reaches something well: a LUN, a
// network. Pure, thread-compatible. Invariant: one slow or failed try says nothing; what was ill is
// well again only after kWellMs without a fault, so that nothing moves to and fro with it.
#pragma once

#include <cstdint>
#include <string>

namespace symnas::vnfsd::daemon {

class Health {
 public:
  // It was ill when it was known last: it is until it has been well for as long as any.
  void was_ill(std::int64_t now_ms, const std::string& why);
  // A try begins.
  void asked(std::int64_t now_ms);
  // It ended; "" = well.
  void answered(std::int64_t now_ms, const std::string& error);
  // Nobody waits for the try under way any more.
  void given_up() { asked_ms_ = -1; }

  // Ill: nothing that needs it is to be brought here. kWorse: for so long that every other head
  // that has the fault too has said so, and what is here may go to one that has not.
  enum class State { kWell, kIll, kWorse };
  State look(std::int64_t now_ms);
  // Why it is ill, for a person; "" = it is not.
  const std::string& why() const { return why_; }

 private:
  bool fails(std::int64_t now_ms) const;

  std::int64_t asked_ms_ = -1;    // of the try under way; -1: none is
  std::int64_t failing_ms_ = -1;  // since when every try has failed; -1: the last was answered
  int failures_ = 0;              // in a row
  std::string error_;             // of the last of them
  std::int64_t ill_ms_ = -1;      // since when; -1: it is well
  std::int64_t well_ms_ = -1;     // an ill one: since when nothing has failed
  std::string why_;
};

}  // namespace symnas::vnfsd::daemon
