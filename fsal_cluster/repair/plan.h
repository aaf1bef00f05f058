// Plan: what a repair will do about each finding of one check, or why it does nothing. Thread
// class: value types.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/ids.h"
#include "common/kv/store.h"
#include "fsal_cluster/check/finding.h"

namespace symnas::fs::repair {

// One key, before and after; nullopt: absent.
struct Change {
  std::string key;
  std::optional<std::string> before;
  std::optional<std::string> after;
};

enum class Verdict : std::uint8_t {
  kRepair,  // the step can be carried out
  kLater,   // another step comes first; the next plan decides
  kRefuse,  // nothing is proved; the text says why, and what to do
};
std::string_view word(Verdict verdict);

// Steps of a later order wait until a check has found no more steps of the earlier ones: blocks are
// marked as used before any are freed, names are put right before they are counted. Those of kAny
// depend on nothing and nothing depends on them.
enum class Order : std::uint8_t { kAny, kMarkUsed, kNames, kCounts, kFrees };

struct Step {
  check::Finding finding;
  std::string object;  // the finding for a person, with its path
  Verdict verdict = Verdict::kRefuse;
  Order order = Order::kAny;
  std::string text;                        // what is done, or why nothing is
  std::vector<kv::Compare> compares;       // all it was reasoned from
  std::vector<Change> changes;             // each key once
  std::vector<Ino> changed_directories;    // get the time of the change
  std::vector<std::string> changed_files;  // keys of inodes: mtime and ctime are the change's
  bool puts_stamp = false;                 // though no watched key is changed
};

struct Plan {
  std::string filesystem;
  FsId fs;
  Revision revision;  // that was checked
  std::vector<Step> steps;
  std::uint64_t findings_total = 0;

  // The order of the steps that can be carried out now; the others are planned again after them.
  std::optional<Order> first_order() const;
  // Whether step i can be carried out now.
  bool is_due(const Step& step) const;
};

}  // namespace symnas::fs::repair
