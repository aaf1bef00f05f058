// ClusterView: all control-plane records at one revision. Every administrative change is planned
// from one. Thread-compatible value type. Invariant: all records are of the same revision (one
// linearizable range read).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/kv/store.h"
#include "cvm/records.pb.h"
#include "fsal_cluster/schema/records.pb.h"
#include "vnfsd/records/records.pb.h"

namespace symnas::vnfsd {

template <class Record>
struct Stored {
  Record record;
  Revision mod_revision;  // 0 = does not exist
};
template <class Record>
using Table = std::map<std::string, Stored<Record>>;  // by name

struct ClusterView {
  Revision revision;  // the revision at which all this was read
  Stored<records::ClusterRecord> cluster;
  Table<records::HeadRecord> heads;
  Table<records::RemovedHeadRecord> removed;
  Table<records::AdmissionRecord> admissions;     // by head
  Table<records::FencedBootRecord> fenced_boots;  // by incarnation
  Table<records::NetworkRecord> networks;
  Table<cvm::records::LunRecord> luns;
  Table<cvm::records::VolumeRecord> volumes;
  Table<fs::records::FilesystemRecord> filesystems;
  Table<records::ExportRecord> exports;
  Table<records::VnfsRecord> vnfses;
  Table<records::OwnerRecord> owners;
  Table<records::FenceRecord> fences;                     // by the head that is fenced
  Table<records::MoveRecord> moves;                       // by VNFS
  Table<records::RefusalsRecord> refusals;                // by VNFS
  Table<records::ConnectionsRecord> connections;          // by VNFS
  Table<records::ServedRecord> served;                    // by VNFS
  Table<records::LeftRecord> left;                        // by VNFS
  Table<records::KeytabRecord> keytabs;                   // by VNFS
  std::map<std::string, Stored<std::uint64_t>> counters;  // by what is counted: the next free value
};

// Errors: kCorrupt (the message names the key).
Result<ClusterView> view_of(const std::vector<kv::KeyValue>& kvs, Revision revision);

struct ClusterRecords {
  std::vector<kv::KeyValue> kvs;  // of all keys under "c/"
  Revision revision;
};

// Reads "c/". Blocks at most deadline_ms. Errors: as kv::range_blocking.
Result<ClusterRecords> read_records(kv::Store& store, std::int64_t deadline_ms);
// Reads "c/" as a view. Errors: as read_records(), kCorrupt.
Result<ClusterView> read_view(kv::Store& store, std::int64_t deadline_ms);

// The object called `name`, or kNotFound: "volume v1: does not exist (symnas volume ls shows what
// exists)".
template <class Record>
Result<const Stored<Record>*> find(const Table<Record>& table, std::string_view kind,
                                   const std::string& name);

tl::unexpected<Error> no_such_object(std::string_view kind, std::string_view name);

template <class Record>
Result<const Stored<Record>*> find(const Table<Record>& table, std::string_view kind,
                                   const std::string& name) {
  const auto it = table.find(name);
  if (it == table.end()) return no_such_object(kind, name);
  return &it->second;
}

// The volume's LUNs by uuid, in the order of its segments. LUNs without a record are left out.
std::vector<const cvm::records::LunRecord*> luns_of_volume(const ClusterView& view,
                                                           const std::string& volume);
// Names of the volumes behind a VNFS's exports, and behind what its instance still has mounted,
// each once.
std::vector<std::string> volumes_of_vnfs(const ClusterView& view, const records::VnfsRecord& vnfs);

}  // namespace symnas::vnfsd
