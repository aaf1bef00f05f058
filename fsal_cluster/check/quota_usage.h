// QuotaUsage: compares the recorded usage of users, groups, trees and the filesystem with what the
// counted inodes say. Thread class: thread-compatible. Pure. Memory: a row for each user and group.
#pragma once

#include <cstdint>
#include <map>

#include "common/kv/store.h"
#include "fsal_cluster/check/finding.h"
#include "fsal_cluster/quota/records.pb.h"
#include "fsal_cluster/quota/subject.h"

namespace symnas::fs::check {

class QuotaUsage {
 public:
  QuotaUsage(FsId fs, Findings& findings) : fs_(fs), findings_(findings) {}

  void take_inode(Ino ino, const records::Inode& inode);
  // A key of the quota table. False: it has no such key.
  bool take(const kv::KeyValue& kv);
  // After all keys.
  void finish();
  // What was taken of them.
  const std::map<std::uint32_t, records::QuotaTree>& trees() const { return trees_; }

 private:
  const FsId fs_;
  Findings& findings_;
  std::map<std::uint32_t, Usages> counted_;   // by epoch: what inodes say
  std::map<std::uint32_t, Usages> recorded_;  // by epoch: bases and slots
  std::map<std::uint32_t, records::QuotaTree> trees_;
  records::QuotaMode mode_;
};

}  // namespace symnas::fs::check
