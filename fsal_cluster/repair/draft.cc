#include "fsal_cluster/repair/draft.h"

#include <fmt/core.h>

#include <algorithm>

namespace symnas::fs::repair {

namespace keys = kv::keys;

Draft::Draft(Snapshot& snapshot, const Facts& facts, const check::Finding& finding)
    : snapshot_(snapshot), facts_(facts) {
  step_.finding = finding;
  step_.object = facts.report->line(finding);
}

Result<std::optional<std::string>> Draft::rely(const std::string& key) {
  SYMNAS_ASSIGN(auto found, snapshot_.get(key));
  if (compared_.insert(key).second)
    step_.compares.push_back(kv::mod_revision_is(key, found ? found->mod_revision : Revision{0}));
  if (!found) return std::optional<std::string>();
  return std::optional<std::string>(std::move(found->value));
}

Result<std::optional<records::Inode>> Draft::rely_inode(Ino ino) {
  return rely_record<records::Inode>(keys::inode(fs(), ino), fmt::format("inode {}", ino.value()));
}

Status Draft::rely_mounts() {
  SYMNAS_TRY(rely(keys::mount_claim(fs())));
  return {};
}

void Draft::changes_directory(Ino directory) {
  const auto inode = snapshot_.get(keys::inode(fs(), directory));
  if (inode && *inode) step_.changed_directories.push_back(directory);
}

void Draft::rely_absent(kv::KeyRange range) {
  step_.compares.push_back(kv::range_absent(std::move(range)));
}

void Draft::rely_unchanged(kv::KeyRange range) {
  kv::Compare compare;
  compare.range = std::move(range);
  compare.target = kv::Compare::Target::kModRevision;
  compare.relation = kv::Compare::Relation::kLess;
  compare.number = snapshot_.revision().value() + 1;
  step_.compares.push_back(std::move(compare));
}

Status Draft::put(const std::string& key, std::string value) {
  SYMNAS_ASSIGN(auto before, rely(key));
  for (Change& change : step_.changes) {
    if (change.key != key) continue;
    change.after = std::move(value);
    return {};
  }
  step_.changes.push_back({key, std::move(before), std::move(value)});
  return {};
}

Status Draft::put_inode(Ino ino, const records::Inode& inode) {
  return put(keys::inode(fs(), ino), changed_inode(inode));
}

Status Draft::erase(const std::string& key) {
  SYMNAS_ASSIGN(auto before, rely(key));
  step_.changes.push_back({key, std::move(before), std::nullopt});
  return {};
}

Step Draft::say(Verdict verdict, std::string text) && {
  step_.verdict = verdict;
  step_.text = std::move(text);
  if (verdict != Verdict::kRepair) {
    step_.compares.clear();
    step_.changes.clear();
    step_.changed_directories.clear();
    step_.changed_files.clear();
  }
  return std::move(step_);
}

Step Draft::repair(Order order, std::string text) && {
  step_.order = order;
  return std::move(*this).say(Verdict::kRepair, std::move(text));
}
Step Draft::refuse(std::string text) && {
  return std::move(*this).say(Verdict::kRefuse, std::move(text));
}
Step Draft::later(std::string text) && {
  return std::move(*this).say(Verdict::kLater, std::move(text));
}

}  // namespace symnas::fs::repair
