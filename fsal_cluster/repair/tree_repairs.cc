#include <fmt/core.h>

#include <algorithm>

#include "fsal_cluster/repair/limits.h"
#include "fsal_cluster/repair/repairs.h"
#include "fsal_cluster/schema/dirent.h"
#include "fsal_cluster/types/limits.h"

namespace symnas::fs::repair {
namespace {

namespace keys = kv::keys;
using check::Fault;

constexpr std::string_view kNamesUnread =
    "some names of the filesystem cannot be read, one of them may lead to it: restore those first";

bool is_directory(const records::Inode& inode) {
  return inode.type() == static_cast<std::uint32_t>(FileType::kDirectory);
}

// Counts hold only if every name was read.
bool names_read(const Draft& draft) {
  return !draft.facts().has(Fault::kUnreadableNames) && draft.facts().all_known;
}

// Where following the parents of `from` leads.
enum class LeadsTo { kRoot, kItself, kNowhere, kFar };
Result<LeadsTo> leads_to(Draft& draft, Ino from, Ino self) {
  Ino at = from;
  for (int depth = 0; depth < kDepthMax; ++depth) {
    if (at == self) return LeadsTo::kItself;
    if (at == kRootIno) return LeadsTo::kRoot;
    SYMNAS_ASSIGN(const auto inode, draft.rely_inode(at));
    if (!inode || !is_directory(*inode)) return LeadsTo::kNowhere;
    at = Ino{inode->parent()};
    if (depth >= static_cast<int>(kStepKeysMax) - 10) return LeadsTo::kFar;
  }
  return LeadsTo::kNowhere;
}

Result<Step> link_count(Draft draft) {
  if (!names_read(draft)) return std::move(draft).refuse(std::string(kNamesUnread));
  const Ino ino = draft.finding().ino;
  const std::uint64_t names = draft.damage().value;
  SYMNAS_ASSIGN(auto inode, draft.rely_inode(ino));
  if (!inode) return std::move(draft).later("look again: it is gone");
  if (names > kLinkMax) return std::move(draft).refuse("more names than a file may have");
  const std::string orphan_key = keys::orphan(draft.fs(), ino);
  SYMNAS_ASSIGN(const auto orphan,
                draft.rely_record<records::Orphan>(orphan_key, "its orphan record"));
  if (names == 0) {
    if (orphan && orphan->open())
      return std::move(draft).later("its orphan record is repaired first");
    return move_to_lost_found(std::move(draft), ino, std::move(*inode));
  }
  const std::uint32_t before = inode->nlink();
  inode->set_nlink(static_cast<std::uint32_t>(names));
  if (orphan && !orphan->truncated()) SYMNAS_TRY(draft.erase(orphan_key));
  SYMNAS_TRY(draft.put_inode(ino, *inode));
  return std::move(draft).repair(Order::kCounts,
                                 fmt::format("sets nlink from {} to {}", before, names));
}

Result<Step> nameless(Draft draft) {
  if (!names_read(draft)) return std::move(draft).refuse(std::string(kNamesUnread));
  const Ino ino = draft.finding().ino;
  SYMNAS_ASSIGN(const auto inode, draft.rely_inode(ino));
  if (!inode) return std::move(draft).later("look again: it is gone");
  records::Orphan orphan;
  orphan.set_generation(inode->generation());
  orphan.set_map_generation(inode->map_generation());
  orphan.set_open(true);
  SYMNAS_TRY(draft.put(keys::orphan(draft.fs(), ino), orphan.SerializeAsString()));
  return std::move(draft).repair(Order::kCounts,
                                 "puts the orphan record: its last name was removed, so it is "
                                 "removed when nobody has it open");
}

Result<Step> directory_nameless(Draft draft) {
  if (!names_read(draft)) return std::move(draft).refuse(std::string(kNamesUnread));
  const Ino ino = draft.finding().ino;
  SYMNAS_ASSIGN(auto inode, draft.rely_inode(ino));
  if (!inode) return std::move(draft).later("look again: it is gone");
  return move_to_lost_found(std::move(draft), ino, std::move(*inode));
}

// How many of the directory's names lie outside of the directory that it calls its parent.
std::size_t names_elsewhere(const Draft& draft) {
  const auto it = draft.facts().by.find(Fault::kParentDiffers);
  if (it == draft.facts().by.end()) return 0;
  return static_cast<std::size_t>(
      std::count_if(it->second.begin(), it->second.end(),
                    [&](const check::Finding* f) { return f->ino == draft.finding().ino; }));
}

std::uint64_t names_of(const Draft& draft) {
  const auto it = draft.facts().by.find(Fault::kDirectoryNames);
  if (it == draft.facts().by.end()) return 1;
  for (const check::Finding* finding : it->second)
    if (finding->ino == draft.finding().ino) return finding->damage.value;
  return 1;
}

Result<Step> remove_other_name(Draft draft) {
  const std::string key =
      keys::dirent_bucket(draft.fs(), Ino{draft.damage().other}, draft.damage().value);
  SYMNAS_ASSIGN(auto bucket, draft.rely_record<records::DirentBucket>(key, "the names"));
  const records::Dirent* entry = bucket ? find_entry(*bucket, draft.damage().name) : nullptr;
  if (entry == nullptr || entry->ino() != draft.finding().ino.value())
    return std::move(draft).later("another repair of the name comes first");
  remove_entry(*bucket, draft.damage().name);
  SYMNAS_TRY(draft.rely_inode(draft.finding().ino));
  SYMNAS_TRY(draft.rely(keys::directory_move(draft.fs())));
  SYMNAS_TRY(bucket->entries_size() == 0 ? draft.erase(key)
                                         : draft.put(key, bucket->SerializeAsString()));
  draft.changes_directory(Ino{draft.damage().other});
  return std::move(draft).repair(
      Order::kNames, "removes that name: the directory's other name is where its record says");
}

// Removes the directory's name in `place`, which lies below the directory itself, and gives it one
// in /lost+found.
Result<Step> take_out_of_cycle(Draft draft, Ino ino, Ino place, std::uint64_t hash) {
  const std::string key = keys::dirent_bucket(draft.fs(), place, hash);
  SYMNAS_ASSIGN(auto bucket, draft.rely_record<records::DirentBucket>(key, "the names"));
  SYMNAS_ASSIGN(auto inode, draft.rely_inode(ino));
  if (!bucket || !inode) return std::move(draft).later("look again: it is gone");
  auto& entries = *bucket->mutable_entries();
  const auto entry = std::find_if(entries.begin(), entries.end(),
                                  [&](const records::Dirent& e) { return e.ino() == ino.value(); });
  if (entry == entries.end()) return std::move(draft).later("its names are repaired first");
  const std::string name = entry->name();
  entries.erase(entry);
  SYMNAS_TRY(entries.empty() ? draft.erase(key) : draft.put(key, bucket->SerializeAsString()));
  draft.changes_directory(place);
  SYMNAS_ASSIGN(Step step, move_to_lost_found(std::move(draft), ino, std::move(*inode)));
  if (step.verdict != Verdict::kRepair) return step;
  if (step.text.starts_with("makes")) {
    // Only the directory is made now.
    std::erase_if(step.changes, [&](const Change& change) { return change.key == key; });
    std::erase(step.changed_directories, place);
    return step;
  }
  step.text = fmt::format("takes it out of the cycle (its name '{}' in inode {} goes), and it {}",
                          check::printable(name), place.value(), step.text);
  return step;
}

Result<Step> parent_differs(Draft draft) {
  if (!names_read(draft)) return std::move(draft).refuse(std::string(kNamesUnread));
  const std::uint64_t names = names_of(draft);
  const std::size_t elsewhere = names_elsewhere(draft);
  if (names > 1 && names - elsewhere == 1) return remove_other_name(std::move(draft));
  if (names > 1)
    return std::move(draft).refuse(
        "several names lead to the directory, and which one is meant cannot be proved: restore its "
        "record from an etcd snapshot");
  const Ino ino = draft.finding().ino;
  const Ino parent{draft.damage().other};
  const auto hash = draft.damage().value;
  SYMNAS_ASSIGN(auto inode, draft.rely_inode(ino));
  if (!inode) return std::move(draft).later("look again: it is gone");
  SYMNAS_ASSIGN(const LeadsTo place, leads_to(draft, parent, ino));
  if (place == LeadsTo::kItself) return take_out_of_cycle(std::move(draft), ino, parent, hash);
  if (place != LeadsTo::kRoot)
    return std::move(draft).later("its name does not lead to the root: other repairs come first");
  SYMNAS_TRY(draft.rely(keys::dirent_bucket(draft.fs(), parent, hash)));
  SYMNAS_TRY(draft.put(keys::directory_move(draft.fs()), ""));
  inode->set_parent(parent.value());
  SYMNAS_TRY(draft.put_inode(ino, *inode));
  return std::move(draft).repair(
      Order::kCounts,
      fmt::format("sets the parent to inode {}, which has its only name", parent.value()));
}

Result<Step> cycle(Draft draft) {
  const Ino ino = draft.finding().ino;
  const auto place = draft.facts().report->names.find(ino.value());
  if (!names_read(draft)) return std::move(draft).refuse(std::string(kNamesUnread));
  if (place == draft.facts().report->names.end() || draft.facts().has(ino, Fault::kParentDiffers))
    return std::move(draft).later("its names are repaired first");
  SYMNAS_ASSIGN(const LeadsTo above, leads_to(draft, place->second.directory, ino));
  if (above == LeadsTo::kRoot || above == LeadsTo::kNowhere)
    return std::move(draft).later("what is above it is repaired first");
  return take_out_of_cycle(std::move(draft), ino, place->second.directory, place->second.hash);
}

std::int64_t stamp_of(Draft& draft) {
  const auto stamp = draft.snapshot().get(keys::stamp(draft.fs()));
  if (!stamp || !*stamp || (*stamp)->value.size() != 8) return 0;
  return static_cast<std::int64_t>(read_be64((*stamp)->value, 0));
}

records::Inode new_directory(std::int64_t now_ns, std::uint64_t generation, Ino parent) {
  records::Inode inode;
  inode.set_type(static_cast<std::uint32_t>(FileType::kDirectory));
  inode.set_mode(0700);
  inode.set_nlink(1);
  inode.set_parent(parent.value());
  inode.set_generation(generation);
  inode.set_atime_ns(now_ns);
  inode.set_mtime_ns(now_ns);
  inode.set_ctime_ns(now_ns);
  return inode;
}

Result<Step> root_missing(Draft draft) {
  const records::Inode root = new_directory(stamp_of(draft), 1, kRootIno);
  SYMNAS_TRY(draft.put_inode(kRootIno, root));
  return std::move(draft).repair(
      Order::kNames,
      "makes it anew with mode 0700, owner root: its names are still there; set "
      "owner, mode and ACL as they were");
}

// Names of a directory whose record is gone.
Result<Step> names_without_directory(Draft draft) {
  const Ino ino = draft.finding().ino;
  if (ino == kRootIno) return std::move(draft).later("the root directory is made anew");
  const auto named = draft.facts().named.find(ino.value());
  const std::uint64_t generation = draft.facts().report->context.next_mount - 1;
  SYMNAS_TRY(draft.rely(keys::dirent_bucket(draft.fs(), ino, draft.damage().value)));
  if (named == draft.facts().named.end()) {
    if (!names_read(draft)) return std::move(draft).refuse(std::string(kNamesUnread));
    SYMNAS_ASSIGN(const auto gone, draft.rely_inode(ino));
    if (gone) return std::move(draft).later("look again: it is there");
    records::Inode inode = new_directory(stamp_of(draft), generation, kRootIno);
    SYMNAS_ASSIGN(Step step, move_to_lost_found(std::move(draft), ino, std::move(inode)));
    if (step.verdict != Verdict::kRepair || step.text.starts_with("makes")) return step;
    step.text =
        "makes the directory anew with mode 0700, owner root, for the sake of its names; it " +
        step.text;
    return step;
  }
  if (named->second.size() > 1)
    return std::move(draft).refuse(
        "several names lead to the missing directory: which one is "
        "meant cannot be proved; remove the others");
  const check::Finding& name = *named->second.front();
  SYMNAS_TRY(draft.rely(keys::dirent_bucket(draft.fs(), name.ino, name.damage.value)));
  SYMNAS_TRY(draft.put(keys::directory_move(draft.fs()), ""));
  SYMNAS_TRY(draft.put_inode(ino, new_directory(stamp_of(draft), generation, name.ino)));
  return std::move(draft).repair(
      Order::kNames,
      "makes the directory anew in its place with mode 0700, owner root, for the "
      "sake of its names; set owner, mode and ACL as they were");
}

Result<Step> set_field(Draft draft, std::string text,
                       const std::function<void(records::Inode&)>& change) {
  SYMNAS_ASSIGN(auto inode, draft.rely_inode(draft.finding().ino));
  if (!inode) return std::move(draft).later("look again: it is gone");
  change(*inode);
  SYMNAS_TRY(draft.put_inode(draft.finding().ino, *inode));
  return std::move(draft).repair(Order::kCounts, std::move(text));
}

}  // namespace

Result<Step> repair_tree(Draft draft) {
  const Facts& facts = draft.facts();
  const Ino ino = draft.finding().ino;
  if (!facts.hasher)
    return std::move(draft).refuse(
        "the filesystem's record has no key of name hashes: restore it from an etcd snapshot");
  switch (draft.damage().fault) {
    case Fault::kNamesWithoutDirectory: return names_without_directory(std::move(draft));
    case Fault::kRootMissing: return root_missing(std::move(draft));
    case Fault::kRootParent:
      return set_field(std::move(draft), "makes the root its own parent",
                       [](records::Inode& inode) { inode.set_parent(kRootIno.value()); });
    case Fault::kParentDiffers: return parent_differs(std::move(draft));
    case Fault::kParentMissing:
      if (facts.has(ino, Fault::kParentDiffers) || facts.has(ino, Fault::kDirectoryNameless))
        return std::move(draft).later("its name tells where it belongs: see there");
      return std::move(draft).later("its parent is repaired first");
    case Fault::kDirectoryNameless: return directory_nameless(std::move(draft));
    case Fault::kDirectoryNames:
      if (facts.has(ino, Fault::kParentDiffers))
        return std::move(draft).later("its parent tells which one is meant: see there");
      return std::move(draft).refuse(
          "all of them are in its parent, and which one is meant cannot be proved: restore the "
          "names from an etcd snapshot");
    case Fault::kDirectoryLinks:
      return set_field(std::move(draft), "sets nlink to 1",
                       [](records::Inode& inode) { inode.set_nlink(1); });
    case Fault::kCycle: return cycle(std::move(draft));
    case Fault::kLinkCount: return link_count(std::move(draft));
    case Fault::kNameless: return nameless(std::move(draft));
    default: return std::move(draft).refuse("no repair is known");
  }
}

}  // namespace symnas::fs::repair
