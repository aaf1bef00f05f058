#include "fsal_cluster/plugin/instance.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <future>
#include <set>
#include <sstream>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "common/base/log.h"
#include "common/env/clock.h"
#include "common/kv/etcd/etcd_store.h"
#include "common/kv/keys.h"
#include "common/kv/limits.h"
#include "fsal_cluster/plugin/door.h"
#include "fsal_cluster/plugin/guarded.h"
#include "fsal_cluster/plugin/instance_metrics.h"
#include "fsal_cluster/plugin/kerberos.h"
#include "fsal_cluster/plugin/limits.h"
#include "fsal_cluster/plugin/load.h"
#include "fsal_cluster/plugin/milestones.h"
#include "fsal_cluster/plugin/names.h"
#include "fsal_cluster/plugin/object.h"
#include "fsal_cluster/plugin/waiters.h"
#include "fsal_cluster/schema/records.pb.h"
#include "fsal_cluster/state/file_locks.h"
#include "fsal_cluster/state/gate.h"

namespace symnas::plugin {
namespace {

std::atomic<bool> is_ending{false};  // end() was called

// The reply of NULL (RFC 5531, 9) tells nothing that could be out of date; other heads ask for it
// to know whether this one lives, and must not have to wait for etcd. REQUIRES: a request.
bool says_nothing() { return op_ctx->nfs_reqdata->svc.rq_msg.cb_proc == 0; }

// Lives until the process ends: requests and callbacks may hold references to the last moment.
Instance* the_instance = nullptr;

[[noreturn]] void stay_silent() {
  for (;;) ::pause();
}

bool has_ended(const Error& error) {
  return error.code == ErrorCode::kEnded || error.code == ErrorCode::kFenced;
}

template <class Record>
Result<Record> parse(const kv::KeyValue& kv, const std::string& what) {
  Record record;
  if (record.ParseFromString(kv.value)) return record;
  return fail(ErrorCode::kCorrupt, "the record of " + what + " cannot be parsed");
}

tl::unexpected<Error> not_recorded(const std::string& what) {
  return fail(ErrorCode::kNotFound, what + " is not recorded in the cluster (symnas fs ls)");
}

// A filesystem and its volume, as recorded in the cluster now: one read for both records.
struct FilesystemRecords {
  fs::records::FilesystemRecord filesystem;
  cvm::records::VolumeRecord volume;
};

Result<FilesystemRecords> records_of(kv::Store& store, const std::string& filesystem) {
  kv::Txn txn;
  txn.success = {kv::get(kv::keys::kFilesystems + filesystem),
                 kv::get_range(kv::prefix_range(kv::keys::kVolumes))};
  SYMNAS_ASSIGN(const kv::TxnResult found,
                kv::txn_blocking(store, std::move(txn), kv::kBlockingDeadlineMs));
  const std::string what = "filesystem " + filesystem;
  if (found.results.at(0).kvs.empty()) return not_recorded(what);
  FilesystemRecords records;
  SYMNAS_ASSIGN(records.filesystem,
                parse<fs::records::FilesystemRecord>(found.results[0].kvs.front(), what));
  const std::string key = kv::keys::kVolumes + records.filesystem.volume();
  const auto& volumes = found.results.at(1).kvs;
  const auto volume = std::find_if(volumes.begin(), volumes.end(),
                                   [&](const kv::KeyValue& kv) { return kv.key == key; });
  if (volume == volumes.end()) return not_recorded("volume " + records.filesystem.volume());
  SYMNAS_ASSIGN(records.volume, parse<cvm::records::VolumeRecord>(
                                    *volume, "volume " + records.filesystem.volume()));
  return records;
}

Result<std::vector<cvm::LunPath>> lun_paths(const InstanceFile& file) {
  std::vector<cvm::LunPath> paths;
  for (const InstanceFile::Lun& lun : file.luns) {
    SYMNAS_ASSIGN(const Uuid uuid, Uuid::parse(lun.uuid));
    paths.push_back({lun.name, uuid, lun.path});
  }
  return paths;
}

std::set<std::uint16_t> ids_of(const std::vector<InstanceFile::Export>& exports) {
  std::set<std::uint16_t> ids;
  for (const InstanceFile::Export& one : exports) ids.insert(one.id);
  return ids;
}

}  // namespace

Instance::Instance(std::string path, InstanceFile file, std::uint32_t workers)
    : path_(std::move(path)),
      file_(std::move(file)),
      clock_(file_.clock_file, file_.incarnation, env::system_clock()),
      memory_(std::filesystem::path(path_).replace_filename("memory")),
      admission_(workers * kBlockedWorkersNumerator / kBlockedWorkersDenominator),
      io_waits_(workers / kIoWaitsShare),
      stands_by_(file_.standby),
      export_changes_(file_.exports,
                      {[this](const InstanceFile::Export& wanted) { return set_export(wanted); },
                       [this](std::uint16_t id) { remove_export(id); },
                       [](std::uint16_t id) { return has_export(id); }}) {
  unserved_exports_.begin(ids_of(file_.exports));
}

Status Instance::start(const std::string& path, std::uint32_t workers) {
  SYMNAS_ASSIGN(InstanceFile file, read_instance_file(path));
  std::unique_ptr<Instance> instance(new Instance(path, std::move(file), workers));
  kv::EtcdOptions options;
  options.endpoints = instance->file_.etcd_endpoints;
  options.ca_file = instance->file_.etcd_ca_file;
  options.cert_file = instance->file_.etcd_cert_file;
  options.key_file = instance->file_.etcd_key_file;
  options.network_namespace = instance->file_.head_netns;
  SYMNAS_ASSIGN(instance->store_, kv::EtcdStore::open(options));
  instance->beat_ = std::make_unique<Beat>([self = instance.get()] {
    const Milestones passed = milestones();
    return fs::Pulse{0, self->open_until_ns(), passed.first_request_ns, passed.last_reclaim_ns};
  });
  const bool standby = instance->file_.standby;
  the_instance = instance.release();
  the_instance->control_ = std::make_unique<Control>(
      std::filesystem::path(path).replace_filename("control"),
      [](const std::string& line, const Control::Say& say) { the_instance->obey(line, say); });
  SYMNAS_TRY(the_instance->start_status_monitor());
  if (standby) SYMNAS_TRY(the_instance->wait_for_call());
  start_names(the_instance->file_.head_netns, the_instance->file_.head_mntns);
  use_names(the_instance->file_.exports, the_instance->file_.kerberos);
  if (const Status usable = use_kerberos(the_instance->file_.kerberos); !usable)
    the_instance->report_problem(usable.error().message);
  log::info("instance of {} on {}, epoch {}", the_instance->file_.vnfs, the_instance->file_.head,
            the_instance->file_.epoch.value());
  return {};
}

// Clients wait from the call on: so this does before the call what can be done before it.
Status Instance::wait_for_call() {
  (void)kv::range_blocking(*store_, kv::single_key(file_.owner_key), 1, kv::kBlockingDeadlineMs);
  const MutexLock lock(call_mutex_);
  called_.wait(call_mutex_, [this]() REQUIRES(call_mutex_) { return !stands_by_; });
  SYMNAS_ASSIGN(InstanceFile file, read_instance_file(path_));
  if (file.standby || file.vnfs_id != file_.vnfs_id || file.epoch != file_.epoch) {
    return fail(ErrorCode::kInvalidArgument,
                path_ + ": is not for this instance; vnfsd starts another one");
  }
  file_ = std::move(file);
  unserved_exports_.begin(ids_of(file_.exports));
  return {};
}

Instance& Instance::get() { return *the_instance; }
bool Instance::started() { return the_instance != nullptr; }

Status Instance::open_volume(const cvm::records::VolumeRecord& record) {
  const std::string& name = record.name();
  if (volumes_.contains(name)) return {};
  // The file may list more LUNs since the start: vnfsd lists a LUN before a record uses it.
  SYMNAS_ASSIGN(const InstanceFile file, read_instance_file(path_));
  SYMNAS_ASSIGN(const auto paths, lun_paths(file));
  cvm::OpenOptions options;
  options.ofd_byte = file_.vnfs_id.value();
  auto volume = std::make_unique<Volume>();
  SYMNAS_ASSIGN(volume->open, cvm::open_volume(record, paths, options));
  log::info("volume {}: {} bytes through {}", name, volume->open->size_bytes(),
            volume->open->engine_name());
  volume->growth = std::make_unique<VolumeGrowth>(*store_, name, path_, *volume->open);
  volumes_.emplace(name, std::move(volume));
  return {};
}

fs::Mount* Instance::known_mount(const std::string& filesystem) {
  const MutexLock lock(mutex_);
  const auto known = mounts_.find(filesystem);
  return known == mounts_.end() ? nullptr : known->second.get();
}

Result<fs::Mount*> Instance::mount(const std::string& name) {
  const MutexLock mounting(mounting_mutex_);
  if (fs::Mount* const known = known_mount(name)) return known;
  if (retiring_.load()) return fail(ErrorCode::kShutdown, "this instance is being retired");
  SYMNAS_ASSIGN(const FilesystemRecords records, records_of(*store_, name));
  SYMNAS_TRY(open_volume(records.volume));
  fs::MountOptions options;
  options.fs = FsId{records.filesystem.fsid()};
  options.filesystem_name = name;
  options.head = file_.head;
  options.vnfs = file_.vnfs;
  options.vnfs_id = file_.vnfs_id;
  options.epoch = file_.epoch;
  options.head_incarnation = file_.incarnation;
  options.etcd_quota_bytes = file_.etcd_quota_bytes;
  options.guards = {kv::mod_revision_is(file_.owner_key, file_.owner_mod_revision)};
  options.on_ended = [](const Error& why) { end(why); };
  options.release_locks = release_locks;
  options.records_access_times = true;
  options.nfs_lease_s = nfs_param.nfsv4_param.lease_lifetime;
  SYMNAS_ASSIGN(auto mounted,
                fs::Mount::open(*store_, clock_, volumes_.at(records.volume.name())->open,
                                std::move(options)));
  log::info("filesystem {} is mounted, mount {}", name, mounted->id().value());
  gates_.store(new GateEntry{&mounted->gate(), gates_.load()});
  if (is_ending) mounted->gate().close();  // end() has not seen it
  Waiters::get().add(*mounted);
  const MutexLock lock(mutex_);
  return mounts_.emplace(name, std::move(mounted)).first->second.get();
}

// Does nothing in an instance without a network namespace of its own: it leaves the machine's ports
// alone.
Status Instance::start_status_monitor() {
  if (file_.head_netns.empty()) return {};
  nsm::ServiceOptions options;
  options.state = nsm::state_of_epoch(file_.epoch.value());
  options.clients.note = [this](const nsm::Reboot& client) {
    for (fs::Mount* mount : mounts()) mount->locks().note_nlm_life(client.address, client.state);
  };
  options.clients.has_locks = [this](const std::string& address) {
    if (unserved_exports_.any()) return true;  // it is not known
    return any_mount([&](fs::FileLocks& locks) { return locks.has_nlm_client(address); });
  };
  options.is_released = [this](const std::string& address) {
    if (unserved_exports_.any()) return false;
    return !any_mount([&](fs::FileLocks& locks) { return locks.owes_unlocks_of(address); });
  };
  SYMNAS_ASSIGN(status_monitor_, nsm::Service::start(std::move(options)));
  return {};
}

bool Instance::any_mount(const std::function<bool(fs::FileLocks&)>& says) {
  const MutexLock lock(mutex_);
  return std::any_of(mounts_.begin(), mounts_.end(),
                     [&](const auto& mount) { return says(mount.second->locks()); });
}

void Instance::forget_nlm_client(const std::string& address,
                                 std::optional<std::int32_t> but_state) {
  for (fs::Mount* mount : mounts()) {
    const Status recorded = mount->locks().forget_nlm_client(address, but_state);
    if (!recorded) hold_if_ending(recorded.error());
  }
}

void Instance::note_nlm_lock(const fs::LockOwner& owner, std::int32_t state) {
  if (!status_monitor_) return;
  if (!any_mount([&](fs::FileLocks& locks) { return locks.has_outlived_locks(owner, state); }))
    return;
  const auto client = fs::parse_nlm_client(owner.client);
  log::info("NLM client {}: has rebooted, and its notice did not arrive", client->address);
  status_monitor_->rebooted({client->address, state});
}

void Instance::forget_former_lives(const std::string& client, const std::string& verifier) {
  for (fs::Mount* mount : mounts()) {
    const Status recorded = mount->locks().forget_former_lives(client, verifier);
    if (!recorded) hold_if_ending(recorded.error());
  }
}

void Instance::forget_unclaimed(const std::string& client) {
  for (fs::Mount* mount : mounts()) {
    const Status recorded = mount->locks().forget_unclaimed(client);
    if (!recorded) hold_if_ending(recorded.error());
  }
}

std::vector<std::pair<std::string, fs::Mount*>> Instance::named_mounts() {
  std::vector<std::pair<std::string, fs::Mount*>> out;
  const MutexLock lock(mutex_);
  for (const auto& [name, mount] : mounts_) out.emplace_back(name, mount.get());
  return out;
}

std::vector<fs::Mount*> Instance::mounts() {
  std::vector<fs::Mount*> out;
  const MutexLock lock(mutex_);
  for (const auto& [name, mount] : mounts_) out.push_back(mount.get());
  return out;
}

void Instance::obey(const std::string& line, const Control::Say& say) {
  std::istringstream words(line);
  std::string command;
  std::int64_t timeout_ms = 0;
  words >> command;
  bool stands_by = false;
  {
    const MutexLock lock(call_mutex_);
    if (command == "serve") stands_by_ = false;
    stands_by = stands_by_;
  }
  called_.notify_all();
  if (command == "serve" || command == "standby") {
    return say({{"standby", stands_by}});
  }
  if (command == "exports" && !stands_by) {
    if (!retiring_.load()) change_exports(say);  // else: no answer, which is no refusal
    return;
  }
  if (command == "clients" && !stands_by) return say_clients(say);
  if (command == "load") return say(load_so_far());
  if (command == "metrics") return say(instance_metrics());
  if (command != "retire" || !(words >> timeout_ms) || timeout_ms < 0) {
    return say({{"error",
                 "unknown command: standby, serve, exports, clients, load, metrics, retire "
                 "MILLISECONDS"}});
  }
  if (stands_by) return say({{"error", "this standby does not serve yet"}});
  retire(timeout_ms, say);
}

Status Instance::close_mounts() {
  std::set<fs::Mount*> closed;
  const auto close_others = [&]() -> Status {
    for (const auto& [name, mount] : named_mounts()) {
      if (!closed.insert(mount).second) continue;
      if (const Status done = mount->close(); !done) {
        return fail(done.error().code,
                    fmt::format("filesystem {}: {}", name, done.error().message));
      }
      log::info("filesystem {}: closed", name);
    }
    return {};
  };
  SYMNAS_TRY(close_others());
  // One that was being mounted has been added then; mount() begins no more.
  { const MutexLock mounting(mounting_mutex_); }
  return close_others();
}

// The last replies and the closing of the mounts do not depend on each other: both go on at the
// same time.
void Instance::retire(std::int64_t timeout_ms, const Control::Say& say) {
  retiring_.store(true);
  const auto finished = shut_door(timeout_ms);
  if (!finished) return say({{"error", finished.error().message}});
  const std::int64_t closing_ns = env::system_clock().mono_ns();
  std::int64_t close_ms = 0;
  auto closing = std::async(std::launch::async, [&] {
    const Status closed = close_mounts();
    close_ms = (env::system_clock().mono_ns() - closing_ns) / 1'000'000;
    return closed;
  });
  const Delivered delivered = deliver_replies();
  say({{"requests_ms", *finished},
       {"replies_ms", delivered.replies_ms},
       {"kept", delivered.kept},
       {"connections", delivered.connections},
       {"unsent", delivered.unsent}});
  const Status closed = closing.get();
  if (!closed) return say({{"error", closed.error().message}});
  say({{"close_ms", close_ms}});
}

// One that was replaced or fenced is silent first: its end would be a RST to its clients, which
// would then wait seconds for a port that is closed. Its supervisor sees in the pulse that the
// gates are shut for good, and removes the VIPs.
void Instance::end(const Error& why) {
  if (is_ending.exchange(true)) stay_silent();
  const bool silent = the_instance != nullptr && has_ended(why);
  if (silent) the_instance->close_gates();  // before the log, whose disk may hang
  log::error("this instance ends without answering: {}", why.message);
  log::flush();
  if (silent) std::this_thread::sleep_for(std::chrono::milliseconds(kSilentEndMs));
  // Not exit(): no destructor may wait for something, or send something.
  ::_exit(1);
}

void Instance::close_gates() {
  for (const GateEntry* entry = gates_.load(); entry != nullptr; entry = entry->next)
    entry->gate->close();
}

void Instance::pass_gates() {
  // What the thread remembers is of the request that it works for. A thread that only sends replies
  // (NLM's callbacks) works for none.
  const bool works_for_one = this_request() != fs::RequestId{};
  bool has_sign = works_for_one && (fs::Gate::has_passed_here() || says_nothing());
  GateEntry* const newest = gates_.load();
  for (const GateEntry* entry = newest; entry != nullptr; entry = entry->next) {
    if (entry->gate->wait() == fs::Gate::Passage::kShutDown) stay_silent();
    has_sign = has_sign || entry->gate->may_answer(entry->gate->now_ns());
  }
  if (has_sign || newest == nullptr) return;
  fs::Gate& gate = *newest->gate;
  if (gate.wait_to_answer(gate.now_ns()) == fs::Gate::Passage::kShutDown) stay_silent();
}

std::int64_t Instance::open_until_ns() const {
  std::int64_t first_ns = fs::kAlwaysOpen;
  for (const GateEntry* entry = gates_.load(); entry != nullptr; entry = entry->next)
    first_ns = std::min(first_ns, entry->gate->open_until_ns());
  return first_ns;
}

std::optional<std::int64_t> Instance::open_for_ns() const {
  std::int64_t least_ns = INT64_MAX;
  for (const GateEntry* entry = gates_.load(); entry != nullptr; entry = entry->next) {
    const auto open_ns = entry->gate->open_for_ns();
    if (!open_ns) return std::nullopt;
    least_ns = std::min(least_ns, *open_ns);
  }
  return least_ns;
}

void Instance::hold_if_ending(const Error& error) {
  const bool ended = has_ended(error);
  if (!ended && error.code != ErrorCode::kShutdown) return;
  // While it retires, a mount that was closed has ended as well; the clients must not see the
  // process end before the links.
  if (ended && !retiring_.load()) end(error);
  stay_silent();
}

}  // namespace symnas::plugin
