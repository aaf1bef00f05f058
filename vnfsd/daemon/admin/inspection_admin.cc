#include "vnfsd/daemon/admin/inspection_admin.h"

#include <malloc.h>

#include <chrono>
#include <thread>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "cvm/volume.h"
#include "fsal_cluster/check/check.h"
#include "fsal_cluster/check/dump.h"
#include "fsal_cluster/check/limits.h"
#include "fsal_cluster/check/usage.h"
#include "vnfsd/api/inspection.h"
#include "vnfsd/daemon/instances/instance_memory.h"
#include "vnfsd/instance/plan.h"

namespace symnas::vnfsd::daemon {
namespace {

using nlohmann::json;

tl::unexpected<Error> already_looking(const std::string& what) {
  return fail(ErrorCode::kBusy,
              fmt::format("{}: this head is reading all records of a filesystem already (wait for "
                          "that, or ask another head)",
                          what));
}

}  // namespace

Result<json> InspectionAdmin::check_filesystem(const std::string& name, Progress& progress) {
  SYMNAS_TRY(reader_.wait_ready());
  if (!look_mutex_.try_lock()) return already_looking("fs " + name);
  const MutexLock looking(look_mutex_, std::adopt_lock);
  const std::int64_t since_ns = head_.clock.mono_ns();
  const auto pause = [] {
    std::this_thread::sleep_for(std::chrono::milliseconds(fs::check::kLookPauseMs));
  };
  const auto told = [&](const fs::check::Reading& reading) -> Status {
    if (progress.is_cancelled()) return cancelled("fs " + name);
    progress.tell(reading.share, fmt::format("{} records read", reading.records));
    return {};
  };
  SYMNAS_ASSIGN(const fs::check::Report report,
                fs::check::check_filesystem(head_.store, name, pause, told));
  ::malloc_trim(0);  // of millions of inodes hundreds of MiB, once in a while
  return api::check_document(report, (head_.clock.mono_ns() - since_ns) / 1'000'000);
}

Result<json> InspectionAdmin::dump_inode(const std::string& filesystem,
                                         const api::DumpRequest& request) {
  SYMNAS_ASSIGN(const ClusterView cluster, read_when_ready(head_, reader_));
  SYMNAS_ASSIGN(fs::check::View view, fs::check::View::open(head_.store, filesystem));
  Ino ino = request.ino;
  if (!request.path.empty()) {
    SYMNAS_ASSIGN(ino, fs::check::resolve(view, request.path));
  }
  SYMNAS_ASSIGN(const fs::check::InodeDump dump, fs::check::dump_inode(view, ino));
  std::vector<api::LunName> luns;
  for (const Uuid& uuid : cvm::luns_of(view.volume())) {
    api::LunName named;
    const std::string bytes = cvm::uuid_to_bytes(uuid);
    for (const auto& [name, lun] : cluster.luns)
      if (lun.record.uuid() == bytes) named.name = name;
    if (auto path = luns_.path_of(bytes)) named.path = std::move(*path);
    luns.push_back(std::move(named));
  }
  return api::dump_document(dump, luns);
}

Result<json> InspectionAdmin::capacity() {
  SYMNAS_ASSIGN(const ClusterView cluster, read_when_ready(head_, reader_));
  if (!look_mutex_.try_lock()) return already_looking("capacity");
  const MutexLock looking(look_mutex_, std::adopt_lock);
  api::CapacityFacts facts;
  facts.quota_bytes = static_cast<std::uint64_t>(head_.config.etcd.quota_bytes);
  facts.members = head_.store.status({});
  for (const auto& [name, filesystem] : cluster.filesystems) {
    if (filesystem.record.removing()) continue;
    auto opened = fs::check::View::open(head_.store, name);
    if (!opened && opened.error().code == ErrorCode::kNotFound) continue;  // removed meanwhile
    SYMNAS_ASSIGN(fs::check::View view, std::move(opened));
    api::FilesystemUse use;
    use.name = name;
    use.bytes_total = cvm::volume_size_bytes(view.volume());
    use.block_bytes = view.context().filesystem.block_bytes();
    SYMNAS_ASSIGN(use.summary, fs::check::count_usage(view));
    facts.filesystems.push_back(std::move(use));
  }
  for (const auto& [name, snapshot] : instances_.snapshots()) {
    if (snapshot.pid == 0) continue;
    const MemoryUse use =
        memory_of(snapshot.pid, instance::paths_for(head_.config, name).memory_file);
    facts.instances.push_back(
        {name, snapshot.pid, use.resident_bytes, use.idle_resident_bytes, use.cached_inodes});
  }
  return api::capacity_document(facts);
}

}  // namespace symnas::vnfsd::daemon
