#include <fmt/core.h>

#include <algorithm>

#include "fsal_cluster/repair/limits.h"
#include "fsal_cluster/repair/repairs.h"

namespace symnas::fs::repair {
namespace {

namespace keys = kv::keys;
using check::Fault;

struct Found {
  std::uint32_t blocks = 0;
  MapGeneration generation;
};

std::string reverse_key(const Draft& draft, std::uint64_t block) {
  return keys::reverse_map(draft.fs(),
                           static_cast<std::uint32_t>(block / draft.facts().group_blocks()), block);
}

// The extents of the file's present map that lie in the chunk of `file_block`.
Result<records::MapChunk> extents_at(Draft& draft, const records::Inode& inode, Ino ino,
                                     std::uint64_t file_block) {
  records::MapChunk out;
  if (!inode.chunked()) {
    *out.mutable_extents() = inode.extents();
    return out;
  }
  const std::string key = keys::map_chunk(draft.fs(), ino, MapGeneration{inode.map_generation()},
                                          file_block / draft.facts().chunk_blocks());
  SYMNAS_ASSIGN(const auto chunk, draft.rely_record<records::MapChunk>(key, "a map chunk"));
  return chunk.value_or(records::MapChunk());
}

std::uint64_t base_of(const Draft& draft, const records::Inode& inode, std::uint64_t file_block) {
  if (!inode.chunked()) return 0;
  return file_block / draft.facts().chunk_blocks() * draft.facts().chunk_blocks();
}

// The extent of the present map that begins there.
Result<std::optional<Found>> find_extent(Draft& draft, Ino ino, std::uint64_t block,
                                         std::uint64_t file_block) {
  SYMNAS_ASSIGN(const auto inode, draft.rely_inode(ino));
  if (!inode || inode->type() != static_cast<std::uint32_t>(FileType::kRegular))
    return std::optional<Found>();
  SYMNAS_ASSIGN(const records::MapChunk map, extents_at(draft, *inode, ino, file_block));
  const std::uint64_t base = base_of(draft, *inode, file_block);
  for (const records::Extent& extent : map.extents())
    if (extent.volume_block() == block && base + extent.file_block() == file_block)
      return std::optional<Found>({extent.blocks(), MapGeneration{inode->map_generation()}});
  return std::optional<Found>();
}

// Who may count the blocks as free, and has to read the group again.
Result<std::string> warning_of(Draft& draft, std::uint64_t block) {
  const auto group = static_cast<std::uint32_t>(block / draft.facts().group_blocks());
  SYMNAS_ASSIGN(const auto value, draft.snapshot().get(keys::group_owner(draft.fs(), group)));
  records::GroupOwner owner;
  if (!value || !owner.ParseFromString(value->value)) return std::string();
  const MountEntry* mount = draft.facts().alive(MountId{owner.mount()});
  if (mount == nullptr) return std::string();
  return fmt::format(
      "; {} allocates there and may count them as free: move its VNFS now (symnas vnfs rehost {}), "
      "which reads the group again; it may have written another file over them already: compare "
      "the file with a backup",
      describe(*mount), mount->record.vnfs());
}

// Whether the map of the file that an entry names is damaged: the entry may be all that tells where
// its bytes are.
bool is_map_in_doubt(const Draft& draft, Ino ino) {
  constexpr Fault kDoubts[] = {
      Fault::kExtent,  Fault::kUnreadableChunk, Fault::kGenerationAhead, Fault::kChunksUnsaid,
      Fault::kDeadMap, Fault::kUnknownType,     Fault::kUnreadableInode};
  return std::any_of(std::begin(kDoubts), std::end(kDoubts),
                     [&](Fault fault) { return draft.facts().has(ino, fault); });
}

// Whether the entry at the block, which is replaced, may be needed by another file.
Result<bool> is_anothers(Draft& draft, Ino ino, std::uint64_t block) {
  SYMNAS_ASSIGN(const auto value, draft.rely(reverse_key(draft, block)));
  records::ReverseMap entry;
  return value && entry.ParseFromString(*value) && entry.ino() != ino.value() &&
         is_map_in_doubt(draft, Ino{entry.ino()});
}

// Erases an entry that has some blocks of the run, if nothing leads to it. False: something may, or
// other blocks would be free that are in use.
Result<bool> erase_among(Draft& draft, std::uint64_t at, std::uint64_t begin, std::uint64_t end) {
  const std::string key = reverse_key(draft, at);
  SYMNAS_ASSIGN(const auto entry, draft.rely_record<records::ReverseMap>(key, "another entry"));
  const Facts& facts = draft.facts();
  if (!entry || !facts.has_value(Fault::kReverseLost, at)) return false;
  SYMNAS_ASSIGN(const auto inode, draft.rely(keys::inode(draft.fs(), Ino{entry->ino()})));
  const std::uint64_t after = at + entry->blocks();
  if (inode || facts.named.contains(entry->ino()) || (at < begin && facts.unmarked(at, begin)) ||
      (after > end && facts.unmarked(end, after)))
    return false;
  SYMNAS_TRY(draft.erase(key));
  return true;
}

// Erases what is marked among the blocks, but for the entry at `begin`. False: as erase_among().
Result<bool> clear_run(Draft& draft, std::uint64_t begin, std::uint64_t end) {
  const std::uint64_t group = begin / draft.facts().group_blocks() * draft.facts().group_blocks();
  const std::uint64_t from = std::max(group, begin - std::min(begin, kExtentBlocksMax));
  kv::KeyRange around{reverse_key(draft, from), reverse_key(draft, end - 1)};
  around.end.push_back('\0');
  SYMNAS_ASSIGN(const auto entries, draft.snapshot().range(around, 0));
  for (const kv::KeyValue& kv : entries) {
    records::ReverseMap entry;
    const std::uint64_t at = read_be64(kv.key, kv.key.size() - 8);
    if (at == begin) continue;
    if (at < begin && (!entry.ParseFromString(kv.value) || at + entry.blocks() <= begin)) continue;
    SYMNAS_ASSIGN(const bool erased, erase_among(draft, at, begin, end));
    if (!erased) return false;
  }
  draft.rely_unchanged(std::move(around));
  return true;
}

// Marks the blocks of an extent as used.
Result<Step> mark_used(Draft draft) {
  const Ino ino = draft.finding().ino;
  const std::uint64_t block = draft.damage().value;
  if (draft.facts().has_two_owners(ino))
    return std::move(draft).refuse("whose blocks they are is in doubt: see two_owners");
  SYMNAS_ASSIGN(const auto extent, find_extent(draft, ino, block, draft.damage().other));
  if (!extent)
    return std::move(draft).refuse(
        "the extent is not in the file's present map: its other findings first");
  SYMNAS_ASSIGN(const bool anothers, is_anothers(draft, ino, block));
  if (anothers)
    return std::move(draft).refuse(
        "the reverse map gives the blocks to a file whose own map cannot be read: restore that "
        "file's keys from an etcd snapshot, then run the repair again");
  SYMNAS_ASSIGN(const bool cleared, clear_run(draft, block, block + extent->blocks));
  if (!cleared)
    return std::move(draft).refuse(
        "another entry of the reverse map has some of the blocks, and its owner may need it: "
        "restore both files' keys from an etcd snapshot, or copy both files and remove them");
  records::ReverseMap entry;
  entry.set_ino(ino.value());
  entry.set_map_generation(extent->generation.value());
  entry.set_file_block(draft.damage().other);
  entry.set_blocks(extent->blocks);
  SYMNAS_TRY(draft.put(reverse_key(draft, block), entry.SerializeAsString()));
  SYMNAS_ASSIGN(const std::string warning, warning_of(draft, block));
  return std::move(draft).repair(
      Order::kMarkUsed, fmt::format("marks volume blocks {} to {} as the file's, as its map says{}",
                                    block, block + extent->blocks - 1, warning));
}

constexpr std::string_view kMarksFirst =
    "files have some of the blocks, but are not marked as their owners (see reverse_map): that "
    "first";

Result<Step> erase_entry(Draft draft, std::uint64_t blocks, std::string text) {
  const std::uint64_t block = draft.damage().value;
  if (draft.facts().unmarked(block, block + blocks))
    return std::move(draft).later(std::string(kMarksFirst));
  SYMNAS_TRY(draft.erase(reverse_key(draft, draft.damage().value)));
  return std::move(draft).repair(Order::kFrees, std::move(text));
}

// Whether the present map has all these blocks of the file (somewhere else).
Result<bool> is_mapped(Draft& draft, const records::Inode& inode, Ino ino, std::uint64_t begin,
                       std::uint64_t end) {
  while (begin < end) {
    SYMNAS_ASSIGN(const records::MapChunk map, extents_at(draft, inode, ino, begin));
    const std::uint64_t base = base_of(draft, inode, begin);
    const auto extent =
        std::find_if(map.extents().begin(), map.extents().end(), [&](const records::Extent& e) {
          return base + e.file_block() <= begin && begin < base + e.file_block() + e.blocks();
        });
    if (extent == map.extents().end()) return false;
    begin = base + extent->file_block() + extent->blocks();
  }
  return true;
}

constexpr std::string_view kFrees = "frees the blocks: nothing leads to them";

Result<Step> lost_of_living(Draft draft, const records::Inode& inode,
                            const records::ReverseMap& entry) {
  const Ino ino{entry.ino()};
  const std::string frees(kFrees);
  if (is_map_in_doubt(draft, ino))
    return std::move(draft).refuse(
        "the file's map is damaged, and the entry may tell where its bytes are: its other "
        "findings first");
  if (inode.type() != static_cast<std::uint32_t>(FileType::kRegular))
    return erase_entry(std::move(draft), entry.blocks(), frees);
  if (entry.map_generation() > inode.map_generation())
    return std::move(draft).refuse(
        "it is of a map that the file does not have yet: restore the "
        "file's record from an etcd snapshot");
  if (entry.map_generation() < inode.map_generation())
    return erase_entry(std::move(draft), entry.blocks(), frees);
  const std::uint64_t size = inode.size_bytes();
  const std::uint64_t bytes = draft.facts().block_bytes();
  const std::uint64_t blocks = size / bytes + (size % bytes == 0 ? 0 : 1);
  const std::uint64_t end = std::min(entry.file_block() + entry.blocks(), blocks);
  if (entry.file_block() >= blocks) return erase_entry(std::move(draft), entry.blocks(), frees);
  SYMNAS_ASSIGN(const bool mapped, is_mapped(draft, inode, ino, entry.file_block(), end));
  if (mapped) return erase_entry(std::move(draft), entry.blocks(), frees);
  return std::move(draft).refuse(fmt::format(
      "the file has a hole there, bytes {} to {}: the entry may be all that tells where they are, "
      "but not which of them were written; restore the file's map chunk from an etcd snapshot, or "
      "remove the file",
      entry.file_block() * bytes, end * bytes - 1));
}

Result<Step> lost(Draft draft) {
  SYMNAS_ASSIGN(const auto entry, draft.rely_record<records::ReverseMap>(
                                      reverse_key(draft, draft.damage().value), "the entry"));
  if (!entry) return std::move(draft).later("look again: it is gone");
  const Ino ino{entry->ino()};
  SYMNAS_ASSIGN(const auto inode, draft.rely_inode(ino));
  if (inode) return lost_of_living(std::move(draft), *inode, *entry);
  if (draft.facts().named.contains(ino.value()))
    return std::move(draft).later(
        "a name leads to the missing inode: restore that from an etcd snapshot now, if it shall "
        "be; else the name is removed first, then its blocks are freed");
  return erase_entry(std::move(draft), entry->blocks(), std::string(kFrees));
}

Result<Step> unreadable(Draft draft) {
  const Facts& facts = draft.facts();
  if (facts.has_value(Fault::kReverseMissing, draft.damage().value))
    return std::move(draft).later("the file's map tells what it said: see there");
  if (!facts.all_known || facts.has(Fault::kUnreadableInode) ||
      facts.has(Fault::kUnreadableChunk) || facts.has(Fault::kUnknownType))
    return std::move(draft).refuse("not every map could be read: one of them may have the blocks");
  // How many blocks it had is not known.
  return erase_entry(std::move(draft), kExtentBlocksMax,
                     "erases it: no file's map has a block there");
}

Result<Step> misplaced(Draft draft) {
  if (draft.facts().has(draft.finding().ino, Fault::kExtent))
    return std::move(draft).refuse("the file's map says the same: see there");
  const auto group = static_cast<std::uint32_t>(draft.damage().other);
  const std::string key = keys::reverse_map(draft.fs(), group, draft.damage().value);
  SYMNAS_ASSIGN(const auto entry, draft.rely_record<records::ReverseMap>(key, "the entry"));
  if (!entry) return std::move(draft).later("look again: it is gone");
  if (draft.facts().unmarked(draft.damage().value, draft.damage().value + entry->blocks()))
    return std::move(draft).later(std::string(kMarksFirst));
  SYMNAS_TRY(draft.erase(key));
  return std::move(draft).repair(Order::kFrees, "erases the entry, which nobody looks for there");
}

std::string path_of(const Draft& draft, Ino ino) {
  const auto path = draft.facts().report->paths.find(ino.value());
  return path == draft.facts().report->paths.end() ? fmt::format("inode {}", ino.value())
                                                   : path->second;
}

Result<Step> two_owners(Draft draft) {
  const std::uint64_t block = draft.damage().value;
  SYMNAS_ASSIGN(const auto value, draft.snapshot().get(reverse_key(draft, block)));
  records::ReverseMap entry;
  const std::string marked =
      value && entry.ParseFromString(value->value)
          ? fmt::format("the reverse map names {}", path_of(draft, Ino{entry.ino()}))
          : "the reverse map names neither";
  const std::string one = path_of(draft, draft.finding().ino);
  const std::string other = path_of(draft, Ino{draft.damage().other});
  return std::move(draft).refuse(fmt::format(
      "whose bytes are there now cannot be proved ({} and {}; {}): copy both files to another "
      "filesystem, compare the copies with a backup, and remove both; then run the repair again",
      one, other, marked));
}

}  // namespace

Result<Step> repair_space(Draft draft) {
  switch (draft.damage().fault) {
    case Fault::kReverseMissing:
    case Fault::kReverseDiffers: return mark_used(std::move(draft));
    case Fault::kReverseLost: return lost(std::move(draft));
    case Fault::kUnreadableReverse: return unreadable(std::move(draft));
    case Fault::kReverseOverlaps:
      if (draft.facts().has_value(Fault::kReverseLost, draft.damage().value))
        return std::move(draft).later("no extent has these blocks: see lost_space");
      return std::move(draft).refuse(
          "both entries have an extent: whose blocks they are cannot be proved; see two_owners of "
          "the files");
    case Fault::kReverseMisplaced: return misplaced(std::move(draft));
    case Fault::kTwoOwners: return two_owners(std::move(draft));
    default: return std::move(draft).refuse("no repair is known");
  }
}

}  // namespace symnas::fs::repair
