#include <fmt/core.h>

#include "fsal_cluster/repair/limits.h"
#include "fsal_cluster/repair/repairs.h"

namespace symnas::fs::repair {
namespace {

namespace keys = kv::keys;
using check::Fault;

constexpr Fault kMapFaults[] = {
    Fault::kExtent,      Fault::kUnreadableChunk, Fault::kGenerationAhead,
    Fault::kDeadMap,     Fault::kChunksUnsaid,    Fault::kEmptyChunk,
    Fault::kReverseLost, Fault::kMapBehindEnd,    Fault::kTwoOwners};

// Why the file's map must not be changed now; nullopt: no mount relies on what it remembers of it.
Result<std::optional<std::string>> hindrance(Draft& draft, Ino ino) {
  SYMNAS_TRY(draft.rely_mounts());
  if (draft.facts().any_alive() == nullptr) return std::optional<std::string>();
  SYMNAS_ASSIGN(const auto solo, draft.rely(keys::solo(draft.fs())));
  if (solo)
    return std::optional<std::string>(fmt::format(
        "{} is alone with the filesystem and remembers the file's map: stop its VNFS (symnas vnfs "
        "stop), or export the filesystem by a second one, then run the repair again",
        describe(*draft.facts().any_alive())));
  const kv::KeyRange tokens = kv::prefix_range(keys::token_prefix(draft.fs(), ino));
  SYMNAS_ASSIGN(const auto held, draft.snapshot().range(tokens, 1));
  if (!held.empty())
    return std::optional<std::string>(
        "a mount has a token of the file and remembers its map: run the repair again when nobody "
        "has used the file for 15 s");
  draft.rely_absent(tokens);
  return std::optional<std::string>();
}

Result<Step> block_count(Draft draft) {
  const Ino ino = draft.finding().ino;
  for (const Fault fault : kMapFaults)
    if (draft.facts().has(ino, fault))
      return std::move(draft).later("only the whole map can be counted: its other findings first");
  if (!draft.facts().all_known) return std::move(draft).later("not all findings are known yet");
  SYMNAS_ASSIGN(auto inode, draft.rely_inode(ino));
  if (!inode) return std::move(draft).later("look again: it is gone");
  const auto more = static_cast<std::int64_t>(draft.damage().value);
  const auto used =
      static_cast<std::uint64_t>(static_cast<std::int64_t>(inode->used_blocks()) - more);
  const std::uint64_t before = inode->used_blocks();
  inode->set_used_blocks(used);
  SYMNAS_TRY(draft.put_inode(ino, *inode));
  return std::move(draft).repair(
      Order::kCounts, fmt::format("sets the count of blocks from {} to {}", before, used));
}

Result<Step> map_of_no_file(Draft draft) {
  const Ino ino = draft.finding().ino;
  SYMNAS_ASSIGN(auto inode, draft.rely_inode(ino));
  if (!inode) return std::move(draft).later("look again: it is gone");
  if (inode->extents_size() > 0 || inode->chunked() || inode->has_trim_block())
    return std::move(draft).refuse(
        "its type may be the wrong one, not its map: restore its record from an etcd snapshot");
  inode->set_used_blocks(0);
  SYMNAS_TRY(draft.put_inode(ino, *inode));
  return std::move(draft).repair(Order::kCounts, "clears the count of blocks: it has none");
}

// A chunk of the map generation is there, and stays. False: it is gone.
Result<bool> rely_chunk(Draft& draft, Ino ino, MapGeneration generation) {
  SYMNAS_ASSIGN(
      const auto chunks,
      draft.snapshot().range(kv::prefix_range(keys::map_prefix(draft.fs(), ino, generation)), 1));
  if (chunks.empty()) return false;
  SYMNAS_TRY(draft.rely(chunks.front().key));
  return true;
}

constexpr std::string_view kNotCounted =
    "it has a watermark and an older map, and its blocks are not counted then: the older map may "
    "be "
    "the right one; restore its record from an etcd snapshot";

Result<Step> dead_map(Draft draft) {
  const Ino ino = draft.finding().ino;
  if (draft.facts().has(ino, Fault::kBlockCount))
    return std::move(draft).refuse(
        "its count of blocks does not fit its present map: the older map may be the right one; "
        "restore its record from an etcd snapshot");
  if (const auto why = draft.facts().why_not_swept(ino)) return std::move(draft).refuse(*why);
  SYMNAS_ASSIGN(const auto inode, draft.rely_inode(ino));
  if (!inode) return std::move(draft).later("look again: it is gone");
  if (inode->has_trim_block()) return std::move(draft).refuse(std::string(kNotCounted));
  const MapGeneration dead{static_cast<std::uint32_t>(draft.damage().value)};
  SYMNAS_ASSIGN(const bool there_still, rely_chunk(draft, ino, dead));
  if (!there_still) return std::move(draft).later("look again: the old map is gone");
  const std::string key = keys::orphan(draft.fs(), ino);
  SYMNAS_ASSIGN(const auto there, draft.rely_record<records::Orphan>(key, "its orphan record"));
  if (there && !there->truncated())
    return std::move(draft).later("its orphan record is repaired first");
  records::Orphan orphan = there.value_or(records::Orphan());
  orphan.set_generation(inode->generation());
  orphan.set_truncated(true);
  orphan.set_map_generation(dead.value());
  SYMNAS_TRY(draft.put(key, orphan.SerializeAsString()));
  return std::move(draft).repair(
      Order::kFrees, "puts the orphan record: the next mount of the filesystem frees the old map");
}

Result<Step> map_of_nothing(Draft draft) {
  const Ino ino = draft.finding().ino;
  SYMNAS_ASSIGN(const auto inode, draft.rely(keys::inode(draft.fs(), ino)));
  const std::string key = keys::orphan(draft.fs(), ino);
  SYMNAS_ASSIGN(const auto there, draft.rely_record<records::Orphan>(key, "its orphan record"));
  if (inode || (there && (there->open() || there->truncated())))
    return std::move(draft).later("its inode or orphan record comes first");
  if (draft.facts().named.contains(ino.value()))
    return std::move(draft).later(
        "a name leads to it: restore its inode from an etcd snapshot now, if that shall be; else "
        "the name is removed first, then its blocks are freed");
  if (const auto why = draft.facts().why_not_swept(ino)) return std::move(draft).refuse(*why);
  const MapGeneration dead{static_cast<std::uint32_t>(draft.damage().value)};
  SYMNAS_ASSIGN(const bool there_still, rely_chunk(draft, ino, dead));
  if (!there_still) return std::move(draft).later("look again: the map is gone");
  records::Orphan orphan = there.value_or(records::Orphan());
  orphan.set_map_generation(dead.value());
  SYMNAS_TRY(draft.put(key, orphan.SerializeAsString()));
  return std::move(draft).repair(
      Order::kFrees, "puts the orphan record: the next mount of the filesystem frees the map");
}

Result<Step> chunks_unsaid(Draft draft) {
  const Ino ino = draft.finding().ino;
  SYMNAS_ASSIGN(const auto hindered, hindrance(draft, ino));
  if (hindered) return std::move(draft).refuse(*hindered);
  SYMNAS_ASSIGN(auto inode, draft.rely_inode(ino));
  if (!inode) return std::move(draft).later("look again: it is gone");
  if (inode->extents_size() > 0)
    return std::move(draft).refuse(
        "it has two maps, and which one is meant cannot be proved: restore its record from an etcd "
        "snapshot");
  inode->set_chunked(true);
  SYMNAS_TRY(draft.put_inode(ino, *inode));
  return std::move(draft).repair(Order::kCounts, "says that its map is in chunks: it has no other");
}

Result<Step> empty_chunk(Draft draft) {
  const Ino ino = draft.finding().ino;
  SYMNAS_ASSIGN(const auto hindered, hindrance(draft, ino));
  if (hindered) return std::move(draft).refuse(*hindered);
  SYMNAS_ASSIGN(const auto inode, draft.rely_inode(ino));
  const MapGeneration generation{static_cast<std::uint32_t>(draft.damage().other)};
  SYMNAS_TRY(draft.erase(keys::map_chunk(draft.fs(), ino, generation, draft.damage().value)));
  // A READ without a token looks whether the record has changed.
  if (inode) SYMNAS_TRY(draft.put_inode(ino, *inode));
  return std::move(draft).repair(Order::kCounts, "erases the empty chunk");
}

Result<Step> watermark(Draft draft) {
  const Ino ino = draft.finding().ino;
  if (const auto why = draft.facts().why_not_swept(ino)) return std::move(draft).refuse(*why);
  SYMNAS_ASSIGN(const auto inode, draft.rely_inode(ino));
  if (!inode) return std::move(draft).later("look again: it is gone");
  // The record would have the older map swept, too.
  if (draft.facts().has(ino, Fault::kDeadMap))
    return std::move(draft).refuse(std::string(kNotCounted));
  records::Orphan orphan;
  orphan.set_generation(inode->generation());
  orphan.set_map_generation(inode->map_generation() - 1);
  orphan.set_truncated(true);
  SYMNAS_TRY(draft.put(keys::orphan(draft.fs(), ino), orphan.SerializeAsString()));
  return std::move(draft).repair(
      Order::kFrees,
      "puts the orphan record: the next mount of the filesystem frees what lies above");
}

}  // namespace

Result<Step> repair_map(Draft draft) {
  switch (draft.damage().fault) {
    case Fault::kUnreadableChunk:
      return std::move(draft).refuse(
          "where these bytes of the file lie is known (the reverse map), which of them were "
          "written is not: restore the key from an etcd snapshot, or the file from a backup");
    case Fault::kExtent:
      return std::move(draft).refuse(
          "where these bytes of the file lie cannot be proved: restore its record from an etcd "
          "snapshot, or the file from a backup");
    case Fault::kMapBehindEnd:
      return std::move(draft).refuse(
          "whether its size or its map is wrong cannot be proved: look at the file, and set its "
          "size from a client (truncate)");
    case Fault::kGenerationAhead:
      return std::move(draft).refuse(
          "which of both generations is right cannot be proved: restore its records from an etcd "
          "snapshot, or the file from a backup");
    case Fault::kBlockCount: return block_count(std::move(draft));
    case Fault::kMapOfNoFile: return map_of_no_file(std::move(draft));
    case Fault::kDeadMap: return dead_map(std::move(draft));
    case Fault::kMapOfNothing: return map_of_nothing(std::move(draft));
    case Fault::kChunksUnsaid: return chunks_unsaid(std::move(draft));
    case Fault::kEmptyChunk: return empty_chunk(std::move(draft));
    case Fault::kWatermark: return watermark(std::move(draft));
    default: return std::move(draft).refuse("no repair is known");
  }
}

}  // namespace symnas::fs::repair
