#include "tests/sim/product_check.h"

#include "common/kv/keys.h"
#include "fsal_cluster/check/checker.h"

namespace symnas::sim {

fs::check::Context product_context(const std::vector<kv::KeyValue>& dump, FsId fs,
                                   std::uint64_t volume_blocks) {
  fs::check::Context context;
  context.volume_blocks = volume_blocks;
  for (const kv::KeyValue& kv : dump) {
    fs::records::FilesystemRecord record;
    if (kv::contains(kv::prefix_range(kv::keys::kFilesystems), kv.key) &&
        record.ParseFromString(kv.value) && record.fsid() == fs.value()) {
      context.filesystem = record;
    }
  }
  return context;
}

std::vector<fs::check::Finding> product_findings(const std::vector<kv::KeyValue>& dump,
                                                 const fs::check::Context& context) {
  fs::check::Checker checker(context);
  for (const kv::KeyRange& range : fs::check::ranges_in_order(context.fs())) {
    for (const kv::KeyValue& kv : dump) {
      if (kv::contains(range, kv.key)) checker.take(kv);
    }
  }
  checker.finish();
  return checker.findings().kept();
}

std::string check_as_product(const kv::MemServer& server, FsId fs, std::uint64_t volume_blocks,
                             Moment moment, Unswept unswept) {
  const std::vector<kv::KeyValue> dump = server.dump();
  const fs::check::Context context = product_context(dump, fs, volume_blocks);
  for (const fs::check::Finding& finding : product_findings(dump, context)) {
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
