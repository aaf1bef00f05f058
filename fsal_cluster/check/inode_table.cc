#include "fsal_cluster/check/inode_table.h"

#include <algorithm>

#include "common/base/check.h"

namespace symnas::fs::check {

InodeRow& InodeTable::add(Ino ino) {
  CHECK(rows_.empty() || rows_.back().ino < ino.value(), "inodes are fed in ascending order");
  InodeRow& row = rows_.emplace_back();
  row.ino = ino.value();
  return row;
}

InodeRow* InodeTable::find(Ino ino) {
  const auto it =
      std::lower_bound(rows_.begin(), rows_.end(), ino.value(),
                       [](const InodeRow& row, std::uint64_t value) { return row.ino < value; });
  return it != rows_.end() && it->ino == ino.value() ? &*it : nullptr;
}

}  // namespace symnas::fs::check
