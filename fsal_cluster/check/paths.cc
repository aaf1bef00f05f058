#include "fsal_cluster/check/paths.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "common/kv/keys.h"
#include "fsal_cluster/check/limits.h"
#include "fsal_cluster/schema/records.pb.h"

namespace symnas::fs::check {
namespace {

struct Step {  // from an inode to a directory that has a name of it
  std::uint64_t directory = 0;
  std::string name;
};
using Steps = std::map<std::uint64_t, Step>;

std::optional<std::string> name_in(const std::optional<std::string>& value, std::uint64_t ino) {
  records::DirentBucket bucket;
  if (!value || !bucket.ParseFromString(*value)) return std::nullopt;
  for (const records::Dirent& entry : bucket.entries())
    if (entry.ino() == ino) return entry.name();
  return std::nullopt;
}

// Finds one step for each inode; an inode without one is left out.
Status look_up(View& view, Checker& checker, const std::vector<std::uint64_t>& inos, Steps& steps) {
  for (std::size_t begin = 0; begin < inos.size(); begin += kPathKeysMax) {
    std::vector<std::string> keys;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> asked;  // inode, directory
    for (std::size_t i = begin; i < std::min(inos.size(), begin + kPathKeysMax); ++i) {
      const auto at = checker.name_of(Ino{inos[i]});
      if (!at) continue;
      keys.push_back(kv::keys::dirent_bucket(view.context().fs(), at->directory, at->hash));
      asked.emplace_back(inos[i], at->directory.value());
    }
    if (keys.empty()) continue;
    SYMNAS_ASSIGN(const auto values, view.get(keys));
    for (std::size_t i = 0; i < asked.size(); ++i) {
      auto name = name_in(values[i], asked[i].first);
      if (name) steps[asked[i].first] = {asked[i].second, std::move(*name)};
    }
  }
  return {};
}

std::optional<std::string> join(const Steps& steps, std::uint64_t ino) {
  std::string path;
  for (int depth = 0; Ino{ino} != kRootIno; ++depth) {
    const auto step = steps.find(ino);
    if (step == steps.end() || depth >= kPathDepthMax) return std::nullopt;
    path = "/" + printable(step->second.name) + path;
    ino = step->second.directory;
  }
  return path.empty() ? "/" : path;
}

}  // namespace

Result<std::map<std::uint64_t, std::string>> paths_of(View& view, Checker& checker,
                                                      const std::vector<Ino>& inos) {
  Steps steps;
  std::set<std::uint64_t> seen;
  std::vector<std::uint64_t> wanted;
  for (const Ino ino : inos)
    if (seen.insert(ino.value()).second) wanted.push_back(ino.value());
  for (int depth = 0; !wanted.empty() && depth < kPathDepthMax; ++depth) {
    SYMNAS_TRY(look_up(view, checker, wanted, steps));
    std::vector<std::uint64_t> above;
    for (const std::uint64_t ino : wanted) {
      const auto step = steps.find(ino);
      if (step != steps.end() && seen.insert(step->second.directory).second)
        above.push_back(step->second.directory);
    }
    wanted = std::move(above);
  }
  std::map<std::uint64_t, std::string> out;
  for (const Ino ino : inos)
    if (auto path = join(steps, ino.value())) out.emplace(ino.value(), std::move(*path));
  return out;
}

}  // namespace symnas::fs::check
