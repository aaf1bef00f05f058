// Window: the part of a range of keys that is asked for at once, chosen so that each answer has
// about kWindowKeys. It learns from the answers; keys are taken as numbers, without the range's
// prefix. Thread class: thread-compatible. Pure.
#pragma once

#include <string>
#include <string_view>

#include "common/kv/store.h"

namespace symnas::fs::check {

class Window {
 public:
  // At first the window is the whole range: most tables are small.
  explicit Window(kv::KeyRange range);

  // The range to ask for next. REQUIRES: !done().
  kv::KeyRange next() const;
  bool done() const { return done_; }
  // Takes the answer to next(): the whole window was read, or the page ended behind its last key.
  void answered(const kv::OpResult& page);
  // No answer came in time: the window may have been too large.
  void too_much();

 private:
  using Number = unsigned __int128;

  Number number_of(std::string_view key) const;
  std::string key_of(Number number) const;
  void adapt(const kv::OpResult& page);
  void widen(int bits);
  void narrow(int bits);

  const std::string prefix_;
  std::string at_;
  const std::string end_;
  Number width_ = 0;  // 0 = to the end
  bool done_ = false;
};

}  // namespace symnas::fs::check
