// RegisterHistory: checks whether the answers that clients got about one register fit some order of
// its operations that respects real time (linearizability). Exact when all written values differ:
// P. B. Gibbons, E. Korach, "Testing Shared Memories", SIAM J. Computing 26(4), 1997, section 4.2.
//
// Thread-compatible. Times are of one clock; an operation has happened between its start and its
// end.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace symnas::test {

class RegisterHistory {
 public:
  using Value = std::uint64_t;
  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
  // What the register holds before any write.
  static constexpr Value kInitial = 0;

  RegisterHistory();

  // end_ns kNever: the outcome is not known; the write may happen at any time or never.
  // REQUIRES: no two writes of one value, none of kInitial.
  void add_write(Value value, std::int64_t start_ns, std::int64_t end_ns);
  void add_read(Value value, std::int64_t start_ns, std::int64_t end_ns);

  // What cannot have happened, in words; nullopt: the history is possible.
  std::optional<std::string> violation() const;

 private:
  struct Operation {
    std::int64_t start_ns;
    std::int64_t end_ns;
  };
  struct Cluster {  // the operations of one value
    std::optional<Operation> write;
    std::vector<Operation> reads;
  };
  std::map<Value, Cluster> clusters_;
};

}  // namespace symnas::test
