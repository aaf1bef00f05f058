// Draft: one step in the making. What it reads it compares: the step fails as a whole when one of
// these keys has changed since the checked revision. Thread class: thread-compatible.
//
// A Result of kCorrupt from any function means: a record that the step needs is unreadable; the
// planner makes it a refusal.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "common/base/result.h"
#include "common/kv/keys.h"
#include "fsal_cluster/check/finding.h"
#include "fsal_cluster/repair/facts.h"
#include "fsal_cluster/repair/plan.h"
#include "fsal_cluster/repair/snapshot.h"
#include "fsal_cluster/schema/inode.h"
#include "fsal_cluster/schema/records.pb.h"

namespace symnas::fs::repair {

class Draft {
 public:
  Draft(Snapshot& snapshot, const Facts& facts, const check::Finding& finding);

  const check::Finding& finding() const { return step_.finding; }
  const check::Damage& damage() const { return step_.finding.damage; }
  const Facts& facts() const { return facts_; }
  FsId fs() const { return facts_.fs; }
  Snapshot& snapshot() { return snapshot_; }

  // The value of the key; nullopt: absent. It is compared. Errors: as Snapshot::get.
  Result<std::optional<std::string>> rely(const std::string& key);
  template <class Record>
  Result<std::optional<Record>> rely_record(const std::string& key, std::string_view what) {
    SYMNAS_ASSIGN(const auto value, rely(key));
    if (!value) return std::optional<Record>();
    SYMNAS_ASSIGN(Record record, parse_record<Record>(*value, what));
    return std::optional<Record>(std::move(record));
  }
  Result<std::optional<records::Inode>> rely_inode(Ino ino);
  // Every mount that is alive now was so when it was checked, and none has come.
  Status rely_mounts();
  // No key of the range exists: it is compared.
  void rely_absent(kv::KeyRange range);
  // No key of the range has been put since the checked revision.
  void rely_unchanged(kv::KeyRange range);

  // Changes. What was there before is read, and compared.
  Status put(const std::string& key, std::string value);
  Status put_inode(Ino ino, const records::Inode& inode);
  Status erase(const std::string& key);
  // Its content times become those of the step, if it was there.
  void changes_directory(Ino directory);
  // So do those of a file whose inode the step puts.
  void changes_file(Ino ino) { step_.changed_files.push_back(kv::keys::inode(fs(), ino)); }
  void puts_stamp() { step_.puts_stamp = true; }

  Step repair(Order order, std::string text) &&;
  Step refuse(std::string text) &&;
  Step later(std::string text) &&;

 private:
  Step say(Verdict verdict, std::string text) &&;

  Snapshot& snapshot_;
  const Facts& facts_;
  Step step_;
  std::set<std::string> compared_;
};

}  // namespace symnas::fs::repair
