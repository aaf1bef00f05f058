// JSON documents about the inside of a filesystem: check, dump, capacity. Thread-safe: pure
// functions. Described in docs/operations/api.md.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "common/kv/store.h"
#include "fsal_cluster/check/check.h"
#include "fsal_cluster/check/dump.h"
#include "fsal_cluster/repair/apply.h"
#include "fsal_cluster/repair/plan.h"
#include "fsal_cluster/repair/records.pb.h"
#include "vnfsd/records/cluster_view.h"

namespace symnas::vnfsd::api {

nlohmann::json check_document(const fs::check::Report& report, std::int64_t took_ms);

// `id`: of the plan.
nlohmann::json plan_document(const fs::repair::Plan& plan, const std::string& id);
nlohmann::json repair_document(const fs::repair::Plan& plan, const std::string& id,
                               const std::vector<fs::repair::Outcome>& outcomes);
nlohmann::json repairs_document(const std::string& filesystem,
                                const std::vector<fs::records::RepairRecord>& records);

struct LunName {
  std::string name;
  std::string path;  // "" = not found on this head
};
// `luns` in the order of the volume's LUN indices.
nlohmann::json dump_document(const fs::check::InodeDump& dump, const std::vector<LunName>& luns);

struct FilesystemUse {
  std::string name;
  std::uint64_t bytes_total = 0;
  std::uint32_t block_bytes = 0;
  fs::check::Summary summary;
};
struct InstanceMemory {
  std::string vnfs;
  std::int64_t pid = 0;
  std::uint64_t resident_bytes = 0;
  std::uint64_t idle_resident_bytes = 0;  // before its first client; 0: not known
  std::uint64_t cached_inodes = 0;
};
struct CapacityFacts {
  std::vector<FilesystemUse> filesystems;
  std::vector<kv::MemberStatus> members;
  std::uint64_t quota_bytes = 0;
  std::vector<InstanceMemory> instances;
};
nlohmann::json capacity_document(const CapacityFacts& facts);

}  // namespace symnas::vnfsd::api
