#include "vnfsd/ctl/near.h"

#include <algorithm>

namespace symnas::vnfsd::ctl {
namespace {

constexpr std::size_t kLettersMax = 64;  // of a word that is looked at; names are shorter

}  // namespace

std::size_t edits_between(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> edits(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) edits[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) edits[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t differs = a[i - 1] == b[j - 1] ? 0 : 1;
      edits[i][j] =
          std::min({edits[i - 1][j] + 1, edits[i][j - 1] + 1, edits[i - 1][j - 1] + differs});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        edits[i][j] = std::min(edits[i][j], edits[i - 2][j - 2] + 1);
    }
  }
  return edits[a.size()][b.size()];
}

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  if (word.size() < 3 || word.size() > kLettersMax) return "";
  std::size_t least = std::clamp<std::size_t>(word.size() / 3, 1, 3) + 1;
  std::string found;
  for (const std::string& candidate : candidates) {
    if (candidate.size() > kLettersMax) continue;
    const std::size_t edits = edits_between(word, candidate);
    if (edits >= least) continue;
    least = edits;
    found = candidate;
  }
  return found;
}

}  // namespace symnas::vnfsd::ctl
