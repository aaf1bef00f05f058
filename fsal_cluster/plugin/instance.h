// Instance: this ganesha process as a member of the cluster: its etcd client, its open volumes and
// its mounts. Started once, when ganesha reads the CLUSTER block; lives until the process ends (by
// SIGKILL).
//
// Thread class: thread-safe after start().
// Invariants: INV-1 (LUNs are opened with this instance's OFD byte before any mount), INV-8 (after
// a disproof no request is answered).
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "common/base/result.h"
#include "common/base/thread_annotations.h"
#include "common/kv/store.h"
#include "cvm/io/open_volume.h"
#include "fsal_cluster/mount/mount.h"
#include "fsal_cluster/nsm/service.h"
#include "fsal_cluster/plugin/admission.h"
#include "fsal_cluster/plugin/beat.h"
#include "fsal_cluster/plugin/control.h"
#include "fsal_cluster/plugin/export_changes.h"
#include "fsal_cluster/plugin/export_clients.h"
#include "fsal_cluster/plugin/head_clock.h"
#include "fsal_cluster/plugin/instance_file.h"
#include "fsal_cluster/plugin/memory_report.h"
#include "fsal_cluster/plugin/unserved_exports.h"
#include "fsal_cluster/plugin/volume_growth.h"

namespace symnas::plugin {

class Instance {
 public:
  // Reads the instance file, connects to etcd. `workers` = RPC_Ioq_ThrdMax. A standby (the file
  // says so) returns after it was called and has read the file again. Errors: kInvalidArgument
  // (file), kUnavailable (etcd).
  static Status start(const std::string& instance_file, std::uint32_t workers);
  // REQUIRES: start() succeeded.
  static Instance& get();
  static bool started();

  // The mount of a filesystem, opened at first use: volume, OFD locks, mount record.
  // Errors: kNotFound, kBusy (mounted elsewhere), kIo, kUnavailable; the message says what to do.
  // kShutdown: retire() has begun.
  Result<fs::Mount*> mount(const std::string& filesystem);

  // Tells vnfsd of a problem of an instance that goes on serving: adds a line to the file
  // `problems` beside the instance file. While an export is being changed, the text becomes the
  // reason why the change failed.
  void report_problem(const std::string& text) const;

  Admission& admission() { return admission_; }
  // How many workers may wait for a LUN at once; the others leave their I/O to the volume's engine.
  Admission& io_waits() { return io_waits_; }
  // The NLM client at `address` has lost its locks, except those of its life `but_state`. Blocks
  // until their release is recorded in every mount. A release that could not be recorded yet is
  // recorded later; until then the client's status monitor gets no answer.
  void forget_nlm_client(const std::string& address, std::optional<std::int32_t> but_state);
  // The NLM client of `owner` was granted a lock in its life `state`: releases what the client
  // locked in former lives, if its notice was lost. Does not wait for the release.
  void note_nlm_lock(const fs::LockOwner& owner, std::int32_t state);
  // The NFSv4 client `client` has come with that verifier: releases what it locked in other lives.
  // Blocks as forget_nlm_client().
  void forget_former_lives(const std::string& client, const std::string& verifier);
  // The NFSv4 client has reclaimed everything that it holds: releases in every mount what it has
  // not reclaimed.
  void forget_unclaimed(const std::string& client);
  // Notes that an export uses a filesystem: exports_of() names exports to ganesha by that.
  void note_export(FsId fs, std::uint16_t export_id, std::shared_ptr<ExportClients> clients);
  std::vector<std::uint16_t> exports_of(FsId fs);
  // Whether ganesha has read all exports that it was started with. vnfsd tells of exports after
  // every start.
  bool has_read_exports() const { return exports_read_.load(); }
  // Returns when the gates of all mounts are open, and the reply has a sign of life (state/gate.h):
  // of any mount, because they end together. Every reply passes here before it is sent.
  // REQUIRES: not on a thread of a mount (which may be the one that opens the gate).
  void pass_gates();
  // When the first gate closes unless there is a further proof (Pulse::open_until_ns). Never
  // blocks.
  std::int64_t open_until_ns() const;
  // For how long all gates have been open, at least; nullopt: one is closed. Never blocks.
  std::optional<std::int64_t> open_for_ns() const;
  // Carries out a command of vnfsd: `line` of docs/formats/instance_control.md.
  void obey(const std::string& line, const Control::Say& say);
  // Does not return when `error` says that this instance has ended or is ending: then the request
  // stays unanswered and the process exits.
  void hold_if_ending(const Error& error);

 private:
  struct Volume {
    std::shared_ptr<cvm::OpenVolume> open;
    std::unique_ptr<VolumeGrowth> growth;
  };

  // Mounts are only ever added, so replies may walk this list without a lock.
  struct GateEntry {
    fs::Gate* gate;
    GateEntry* next;
  };

  Instance(std::string path, InstanceFile file, std::uint32_t workers);
  Status wait_for_call();
  Status open_volume(const cvm::records::VolumeRecord& record) REQUIRES(mounting_mutex_);
  fs::Mount* known_mount(const std::string& filesystem);
  // Changes exports (exports.cc); runs on the thread of `control_`.
  void change_exports(const Control::Say& say);
  Status set_export(const InstanceFile::Export& wanted);
  void remove_export(std::uint16_t id);
  static bool has_export(std::uint16_t id);
  void say_clients(const Control::Say& say);
  Status start_status_monitor();
  // Whether `says` is true for any mount.
  bool any_mount(const std::function<bool(fs::FileLocks&)>& says);
  // No mount is ever removed: the pointers stay valid.
  std::vector<fs::Mount*> mounts();
  std::vector<std::pair<std::string, fs::Mount*>> named_mounts();
  // Finishes the requests that were begun, begins no more and closes every mount. Whatever the
  // outcome, the process has to be ended then.
  void retire(std::int64_t timeout_ms, const Control::Say& say);
  Status close_mounts();
  // Ends the process without answering anything: after a disproof (INV-8), or a failed flush of
  // acknowledged data.
  [[noreturn]] static void end(const Error& why);
  void close_gates();

  const std::string path_;
  InstanceFile file_;  // const after start()
  const HeadClock clock_;
  MemoryReport memory_;
  Admission admission_;
  Admission io_waits_;
  std::unique_ptr<kv::Store> store_;
  std::atomic<GateEntry*> gates_{nullptr};
  std::atomic<bool> retiring_{false};
  Mutex call_mutex_;
  CondVar called_;
  bool stands_by_ GUARDED_BY(call_mutex_);
  Mutex mounting_mutex_;  // held while a mount is opened
  std::map<std::string, std::unique_ptr<Volume>> volumes_ GUARDED_BY(mounting_mutex_);
  Mutex mutex_;
  std::map<std::string, std::unique_ptr<fs::Mount>> mounts_ GUARDED_BY(mutex_);
  struct ExportEntry {
    FsId fs;
    std::shared_ptr<ExportClients> clients;
  };
  Mutex exports_mutex_;  // before ExportClients::mutex_, UnservedExports::mutex_
  std::map<std::uint16_t, ExportEntry> exports_ GUARDED_BY(exports_mutex_);
  UnservedExports unserved_exports_;
  ExportChanges export_changes_;  // confined to the thread of control_
  std::atomic<bool> exports_read_{false};
  std::unique_ptr<nsm::Service> status_monitor_;
  std::unique_ptr<Control> control_;
  std::unique_ptr<Beat> beat_;
};

}  // namespace symnas::plugin
