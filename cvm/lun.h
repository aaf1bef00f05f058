// The life of a LUN: import, use by a volume, release. Also finds the cluster's LUNs, by label uuid
// and never by path.
//
// Thread-safe: functions without state. The LUN's OFD locks keep two such calls apart, and a call
// and a running instance. The caller owns the LunRecord in the kv store: it writes the record after
// import_lun() and before release_lun().
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
  std::string name;  // at most kNameBytesMax; the caller has checked that no LunRecord has it
  std::string path;
  // Empty, or the LUN's own name again, which means: import although the device carries another
  // cluster's label, a damaged label, a filesystem or a partition table. Everything in the first
  // and last MiB is destroyed at once.
  std::string force_name;
  // The uuids of every LunRecord. A forced import also replaces a label of this cluster that is of
  // none of them: an interrupted release leaves such a label. Absent: a forced import never
  // replaces such a label.
  std::optional<std::vector<Uuid>> recorded;
};

// Labels a device and returns its record (volume empty). It may be repeated with the same name
// after a crash: a free LUN of this cluster and name is returned as it is. Errors: kInvalidArgument
// (name; force_name is another name; smaller than kLunBytesMin), kNotFound, kBusy (mounted, opened
// exclusively, in use by an instance, an alias), kAlreadyExists (already imported under another
// name or used by a volume), kForeign (another cluster's label, a filesystem or partition table),
// kCorrupt (damaged label), kIo, kPermission.
Result<records::LunRecord> import_lun(const LunImport& request);

// Wipes the label. Errors: kForeign (not ours, or another LUN is at this path now), kBusy (a volume
// uses it, or an instance has it open), kNotFound (no label: already released), and those of
// LunDevice.
Status release_lun(const std::string& path, const Uuid& cluster, const Uuid& lun);

// Writes into the label which volume uses the LUN; nil = free. No effect when the label says so
// already.
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

// The devices and files that `candidates` (as of scan_luns) name, each once. Opens nothing.
// Errors: kInvalidArgument when they are more than kScanCandidatesMax.
Result<std::vector<LunNode>> candidate_nodes(std::span<const std::string> candidates);

// Finds this cluster's LUNs. `candidates`: paths, directories (their entries, not below), or
// glob(7) patterns. Devices without a label of this cluster are skipped. Two devices with the same
// label uuid are both refused, with a message that names both. Errors: kInvalidArgument when the
// candidates are more than kScanCandidatesMax.
Result<LunScan> scan_luns(const Uuid& cluster, std::span<const std::string> candidates);

}  // namespace symnas::cvm
