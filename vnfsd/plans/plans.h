// The administrative changes that touch only records: pure functions from a view and a request to a
// transaction. Thread-safe. Errors of all of them: kInvalidArgument (a value is wrong), kNotFound
// (a named object does not exist), kAlreadyExists, kBusy (in use; the message says by what).
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/base/ids.h"
#include "common/base/uuid.h"
#include "fsal_cluster/schema/filesystem.h"
#include "ha/policy/planner.h"
#include "vnfsd/plans/change.h"
#include "vnfsd/records/cluster_view.h"

namespace symnas::vnfsd {

// Whether a head that is removed is also taken off the VNFSs that may move to it.
enum class TakeOff { kNo, kYes };
// Errors also: kBusy (the head serves or is about to; builtin decides, and it is neither drained
// nor fenced; a VNFS may move to it, or to no other head; it is the only head).
Result<Change> plan_head_remove(const ClusterView& view, const std::string& name, TakeOff take_off,
                                std::int64_t now_ns);

struct NetworkRequest {
  std::string name;
  std::string device;
  std::uint64_t mtu = 0;  // 0 = the device's
  std::string gateway;    // one of each family, separated by a comma; empty = none
};
Result<Change> plan_network_create(const ClusterView& view, const NetworkRequest& request);
Result<Change> plan_network_remove(const ClusterView& view, const std::string& name);

// LUNs: the label is written before (import) or erased after (release) the record changes; see
// vnfsd/daemon/luns/luns.h.
Result<Change> plan_lun_import(const ClusterView& view, const cvm::records::LunRecord& lun,
                               const std::string& head, const std::string& path);
Result<Change> plan_lun_release(const ClusterView& view, const std::string& name);

struct VolumeRequest {
  std::string name;
  std::vector<std::string> luns;        // stripe order
  std::uint64_t stripe_unit_bytes = 0;  // create only
  Uuid uuid;                            // create only: of the new volume
};
Result<Change> plan_volume_create(const ClusterView& view, const VolumeRequest& request);
// Whether every head that owns a VNFS on the volume says that its instances can open the LUNs: an
// instance opens a LUN as soon as the volume's record names it. Errors: kBusy (which head does
// not), kNotFound.
Status check_luns_seen(const ClusterView& view, const std::string& volume,
                       const std::vector<std::string>& luns);
Result<Change> plan_volume_grow(const ClusterView& view, const VolumeRequest& request);
Result<Change> plan_volume_remove(const ClusterView& view, const std::string& name);

struct ExportRequest {
  std::string name;
  std::string filesystem;
  std::string path = "/";
  std::vector<std::string> clients;
  std::string access = "rw";    // rw, ro
  std::string squash = "root";  // root, none, all
  std::string anon;             // UID:GID of squashed callers; empty: kNobody
  std::string pseudo;           // path that clients mount; empty: "/" and the name
  // Clients with options of their own: WHO or WHO:OPTIONS, with the options of exports(5).
  std::vector<std::string> rules;
  std::string manage_gids;       // on; empty or off
  std::vector<std::string> sec;  // sys, krb5, krb5i, krb5p, in no order; none: sys
};
Result<Change> plan_export_create(const ClusterView& view, const ExportRequest& request);

// Edits of exports that VNFSs may be serving (vnfsd/daemon/admin/exports_admin.h has them served).
struct ExportEdit {
  std::string name;
  std::optional<std::vector<std::string>> clients;  // a field that is not given stays
  std::optional<std::string> access, squash, anon, pseudo;
  std::optional<std::vector<std::string>> rules;
  std::optional<std::string> manage_gids;
  std::optional<std::vector<std::string>> sec;  // none: sys
};
// Errors also: kBusy (its new path hides another export of a VNFS).
Result<Change> plan_export_set(const ClusterView& view, const ExportEdit& edit);
// Has more VNFSs serve the export. Errors also: kBusy (the head of one of them has not all LUNs
// open).
Result<Change> plan_export_add(const ClusterView& view, const std::string& name,
                               const std::vector<std::string>& vnfses);
// Takes the export off these VNFSs. Errors also: kBusy (it is the only export of a VNFS).
Result<Change> plan_export_take_off(const ClusterView& view, const std::string& name,
                                    const std::vector<std::string>& vnfses);
// Takes the export off all VNFSs and removes it. Errors: as plan_export_take_off().
Result<Change> plan_export_remove(const ClusterView& view, const std::string& name);
// Takes back what `change` has done to exports and VNFSs since `before`. Errors: kConflict (others
// have changed the same).
Result<Change> plan_exports_undone(const ClusterView& view, const ClusterView& before,
                                   const Change& change);

struct VnfsRequest {
  std::string name;
  std::vector<std::string> vips;  // "10.0.0.101/24"
  std::vector<std::string> networks;
  std::vector<std::string> exports;
  std::vector<std::string> heads;
  std::string failback = "manual";  // manual, auto
};
Result<Change> plan_vnfs_create(const ClusterView& view, const VnfsRequest& request);

// Several VNFSs in one transaction, one for each head: "<prefix>1" has the first head as its
// primary and the following ones, in rotation, as its backups.
struct VnfsSetRequest {
  std::string prefix;
  std::vector<std::string> vip_ranges;  // "10.0.0.101/24@nfs0": the first VIP of each
  std::vector<std::string> exports;     // of every one
  std::vector<std::string> heads;       // empty: all, by name
  std::string failback = "manual";
};
Result<Change> plan_vnfs_create_set(const ClusterView& view, const VnfsSetRequest& request);
// An edit of a VNFS: a field that is not given stays.
struct VnfsEdit {
  std::string name;
  std::optional<std::string> failback;
  std::optional<std::vector<std::string>> heads;
};
// Errors also: kBusy (the VNFS is on, or on its way to, a head that is not among the new ones).
Result<Change> plan_vnfs_set(const ClusterView& view, const VnfsEdit& edit);

// Errors also: kBusy (the VNFS is not stopped, or somebody owns it).
Result<Change> plan_vnfs_remove(const ClusterView& view, const std::string& name);
enum class WantedState { kStarted, kStopped };
Result<Change> plan_vnfs_state(const ClusterView& view, const std::string& name, WantedState state);

// Has the VNFS's instance killed as by a crash (a drill). Errors: kNotFound, kBusy (nobody owns the
// VNFS, it is stopped or being moved).
Result<Change> plan_vnfs_kill(const ClusterView& view, const std::string& name);

// Has the VNFS's instance closed as for a move, and started again on its head: its clients keep
// their locks. `epoch`: of the instance that is meant, nullopt = whichever it is. Errors: as
// plan_vnfs_kill(), kConflict (it is another instance), kNotSupported (by the head's version).
Result<Change> plan_vnfs_restart(const ClusterView& view, const std::string& name,
                                 std::optional<Epoch> epoch);

// Whether the VNFS is pinned to the head it is moved to: it does not fail back from there by
// itself.
enum class Pin { kYes, kNo };
// Orders a VNFS to be moved to another of its heads. Errors: kNotFound, kInvalidArgument (not one
// of its heads), kBusy (stopped, being moved, the head is fenced, is being drained or has not all
// LUNs), kAlreadyExists (it is there).
Result<Change> plan_vnfs_rehost(const ClusterView& view, const std::string& name,
                                const std::string& head, std::int64_t now_ns, Pin pin = Pin::kYes);
// Takes back an order that its head has not answered. Errors: kNotFound, kBusy (the head has
// answered).
Result<Change> plan_vnfs_stay(const ClusterView& view, const std::string& name);
// Errors: as plan_vnfs_rehost, the message is only the reason: "it is fenced".
Status check_can_serve(const ClusterView& view, const records::VnfsRecord& vnfs,
                       const std::string& head);

// Whether the head has open all LUNs of the VNFS's exports, or has not said yet, and reaches all
// its networks well. REQUIRES: both exist.
bool reaches_all_of(const ClusterView& view, const std::string& vnfs, const std::string& head);

// What an agent has seen beside the records.
struct Observed {
  std::set<std::string> settled;   // heads that have served for long
  std::int64_t now_ns = 0;         // wall clock
  std::string head;                // it
  std::set<std::string> ill_luns;  // by uuid bytes: those that the head has reached badly for long
  // How long the head has known each order, by the order's mod_revision; clocks of two heads
  // differ.
  std::map<Revision, std::int64_t> order_ages_ns;
  std::set<std::string> ill_networks;  // as ill_luns, by name
};
// The facts on which the planner (ha/policy) decides who claims what nobody owns. Every head
// decides the same.
ha::Facts facts_of(const ClusterView& view);
// The facts on which it decides about the moves that an owner orders: also which heads have
// settled, which did not take a VNFS, and which of its own VNFSs the observer serves from LUNs or
// on networks that it reaches badly.
ha::Facts facts_of(const ClusterView& view, const Observed& observed);
bool is_fenced(const ClusterView& view, const records::HeadRecord& head);
// Whether the fence keeps that incarnation of its head from claiming and registering.
bool forbids_claims(const records::FenceRecord& fence, const std::string& incarnation);
// Whether any head is being cut off: somebody is looking for the proof.
bool is_any_being_cut_off(const ClusterView& view);

// How a filesystem keeps the times at which files were read. kByLevel: recorded, if the cluster's
// level allows that.
enum class AccessTimes { kByLevel, kRecorded, kOff };
struct FilesystemRequest {
  fs::FormatOptions format;  // its access_times and acls_and_xattrs are not looked at
  AccessTimes access_times = AccessTimes::kByLevel;
};
// What is to be changed.
struct FilesystemEdit {
  std::optional<AccessTimes> access_times;
  bool allow_acls_and_xattrs = false;  // there is no way back: they may have been set
};
// Whether they are recorded. Errors: kNotSupported (by the cluster's level).
Result<bool> records_access_times(const ClusterView& view, const std::string& name,
                                  AccessTimes wanted);
// Whether those of a new filesystem may be set: by the cluster's level.
bool allows_acls_and_xattrs(const ClusterView& view);
// Mounts take it over when they are opened. Errors: kNotFound, kBusy (it is being removed),
// kNotSupported.
Result<Change> plan_filesystem_set(const ClusterView& view, const std::string& name,
                                   const FilesystemEdit& edit);
// Filesystems are made and removed by fsal_cluster/schema; these are the checks before that.
Status check_filesystem_create(const ClusterView& view, const fs::FormatOptions& options);
Status check_filesystem_remove(const ClusterView& view, const std::string& name);

}  // namespace symnas::vnfsd
