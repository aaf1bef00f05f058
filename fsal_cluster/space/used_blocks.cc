#include "fsal_cluster/space/used_blocks.h"

#include <algorithm>

#include "common/base/bytes.h"
#include "common/kv/keys.h"
#include "fsal_cluster/schema/records.pb.h"
#include "fsal_cluster/space/each_key.h"

namespace symnas::fs {

namespace keys = kv::keys;

Result<UsedBlocks> read_used_blocks(kv::Session& session, FsId fs,
                                    std::optional<std::uint32_t> group,
                                    std::uint64_t group_blocks) {
  const std::string table = keys::table(fs, 'u', 'R');
  const std::string prefix = group ? keys::reverse_map_group(fs, *group) : table;
  UsedBlocks out;
  std::optional<std::uint64_t> unreadable;
  const auto end_unreadable = [&](std::uint64_t next) {
    if (!unreadable) return;
    const std::uint64_t group_end = (*unreadable / group_blocks + 1) * group_blocks;
    out.unreadable.push_back({*unreadable, std::min(next, group_end) - *unreadable});
    unreadable.reset();
  };
  SYMNAS_TRY(each_key(session, kv::prefix_range(prefix), [&](const kv::KeyValue& kv) -> Status {
    if (kv.key.size() < table.size() + 12) return {};
    const std::uint64_t block = read_be64(kv.key, table.size() + 4);
    if (block / group_blocks != read_be32(kv.key, table.size())) return {};
    end_unreadable(block);
    // A key that goes on behind the block, or an entry of no block, lies in the way of whoever
    // takes what follows.
    records::ReverseMap record;
    const std::uint64_t room = group_blocks - block % group_blocks;
    if (kv.key.size() == table.size() + 12 && record.ParseFromString(kv.value) &&
        record.blocks() > 0 && record.blocks() <= room) {
      out.recorded.push_back({block, record.blocks()});
    } else {
      unreadable = block;
    }
    return {};
  }));
  end_unreadable(UINT64_MAX);
  return out;
}

}  // namespace symnas::fs
