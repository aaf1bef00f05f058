#include "fsal_cluster/plugin/export_changes.h"

#include <algorithm>
#include <utility>

namespace symnas::plugin {

ExportChanges::ExportChanges(const std::vector<InstanceFile::Export>& served, Server server)
    : server_(std::move(server)) {
  for (const InstanceFile::Export& one : served) served_.emplace(one.id, one);
}

Status ExportChanges::set(const InstanceFile::Export& wanted) {
  const bool is_new = !served_.contains(wanted.id);
  const Status done = server_.set(wanted);
  if (done) {
    served_[wanted.id] = wanted;
  } else if (is_new) {
    server_.remove(wanted.id);
  } else {
    served_[wanted.id].block.clear();
  }
  return done;
}

Status ExportChanges::follow(const std::vector<InstanceFile::Export>& wanted) {
  std::erase_if(served_, [&](const auto& one) { return !server_.has(one.first); });
  for (auto it = served_.begin(); it != served_.end();) {
    const bool stays = std::any_of(wanted.begin(), wanted.end(),
                                   [&](const auto& one) { return one.id == it->first; });
    if (!stays) server_.remove(it->first);
    it = stays ? std::next(it) : served_.erase(it);
  }
  std::vector<InstanceFile::Export> left;
  for (const InstanceFile::Export& one : wanted) {
    const auto known = served_.find(one.id);
    if (known == served_.end() || known->second.block != one.block) left.push_back(one);
  }
  const auto may_take_its_path = [&](const InstanceFile::Export& one) {
    return std::none_of(served_.begin(), served_.end(), [&](const auto& served) {
      return served.first != one.id && served.second.pseudo == one.pseudo;
    });
  };
  while (!left.empty()) {
    const auto next = std::find_if(left.begin(), left.end(), may_take_its_path);
    if (next == left.end()) {
      return fail(ErrorCode::kConflict,
                  "exports exchange the paths that clients mount: change one "
                  "of them to another path first");
    }
    SYMNAS_TRY(set(*next));
    left.erase(next);
  }
  return {};
}

}  // namespace symnas::plugin
