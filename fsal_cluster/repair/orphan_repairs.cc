#include <fmt/core.h>

#include "fsal_cluster/repair/repairs.h"

namespace symnas::fs::repair {
namespace {

namespace keys = kv::keys;
using check::Fault;

struct Pair {
  std::optional<records::Inode> inode;
  records::Orphan orphan;
};

Result<Pair> read_pair(Draft& draft) {
  const Ino ino = draft.finding().ino;
  Pair out;
  SYMNAS_ASSIGN(out.inode, draft.rely_inode(ino));
  SYMNAS_ASSIGN(const auto orphan, draft.rely_record<records::Orphan>(keys::orphan(draft.fs(), ino),
                                                                      "its orphan record"));
  if (!orphan) return fail(ErrorCode::kCorrupt, "its orphan record is gone meanwhile");
  out.orphan = *orphan;
  return out;
}

Result<Step> put(Draft draft, const records::Orphan& orphan, Order order, std::string text) {
  SYMNAS_TRY(draft.put(keys::orphan(draft.fs(), draft.finding().ino), orphan.SerializeAsString()));
  return std::move(draft).repair(order, std::move(text));
}

Result<Step> erase(Draft draft, std::string text) {
  SYMNAS_TRY(draft.erase(keys::orphan(draft.fs(), draft.finding().ino)));
  return std::move(draft).repair(Order::kNames, std::move(text));
}

// The record of an inode that is gone: what is left of its map is freed under it.
Result<Step> of_nothing(Draft draft) {
  SYMNAS_ASSIGN(Pair pair, read_pair(draft));
  if (draft.facts().named.contains(draft.finding().ino.value()))
    return std::move(draft).later("a name leads to the missing inode: that first");
  if (const auto why = draft.facts().why_not_swept(draft.finding().ino))
    return std::move(draft).refuse(*why);
  pair.orphan.set_open(false);
  pair.orphan.set_truncated(false);
  return put(std::move(draft), pair.orphan, Order::kFrees,
             "says that the inode is removed: the next mount of the filesystem frees what is left");
}

Result<Step> linked(Draft draft) {
  SYMNAS_ASSIGN(Pair pair, read_pair(draft));
  if (!pair.inode) return std::move(draft).later("look again: the inode is gone");
  if (pair.inode->nlink() > 0)
    return erase(std::move(draft), "erases the orphan record: the file has a link");
  pair.orphan.set_open(true);
  return put(std::move(draft), pair.orphan, Order::kNames,
             "says that it is unlinked: it is removed when nobody has it open");
}

Result<Step> generation(Draft draft) {
  if (draft.facts().has(draft.finding().ino, Fault::kOrphanLinked))
    return std::move(draft).later("the orphan record is erased: see there");
  SYMNAS_ASSIGN(Pair pair, read_pair(draft));
  if (!pair.inode) return std::move(draft).later("look again: the inode is gone");
  pair.orphan.set_generation(pair.inode->generation());
  return put(std::move(draft), pair.orphan, Order::kNames,
             "sets its generation to the inode's: inode numbers are never used again");
}

// Before anybody sweeps the map that the file uses.
Result<Step> takes_live(Draft draft) {
  SYMNAS_ASSIGN(Pair pair, read_pair(draft));
  if (!pair.inode) return std::move(draft).later("look again: the inode is gone");
  const std::uint32_t live = pair.inode->map_generation();
  SYMNAS_TRY(draft.rely_inode(draft.finding().ino));
  if (live == 0 && !pair.inode->has_trim_block()) {
    SYMNAS_TRY(draft.erase(keys::orphan(draft.fs(), draft.finding().ino)));
    return std::move(draft).repair(Order::kAny, "erases the orphan record: no older map is there");
  }
  pair.orphan.set_map_generation(live - 1);
  return put(std::move(draft), pair.orphan, Order::kAny,
             fmt::format("says that only maps before generation {} are dead", live));
}

Result<Step> unreadable(Draft draft) {
  const Ino ino = draft.finding().ino;
  SYMNAS_ASSIGN(const auto inode, draft.rely_inode(ino));
  if (inode && inode->nlink() == 0) {
    records::Orphan orphan;
    orphan.set_generation(inode->generation());
    orphan.set_map_generation(inode->map_generation());
    orphan.set_open(true);
    return put(std::move(draft), orphan, Order::kNames,
               "puts what it must have said: the file is unlinked, and removed when nobody has it "
               "open");
  }
  return erase(std::move(draft), "erases it: what it left to free is found and freed next");
}

}  // namespace

Result<Step> repair_orphan(Draft draft) {
  switch (draft.damage().fault) {
    case Fault::kUnreadableOrphan: return unreadable(std::move(draft));
    case Fault::kOrphanOpenGone:
    case Fault::kOrphanTruncatedGone: return of_nothing(std::move(draft));
    case Fault::kOrphanGeneration: return generation(std::move(draft));
    case Fault::kOrphanLinked: return linked(std::move(draft));
    case Fault::kOrphanTakesLive: return takes_live(std::move(draft));
    default: return std::move(draft).refuse("no repair is known");
  }
}

}  // namespace symnas::fs::repair
