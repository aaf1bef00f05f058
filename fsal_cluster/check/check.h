// check_filesystem: a whole check of one filesystem, while its clients work. Blocks; thread-safe:
// functions without state.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/kv/store.h"
#include "fsal_cluster/check/context.h"
#include "fsal_cluster/check/finding.h"
#include "fsal_cluster/check/limits.h"

namespace symnas::fs::check {

struct Report {
  struct NameAt {
    Ino directory;
    std::uint64_t hash = 0;
  };
  std::string filesystem;
  Context context;
  Revision revision;  // the revision that was checked
  Summary summary;
  std::uint64_t volume_blocks = 0;
  std::uint32_t block_bytes = 0;
  std::uint64_t total = 0;                     // findings
  std::vector<Finding> findings;               // the first findings_max of them
  std::map<std::uint64_t, std::string> paths;  // of the findings' inodes, where known
  std::map<std::uint64_t, NameAt> names;       // of the findings' inodes: where one name of each is
  std::uint64_t highest_ino = 0;

  // "/dir/file (inode 17): nlink is 2, 1 name leads to it"
  std::string line(const Finding& finding) const;
};

// How far a look at all records has come.
struct Reading {
  std::uint64_t records = 0;  // read so far
  double share = 0.0;         // of the tables, 0 to 1: how many records there are is not known
};
// An error ends the check with that error.
using Told = std::function<Status(const Reading&)>;

// Reads every record of the filesystem at one revision and checks it. When all findings are things
// that a living mount may be about to repair, it looks again, at most kLooksMax times, with `pause`
// in between. `told` is called every few thousand records. Errors: as View::open and View::read;
// kCompacted when the store does not keep its history for as long as a look takes.
Result<Report> check_filesystem(kv::Store& store, const std::string& name,
                                const std::function<void()>& pause, const Told& told = {},
                                std::size_t findings_max = kFindingsMax);

}  // namespace symnas::fs::check
