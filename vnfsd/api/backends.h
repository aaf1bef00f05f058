// Backends: the interfaces by which the API uses the agent, one for each subject. Implemented by
// vnfsd/daemon/admin and by tests. Thread-safe: several API threads call them at once; every call
// may block for seconds.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "common/base/result.h"
#include "fsal_cluster/schema/filesystem.h"
#include "vnfsd/api/quotas.h"
#include "vnfsd/api/requests.h"
#include "vnfsd/jobs/progress.h"
#include "vnfsd/names/mode.h"
#include "vnfsd/plans/change.h"
#include "vnfsd/plans/deciders.h"
#include "vnfsd/plans/plans.h"
#include "vnfsd/records/cluster_view.h"
#include "vnfsd/records/states.h"

namespace symnas::vnfsd::api {

// The cluster's records, and changes that touch only records.
class RecordsBackend {
 public:
  virtual ~RecordsBackend() = default;
  virtual Result<ClusterView> view() = 0;
  // Makes a change that touches only records. Returns what was done, for a person. Errors: as
  // make_change().
  virtual Result<std::string> change(const Planner& planner, Mode mode) = 0;
};

// VNFSs.
class VnfsBackend {
 public:
  virtual ~VnfsBackend() = default;
  // As change(); kBusy also when somebody in the network answers for one of the VIPs.
  virtual Result<std::string> create_vnfs(const VnfsRequest& request, Mode mode) = 0;
  virtual Result<std::string> create_vnfs_set(const VnfsSetRequest& request, Mode mode) = 0;
  // Errors also: kBusy when the VNFS has clients or locks and there is no consent: the message says
  // how many.
  virtual Result<std::string> remove_vnfs(const std::string& name, Consent consent, Mode mode) = 0;
  // kDryRun: says how many clients would notice the move, and for how long.
  virtual Result<std::string> rehost_vnfs(const std::string& name, const std::string& head, Pin pin,
                                          Mode mode) = 0;
  // The last kHistoryMax instances of a VNFS. Errors: kNotFound.
  virtual Result<nlohmann::json> vnfs_history(const std::string& name) = 0;
};

// Deciders (vnfsd/plans/deciders.h), and what each may order.
class DecidersBackend {
 public:
  virtual ~DecidersBackend() = default;
  // As plan_take(), and has the former owner's head fenced if that is not heard. What is so already
  // is no error.
  virtual Result<std::string> take(const DeciderOrder& order, Mode mode) = 0;
  // As plan_leave(); what is so already is no error.
  virtual Result<std::string> leave(const DeciderOrder& order, Mode mode) = 0;
  // How the VNFS stands with the head. Errors: kNotFound, those of the store.
  virtual Result<nlohmann::json> standing(const std::string& vnfs, const std::string& head) = 0;
};

// Edits of exports that VNFSs may be serving.
class ExportsBackend {
 public:
  virtual ~ExportsBackend() = default;
  // As RecordsBackend::change(), for exports that VNFSs may be serving: returns when the instances
  // of all these VNFSs serve the exports as changed. When an instance cannot, the change is taken
  // back. Errors also: kConflict (somebody else has edited the same exports, or is editing them),
  // kUnavailable (an instance could not: its message).
  virtual Result<std::string> edit_exports(const Planner& planner, Mode mode) = 0;
  // Takes the export off these VNFSs; without VNFSs: off all of them, and removes the export.
  // Errors: as edit_exports(), kBusy also when clients use the export there and there is no
  // consent.
  virtual Result<std::string> remove_export(const std::string& name,
                                            const std::vector<std::string>& vnfses, Consent consent,
                                            Mode mode) = 0;
};

// Keytabs of VNFSs.
class KeytabsBackend {
 public:
  virtual ~KeytabsBackend() = default;
  // Keys of the former kvno are kept. Returns when the
  // instance of the VNFS has taken it. Errors: as ExportsBackend::edit_exports(), kInvalidArgument
  // (what is wrong with the keytab, or the domain).
  virtual Result<std::string> set_keytab(const KeytabRequest& request, Mode mode) = 0;
  // Errors: as edit_exports(), kNotFound, kBusy (clients of an export have to use Kerberos).
  virtual Result<std::string> remove_keytab(const std::string& vnfs, Mode mode) = 0;
};

// LUNs and their labels. These changes, and those below, touch devices or many records; they return
// what RecordsBackend::change() returns.
class LunsBackend {
 public:
  virtual ~LunsBackend() = default;
  virtual Result<std::string> import_lun(const LunImportRequest& request, Mode mode) = 0;
  virtual Result<std::string> release_lun(const std::string& name, Label label, Mode mode) = 0;
  // What the devices hold that this head could import; `paths`: absolute paths, directories or
  // globs, none: where it looks for LUNs anyway. Reads devices: seconds. Errors: kInvalidArgument,
  // kBusy (one scan at a time).
  virtual Result<nlohmann::json> scan_luns(const std::vector<std::string>& paths) = 0;
};

// Volumes.
class VolumesBackend {
 public:
  virtual ~VolumesBackend() = default;
  virtual Result<std::string> create_volume(const VolumeRequest& request, Mode mode) = 0;
  virtual Result<std::string> grow_volume(const VolumeRequest& request, Mode mode) = 0;
  virtual Result<std::string> remove_volume(const std::string& name, Mode mode) = 0;
};

// Filesystems.
class FilesystemsBackend {
 public:
  virtual ~FilesystemsBackend() = default;
  virtual Result<std::string> create_filesystem(const FilesystemRequest& request, Mode mode) = 0;
  virtual Result<std::string> remove_filesystem(const std::string& name, Mode mode) = 0;
};

// Heads.
class HeadsBackend {
 public:
  virtual ~HeadsBackend() = default;
  // The bundle for `symnas head join`; holds a private key. kMember: the head's etcd becomes a
  // member as soon as it is started and has caught up.
  virtual Result<nlohmann::json> invite_head(const std::string& name, const std::string& address,
                                             EtcdRole role, Mode mode) = 0;
  // Has the fence agent cut the head off, then ends its mounts. Errors: kNotSupported (no agent),
  // kUnavailable (nothing is proved: nothing is ended), kConflict.
  // `progress` is told the steps; it can be cancelled until the fence is recorded.
  virtual Result<std::string> fence_head(const std::string& name, Mode mode,
                                         Progress& progress) = 0;
  // Removes a head, and its etcd from the members; with consent also takes the head off all VNFSs.
  // Errors: as plan_head_remove(), kBusy (etcd would have no quorum).
  virtual Result<std::string> remove_head(const std::string& name, Consent consent, Mode mode) = 0;
};

// etcd's members.
class MembersBackend {
 public:
  virtual ~MembersBackend() = default;
  virtual Result<nlohmann::json> etcd_members() = 0;
  // Removes the member with that name or id. Errors: kBusy (the others would have no quorum).
  virtual Result<std::string> remove_etcd_member(const std::string& name, Mode mode) = 0;
};

// Looks into filesystems.
class InspectionBackend {
 public:
  virtual ~InspectionBackend() = default;
  // Reads all records of the filesystem: seconds, for millions of files a minute. One such look at
  // a time: a second one gets kBusy. Ends with kConflict when it is cancelled.
  virtual Result<nlohmann::json> check_filesystem(const std::string& name, Progress& progress) = 0;
  virtual Result<nlohmann::json> dump_inode(const std::string& filesystem,
                                            const DumpRequest& request) = 0;
  virtual Result<nlohmann::json> capacity() = 0;
};

// Repairs filesystems while clients work.
class RepairBackend {
 public:
  virtual ~RepairBackend() = default;
  // Checks the filesystem, as InspectionBackend::check_filesystem(), and says what a repair would
  // do. The plan is kept for repair(). Errors: as check_filesystem().
  virtual Result<nlohmann::json> plan_repair(const std::string& filesystem, Progress& progress) = 0;
  // Carries out the steps of that plan that are due. What has changed since is left alone. Errors:
  // kConflict (this head has no such plan any more: make another), those of the store.
  virtual Result<nlohmann::json> repair(const std::string& filesystem, const std::string& plan,
                                        Progress& progress) = 0;
  // What was repaired, oldest first. Errors: kNotFound, those of the store.
  virtual Result<nlohmann::json> repairs(const std::string& filesystem) = 0;
};

// Scrubs: LUNs are read in the background to find out whether they can be.
class ScrubBackend {
 public:
  virtual ~ScrubBackend() = default;
  virtual Result<nlohmann::json> scrubs() = 0;
  // Errors: kNotFound, kBusy (it runs), kInvalidArgument (rate).
  virtual Result<std::string> begin_scrub(const ScrubRequest& request) = 0;
  // Errors: kNotFound (none runs).
  virtual Result<std::string> stop_scrub(const std::string& lun) = 0;
};

// Byte-range locks.
class LocksBackend {
 public:
  virtual ~LocksBackend() = default;
  // Recorded byte-range locks. Errors: kNotFound (filesystem, VNFS or path).
  virtual Result<nlohmann::json> locks(const LockFilter& filter) = 0;
  // Takes the locks away from their owners, who are not told. Errors: as locks(), kInvalidArgument
  // (no filter), kUnavailable (an instance does not obey: its locks stay).
  virtual Result<std::string> clear_locks(const LockFilter& filter, Mode mode) = 0;
};

// How much of a filesystem who may use.
class QuotasBackend {
 public:
  virtual ~QuotasBackend() = default;
  // What everybody uses, and the limits. Errors of all: kNotFound (the filesystem).
  virtual Result<nlohmann::json> quotas(const std::string& filesystem) = 0;
  // Errors also: kNotSupported (the cluster's level), kConflict.
  virtual Result<std::string> switch_quotas(const std::string& filesystem, fs::QuotaSwitch to,
                                            Mode mode) = 0;
  // Errors also: kInvalidArgument (a soft limit above the hard one; usage is not counted),
  // kNotFound (the tree).
  virtual Result<std::string> set_quota(const std::string& filesystem, const QuotaRequest& request,
                                        Mode mode) = 0;
  // Errors also: kNotFound (it has no limit; the tree).
  virtual Result<std::string> remove_quota(const std::string& filesystem,
                                           const QuotaRequest& request, Mode mode) = 0;
  // Errors also: kInvalidArgument (no directory, or the filesystem's root; it lies in a tree or has
  // one below it; usage is not counted), kAlreadyExists, kNotFound (the path), kNoSpace (too many).
  virtual Result<std::string> add_quota_tree(const std::string& filesystem, const std::string& path,
                                             Mode mode) = 0;
  // REQUIRES: the request's subject is a tree. Errors also: kNotFound (the tree).
  virtual Result<std::string> remove_quota_tree(const std::string& filesystem,
                                                const QuotaRequest& request, Mode mode) = 0;
};

// What this head sees, and what has happened.
class StatusBackend {
 public:
  virtual ~StatusBackend() = default;
  // Live state of this head: etcd members, LUN access, instances.
  virtual nlohmann::json local_status() = 0;
  // What every head has told of its instances. Errors: those of the store.
  virtual Result<ToldStates> told_states() = 0;
  // The events that were written after that revision of etcd (vnfsd/records/events.h).
  virtual Result<nlohmann::json> events(Revision after) = 0;
};

// Who asks how much of which VNFS.
class LoadBackend {
 public:
  virtual ~LoadBackend() = default;
  // What clients have asked of all VNFSs of the cluster within the last seconds. The first call
  // after a while takes up to kLoadAnswerMs: the heads begin to tell each other. Heads that do not
  // are named. Errors: none of etcd's: then it is this head's own load. kForeign, kUnavailable (the
  // head is not registered).
  virtual Result<nlohmann::json> load() = 0;
};

struct Backends {
  RecordsBackend& records;
  VnfsBackend& vnfs;
  DecidersBackend& deciders;
  ExportsBackend& exports;
  KeytabsBackend& keytabs;
  LunsBackend& luns;
  VolumesBackend& volumes;
  FilesystemsBackend& filesystems;
  HeadsBackend& heads;
  MembersBackend& members;
  InspectionBackend& inspection;
  RepairBackend& repair;
  ScrubBackend& scrub;
  LocksBackend& locks;
  QuotasBackend& quotas;
  StatusBackend& status;
  LoadBackend& load;
};

}  // namespace symnas::vnfsd::api
