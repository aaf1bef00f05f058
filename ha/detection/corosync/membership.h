// CorosyncMembership: what corosync says of its nodes, and the line of text by which
// symnas-corosync-watch tells it to vnfsd (docs/formats/corosync_watch.md). Thread-compatible value
// type.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"

namespace symnas::ha {

// corosync itself allows 384 nodes; symnas has 16 heads, and a few nodes may be none.
inline constexpr std::size_t kCorosyncNodesMax = 64;
inline constexpr std::size_t kCorosyncLineBytesMax = 64 * 1024;
// How often the program says what is, also when nothing has changed.
inline constexpr std::int64_t kCorosyncSayMs = 1'000;

struct CorosyncNode {
  std::uint32_t id = 0;
  std::string name;                    // "": corosync.conf gives it none
  std::vector<std::string> addresses;  // by link; names of hosts as in corosync.conf
  bool member = false;
  friend bool operator==(const CorosyncNode&, const CorosyncNode&) = default;
};

struct CorosyncMembership {
  bool quorate = false;  // the partition that this node is in
  std::vector<CorosyncNode> nodes;
  friend bool operator==(const CorosyncMembership&, const CorosyncMembership&) = default;
};

// One line, without its end.
std::string render_membership(const CorosyncMembership& membership);
// Errors: kInvalidArgument.
Result<CorosyncMembership> parse_membership(std::string_view line);

}  // namespace symnas::ha
