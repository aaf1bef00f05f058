#include "tests/unit/fsal_cluster/data/file_world_check.h"

#include <gtest/gtest.h>

#include "fsal_cluster/check/checker.h"

namespace symnas::fs::test {
namespace {

constexpr FsId kFs = FileWorld::kFs;

check::Context context_of(const WorldOptions& options) {
  check::Context context;
  context.filesystem.set_fsid(kFs.value());
  context.filesystem.set_name_hash_key(std::string(16, 'k'));
  context.filesystem.set_block_bytes(kBlockBytes);
  context.filesystem.set_group_blocks(options.group_blocks);
  context.volume_blocks = options.volume_bytes / kBlockBytes;
  return context;
}

// True for findings that a FileWorld can have. It has no names, no root and no counters; some tests
// write maps into groups that no mount has claimed; the records of ended mounts stay.
bool concerns_files(const check::Finding& finding) {
  switch (finding.kind) {
    case check::Kind::kTree:
    case check::Kind::kName:
    case check::Kind::kLinks:
    case check::Kind::kCounter:
    case check::Kind::kGroup: return false;
    default: return !finding.passing;
  }
}

}  // namespace

void expect_consistent(const std::vector<kv::KeyValue>& kvs, const WorldOptions& options) {
  check::Checker checker(context_of(options));
  for (const kv::KeyRange& range : check::ranges_in_order(kFs))
    for (const kv::KeyValue& kv : kvs)
      if (kv::contains(range, kv.key)) checker.take(kv);
  checker.finish();
  for (const check::Finding& finding : checker.findings().kept())
    if (concerns_files(finding))
      ADD_FAILURE() << check::word(finding.kind) << " inode " << finding.ino.value() << ": "
                    << finding.text;
}

}  // namespace symnas::fs::test
