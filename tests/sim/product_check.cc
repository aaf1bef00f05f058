#include "tests/sim/product_check.h"

#include <vector>

#include "common/kv/keys.h"
#include "fsal_cluster/check/checker.h"

namespace symnas::sim {

std::string check_as_product(const kv::MemServer& server, FsId fs, std::uint64_t volume_blocks,
                             Moment moment, Unswept unswept) {
  const std::vector<kv::KeyValue> dump = server.dump();
  fs::check::Context context;
  context.volume_blocks = volume_blocks;
  for (const kv::KeyValue& kv : dump) {
    fs::records::FilesystemRecord record;
    if (kv::contains(kv::prefix_range(kv::keys::kFilesystems), kv.key) &&
        record.ParseFromString(kv.value) && record.fsid() == fs.value()) {
      context.filesystem = record;
    }
  }
  fs::check::Checker checker(context);
  for (const kv::KeyRange& range : fs::check::ranges_in_order(fs)) {
    for (const kv::KeyValue& kv : dump) {
      if (kv::contains(range, kv.key)) checker.take(kv);
    }
  }
  checker.finish();
  for (const fs::check::Finding& finding : checker.findings().kept()) {
    if (finding.passing && moment == Moment::kAny) continue;
    if (finding.passing && finding.text.starts_with("has directory times")) {
      if (unswept.refused.contains(kv::keys::directory_times(fs, finding.ino))) continue;
      if (unswept.died > 0) {
        --unswept.died;
        continue;
      }
    }
    return "checker: " + std::string(fs::check::word(finding.kind)) + " inode " +
           std::to_string(finding.ino.value()) + ": " + finding.text;
  }
  return {};
}

}  // namespace symnas::sim
