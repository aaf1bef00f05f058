// Life of a LUN: import, use by a volume, release; and finding the cluster's LUNs by label uuid,
// never by path.
//
// Thread-safe: functions without state; the LUN's OFD locks keep two of them, and every running
// instance, apart. The caller owns the LunRecord in the kv store and writes it after import_lun() /
// before release_lun().
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/base/uuid.h"
#include "cvm/label.h"
#include "cvm/lun_node.h"
#include "cvm/records.pb.h"

namespace symnas::cvm {

struct LunImport {
  Uuid cluster;
  std::string name;  // kNameBytesMax; the caller has checked that no LunRecord has it
  std::string path;
  // Empty, or the LUN's own name again: import although the device carries another cluster's label,
  // a damaged label, a filesystem or a partition table. Everything in the first and last MiB is
  // destroyed at once.
  std::string force_name;
  // The uuids of every LunRecord. A forced import also replaces a label of this cluster that none
  // of them names: what a release that was interrupted leaves behind. Absent: it never does.
  std::optional<std::vector<Uuid>> recorded;
};

// Labels a device and returns its record (volume empty). Repeating it with the same name after a
// crash is harmless: a free LUN of this cluster and name is returned as it is. Errors:
// kInvalidArgument (name; force_name is another name; smaller than kLunBytesMin), kNotFound, kBusy
// (mounted, opened exclusively, in use by an instance, an alias), kAlreadyExists (already imported
// under another name or used by a volume), kForeign (another cluster's label, a filesystem or
// partition table), kCorrupt (damaged label), kIo, kPermission.
Result<records::LunRecord> import_lun(const LunImport& request);

// Wipes the label. Errors: kForeign (not ours, or another LUN is at this path now), kBusy (a volume
// uses it, or an instance has it open), kNotFound (no label: already released), and those of
// LunDevice.
Status release_lun(const std::string& path, const Uuid& cluster, const Uuid& lun);

// Notes in the label which volume uses the LUN; nil = free. No effect when it says so already.
// Errors: kBusy (another volume uses it, or an instance has it open), kForeign, kNotFound, those of
// LunDevice.
Status assign_lun(const std::string& path, const Uuid& cluster, const Uuid& lun,
                  const Uuid& volume);

struct FoundLun {
  LunLabel label;
  std::string path;  // canonical node
  bool needs_repair = false;
};
struct ScanProblem {
  std::string path;
  Error error;
};
struct LunScan {
  std::vector<FoundLun> found;  // by LUN name
  std::vector<ScanProblem>
      problems;  // LUNs of this cluster that cannot be used, and unreadable candidates
};

// The devices and files that `candidates` (as of scan_luns) name, each once; nothing is opened.
// Errors: kInvalidArgument when they are more than kScanCandidatesMax.
Result<std::vector<LunNode>> candidate_nodes(std::span<const std::string> candidates);

// Finds this cluster's LUNs. `candidates`: paths, directories (their entries, not below), or
// glob(7) patterns. What carries no label of ours is passed over. Two devices with one label uuid
// are both refused, with a message naming both. Errors: kInvalidArgument when the candidates are
// more than kScanCandidatesMax.
Result<LunScan> scan_luns(const Uuid& cluster, std::span<const std::string> candidates);

}  // namespace symnas::cvm
