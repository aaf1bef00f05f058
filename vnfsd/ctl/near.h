// Words that were meant: "did you mean". Thread-safe: pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace symnas::vnfsd::ctl {

// The fewest insertions, deletions, replacements and swaps of neighbours that make one word of the
// other (no piece is changed twice). Bytes, no characters.
std::size_t edits_between(std::string_view a, std::string_view b);

// The candidate that is nearest to the word; "" if none is near: a third of the word's letters may
// differ, at most three, at least one. Of words of one or two letters nothing is near.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace symnas::vnfsd::ctl
