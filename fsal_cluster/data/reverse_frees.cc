#include "fsal_cluster/data/reverse_frees.h"

#include <iterator>

#include "common/base/log.h"

namespace symnas::fs {

std::string ReverseFrees::value(const ReverseChange& change, std::uint32_t blocks) const {
  records::ReverseMap value;
  value.set_ino(ino_.value());
  value.set_map_generation(generation_.value());
  value.set_file_block(change.file_block);
  value.set_blocks(blocks);
  return value.SerializeAsString();
}

bool ReverseFrees::is_anothers(std::uint64_t volume_block) const {
  const auto next = anothers_.upper_bound(volume_block);
  if (next == anothers_.begin()) return false;
  const auto& [first, blocks] = *std::prev(next);
  return volume_block < first + blocks;
}

std::vector<BlockRun> ReverseFrees::add(const std::vector<ReverseChange>& changes,
                                        const std::vector<BlockRun>& freed,
                                        kv::Mutation& mutation) const {
  for (const ReverseChange& change : changes) {
    if (is_anothers(change.volume_block)) continue;
    const std::string key = context_.space->reverse_key(change.volume_block);
    mutation.writes.push_back(
        change.new_blocks == 0 ? kv::erase(key) : kv::put(key, value(change, change.new_blocks)));
    if (change.new_blocks == change.old_blocks) continue;  // the right part of an extent cut in two
    mutation.compares.push_back(kv::value_is(key, value(change, change.old_blocks)));
  }
  std::vector<BlockRun> own;
  for (const BlockRun& run : freed)
    if (!is_anothers(run.start)) own.push_back(run);
  return own;
}

Result<bool> ReverseFrees::look(const std::vector<ReverseChange>& changes) {
  bool found = false;
  for (const ReverseChange& change : changes) {
    if (change.new_blocks == change.old_blocks || is_anothers(change.volume_block)) continue;
    const std::string key = context_.space->reverse_key(change.volume_block);
    SYMNAS_ASSIGN(const kv::OpResult read, context_.session.range(kv::single_key(key), 1));
    if (!read.kvs.empty() && read.kvs.front().value == value(change, change.old_blocks)) continue;
    anothers_[change.volume_block] = change.old_blocks;
    found = true;
  }
  return found;
}

void ReverseFrees::log_left(const std::vector<ReverseChange>& changes) const {
  std::size_t left = 0;
  std::uint64_t first = 0;
  for (const ReverseChange& change : changes)
    if (is_anothers(change.volume_block) && left++ == 0) first = change.volume_block;
  if (left == 0) return;
  log::warn(
      "inode {}: the reverse map does not give it {} of its extents (the first at volume block "
      "{}): they have left its map, their blocks are not freed; run symnas fs check",
      ino_.value(), left, first);
}

Task<Result<bool>> ReverseFrees::look_async(const std::vector<ReverseChange>& changes) {
  Awaited<Result<bool>> answer;
  context_.background->post([this, &changes, &answer] { answer.deliver(look(changes)); });
  Result<bool> more = co_await answer;
  co_return more;
}

}  // namespace symnas::fs
