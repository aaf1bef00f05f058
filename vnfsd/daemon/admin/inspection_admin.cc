#include "vnfsd/daemon/admin/inspection_admin.h"

#include <malloc.h>

#include <charconv>
#include <chrono>
#include <fstream>
#include <thread>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "cvm/volume.h"
#include "fsal_cluster/check/check.h"
#include "fsal_cluster/check/dump.h"
#include "fsal_cluster/check/limits.h"
#include "fsal_cluster/check/usage.h"
#include "vnfsd/api/inspection.h"
#include "vnfsd/instance/plan.h"

namespace symnas::vnfsd::daemon {
namespace {

using nlohmann::json;

// VmRSS of proc(5); 0 when the process is gone.
std::uint64_t resident_bytes(std::int64_t pid) {
  std::ifstream status(fmt::format("/proc/{}/status", pid));
  for (std::string line; std::getline(status, line);) {
    if (!line.starts_with("VmRSS:")) continue;
    const std::size_t digits = line.find_first_of("0123456789");
    std::uint64_t kib = 0;
    if (digits != std::string::npos)
      std::from_chars(line.data() + digits, line.data() + line.size(), kib);
    return kib * 1024;
  }
  return 0;
}

// The instance's own report is missing for its first second.
api::InstanceMemory memory_of_instance(const std::string& vnfs, std::int64_t pid,
                                       const std::string& memory_file) {
  api::InstanceMemory out{.vnfs = vnfs, .pid = pid, .resident_bytes = resident_bytes(pid)};
  std::ifstream file(memory_file);
  const json said = json::parse(file, nullptr, false);
  if (said.is_object()) {
    out.idle_resident_bytes = said.value("idle_resident_bytes", std::uint64_t{0});
    out.cached_inodes = said.value("cached_inodes", std::uint64_t{0});
  }
  return out;
}

tl::unexpected<Error> already_looking(const std::string& what) {
  return fail(ErrorCode::kBusy,
              fmt::format("{}: this head is reading all records of a filesystem already (wait for "
                          "that, or ask another head)",
                          what));
}

}  // namespace

Result<json> InspectionAdmin::check_filesystem(const std::string& name) {
  SYMNAS_TRY(reader_.wait_ready());
  if (!look_mutex_.try_lock()) return already_looking("fs " + name);
  const MutexLock looking(look_mutex_, std::adopt_lock);
  const std::int64_t since_ns = head_.clock.mono_ns();
  const auto pause = [] {
    std::this_thread::sleep_for(std::chrono::milliseconds(fs::check::kLookPauseMs));
  };
  SYMNAS_ASSIGN(const fs::check::Report report,
                fs::check::check_filesystem(head_.store, name, pause));
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
    const std::int64_t pid = snapshot.pid;
    if (pid != 0)
      facts.instances.push_back(
          memory_of_instance(name, pid, instance::paths_for(head_.config, name).memory_file));
  }
  return api::capacity_document(facts);
}

}  // namespace symnas::vnfsd::daemon
