#include "fsal_cluster/check/usage.h"

#include "common/kv/keys.h"
#include "fsal_cluster/check/checker.h"
#include "fsal_cluster/types/types.h"

namespace symnas::fs::check {
namespace {

// An unreadable record counts among `others`: `symnas fs check` says what is wrong with it.
void count_inode(const std::string& value, Summary& out) {
  records::Inode inode;
  const auto type =
      inode.ParseFromString(value) ? static_cast<FileType>(inode.type()) : FileType::kFifo;
  if (type == FileType::kRegular) {
    ++out.files;
  } else if (type == FileType::kDirectory) {
    ++out.directories;
  } else {
    ++out.others;
  }
}

}  // namespace

Result<Summary> count_usage(View& view) {
  const FsId fs = view.context().fs();
  const std::string inodes = kv::keys::table(fs, 'w', 'I');
  const std::string reverse_map = kv::keys::table(fs, 'u', 'R');
  Summary out;
  // Not as one range: for every page the store counts what is left of the range.
  for (const kv::KeyRange& range : ranges_in_order(fs)) {
    SYMNAS_TRY(view.read(range, [&](const kv::KeyValue& kv) {
      ++out.keys;
      out.bytes += kv.key.size() + kv.value.size();
      if (range.key == inodes) {
        count_inode(kv.value, out);
      } else if (range.key == reverse_map) {
        records::ReverseMap record;
        if (record.ParseFromString(kv.value)) out.used_blocks += record.blocks();
      }
    }));
  }
  return out;
}

}  // namespace symnas::fs::check
