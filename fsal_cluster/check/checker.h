// Checker: checks whether the records of one filesystem are consistent. It is given every key of
// one revision, table by table, and returns findings. Pure: no store, clock or thread. It shares
// the parsing of records and the names of keys with the write path, nothing else.
//
// Thread class: thread-compatible. Memory: 72 bytes per inode, 32 per extent, and the records of
// what mounts hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/kv/store.h"
#include "fsal_cluster/check/blocks.h"
#include "fsal_cluster/check/context.h"
#include "fsal_cluster/check/finding.h"
#include "fsal_cluster/check/holders.h"
#include "fsal_cluster/check/inode_table.h"
#include "fsal_cluster/check/limits.h"
#include "fsal_cluster/check/names.h"
#include "fsal_cluster/check/orphans.h"
#include "fsal_cluster/check/quota_usage.h"
#include "fsal_cluster/check/xattrs.h"

namespace symnas::fs::check {

// All key ranges below the filesystem's prefix, in the order in which a Checker needs them. The
// last ones lie between the tables and should be empty.
std::vector<kv::KeyRange> ranges_in_order(FsId fs);

class Checker {
 public:
  explicit Checker(Context context, std::size_t findings_max = kFindingsMax);
  Checker(const Checker&) = delete;
  Checker& operator=(const Checker&) = delete;

  // REQUIRES: the order of ranges_in_order(), keys ascending within a range.
  void take(const kv::KeyValue& kv);
  // Called after the last key: from then on findings and counts are complete.
  void finish();

  const Findings& findings() const { return findings_; }
  const Summary& summary() const { return summary_; }

  // A directory that has a name of the inode, for paths. nullopt: no name is known, or it is the
  // root.
  struct NameAt {
    Ino directory;
    std::uint64_t hash = 0;
  };
  std::optional<NameAt> name_of(Ino ino);
  // 0: there is none.
  std::uint64_t highest_ino() { return inodes_.rows().empty() ? 0 : inodes_.rows().back().ino; }

 private:
  void take_watched(char table, const kv::KeyValue& kv, std::string_view ids);
  void take_unwatched(char table, const kv::KeyValue& kv, std::string_view ids);
  void take_stamp(const kv::KeyValue& kv);
  void take_inode(Ino ino, const kv::KeyValue& kv);
  void check_inode(InodeRow& row, const records::Inode& inode);
  void check_file(InodeRow& row, const records::Inode& inode);
  void count(const InodeRow& row);
  void take_times(Ino ino, const kv::KeyValue& kv);
  void take_mount(const kv::KeyValue& kv, std::string_view ids);
  void take_next_ino(std::string_view value);
  void take_claim(std::string_view value);
  void wrong_key(const kv::KeyValue& kv);

  const Context context_;
  const std::string prefix_;
  Findings findings_;
  Summary summary_;
  InodeTable inodes_;
  Orphans orphans_;
  Names names_;
  Blocks blocks_;
  Holders holders_;
  Xattrs xattrs_;
  QuotaUsage quota_usage_;
  std::vector<std::uint64_t> trimming_;
  std::optional<std::int64_t> stamp_ns_;
  Revision stamp_revision_;
  Revision watched_revision_;  // the newest of any other watched key
  std::string watched_newest_;
  std::optional<std::uint64_t> next_ino_;
  bool mounts_judged_ = false;
};

}  // namespace symnas::fs::check
