// Finding: one thing that is wrong in a filesystem's records. Findings: what one check has found,
// bounded. Thread class: thread-compatible value types.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/ids.h"
#include "fsal_cluster/check/fault.h"
#include "fsal_cluster/check/limits.h"

namespace symnas::fs::check {

enum class Kind : std::uint8_t {
  kKey,         // a key that no table has, or of a wrong shape
  kRecord,      // a value that cannot be parsed, or says what no operation writes
  kTree,        // names, parents and directories do not make one tree
  kName,        // a name in the wrong place: hash, slot, type
  kLinks,       // link count
  kSize,        // size or extents beyond the bounds
  kMap,         // map of a file: generation, order, count of blocks
  kReverseMap,  // map and reverse map disagree
  kTwoOwners,   // a block with two owners
  kLostSpace,   // blocks without an owner
  kOrphan,      // orphan record and inode disagree
  kGroup,       // ownership of an allocation group
  kLock,        // byte-range lock
  kXattr,       // extended attributes: counts, limits, of what they are
  kLeftover,    // left by a mount that has ended, or by an object that is gone
  kStamp,
  kCounter,  // inode numbers, mount ids
};
inline constexpr std::size_t kKinds = static_cast<std::size_t>(Kind::kCounter) + 1;
// Stable word for JSON and scripts: "two_owners".
std::string_view word(Kind kind);

struct Finding {
  Kind kind = Kind::kRecord;
  Ino ino;           // the object; 0 = none
  std::string text;  // does not repeat the object
  // True: a living mount may be about to repair this, and the finding counts only if a later look
  // finds it again.
  bool passing = false;
  Damage damage;
};

enum class Passing : bool { kNo, kYes };

class Findings {
 public:
  explicit Findings(std::size_t kept_max = kFindingsMax) : kept_max_(kept_max) {}
  void add(Kind kind, Ino ino, std::string text, Passing passing = Passing::kNo,
           Damage damage = {});
  void add(Kind kind, Ino ino, std::string text, Damage damage) {
    add(kind, ino, std::move(text), Passing::kNo, std::move(damage));
  }
  // The first kept_max, in order of discovery.
  const std::vector<Finding>& kept() const { return kept_; }
  std::uint64_t total() const { return total_; }
  std::uint64_t passing() const { return passing_; }
  std::uint64_t of(Kind kind) const { return counts_[static_cast<std::size_t>(kind)]; }

 private:
  std::size_t kept_max_;
  std::vector<Finding> kept_;
  std::array<std::uint64_t, kKinds> counts_{};
  std::uint64_t total_ = 0;
  std::uint64_t passing_ = 0;
};

// A name for a message: bytes that cannot be printed appear as \xNN.
std::string printable(std::string_view name);

}  // namespace symnas::fs::check
