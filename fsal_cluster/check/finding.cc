#include "fsal_cluster/check/finding.h"

#include <fmt/core.h>

namespace symnas::fs::check {

std::string_view word(Kind kind) {
  switch (kind) {
    case Kind::kKey: return "key";
    case Kind::kRecord: return "record";
    case Kind::kTree: return "tree";
    case Kind::kName: return "name";
    case Kind::kLinks: return "links";
    case Kind::kSize: return "size";
    case Kind::kMap: return "map";
    case Kind::kReverseMap: return "reverse_map";
    case Kind::kTwoOwners: return "two_owners";
    case Kind::kLostSpace: return "lost_space";
    case Kind::kOrphan: return "orphan";
    case Kind::kGroup: return "group";
    case Kind::kLock: return "lock";
    case Kind::kXattr: return "xattr";
    case Kind::kLeftover: return "leftover";
    case Kind::kStamp: return "stamp";
    case Kind::kCounter: return "counter";
  }
  return "record";
}

void Findings::add(Kind kind, Ino ino, std::string text, Passing passing, Damage damage) {
  ++total_;
  ++counts_[static_cast<std::size_t>(kind)];
  if (passing == Passing::kYes) ++passing_;
  if (kept_.size() < kept_max_)
    kept_.push_back({kind, ino, std::move(text), passing == Passing::kYes, std::move(damage)});
}

std::string printable(std::string_view name) {
  std::string out;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      out.push_back(c);
    }
  }
  return out;
}

}  // namespace symnas::fs::check
