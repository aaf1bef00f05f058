// InodeTable: the values of every inode with which other tables are compared; 72 bytes each. Thread
// class: thread-compatible. Invariant: rows are ascending by number.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "common/base/ids.h"
#include "fsal_cluster/types/types.h"

namespace symnas::fs::check {

struct InodeRow {
  static constexpr std::uint32_t kNoRow = 0xffffffff;
  static constexpr std::uint8_t kUnreadable = 0;  // the record says nothing: no rule applies

  std::uint64_t ino = 0;
  std::uint64_t size_bytes = 0;
  std::uint64_t parent = 0;  // directories
  std::uint64_t generation = 0;
  std::int64_t blocks_not_met = 0;  // used_blocks of the record less the blocks in the map
  std::uint64_t name_hash = 0;      // with name_row: a bucket that has one of its names
  std::uint32_t name_row = kNoRow;  // row of the directory that has this name
  std::uint32_t nlink = 0;
  std::uint32_t names = 0;  // names that lead to it
  std::uint32_t map_generation = 0;
  std::uint32_t tree = 0;           // its number, which may be that of none
  std::uint8_t type = kUnreadable;  // FileType
  bool chunked = false;
  bool trimming = false;  // has a trim_block
  bool reached = false;   // the walk to the root has met it

  bool is(FileType wanted) const { return type == static_cast<std::uint8_t>(wanted); }
  bool readable() const { return type != kUnreadable; }
};

class InodeTable {
 public:
  // REQUIRES: a larger number than all before. The reference lives until the next call.
  InodeRow& add(Ino ino);
  InodeRow* find(Ino ino);
  std::uint32_t index_of(const InodeRow& row) const {
    return static_cast<std::uint32_t>(&row - rows_.data());
  }
  InodeRow& at(std::uint32_t index) { return rows_[index]; }
  std::vector<InodeRow>& rows() { return rows_; }

 private:
  std::vector<InodeRow> rows_;
};

}  // namespace symnas::fs::check
