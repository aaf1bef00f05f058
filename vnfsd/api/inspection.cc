#include "vnfsd/api/inspection.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "fsal_cluster/types/types.h"
#include "vnfsd/api/limits.h"

namespace symnas::vnfsd::api {
namespace {

using nlohmann::json;

std::string type_word(std::uint32_t type) {
  switch (static_cast<fs::FileType>(type)) {
    case fs::FileType::kRegular: return "regular";
    case fs::FileType::kDirectory: return "directory";
    case fs::FileType::kSymlink: return "symlink";
    case fs::FileType::kBlockDevice: return "block_device";
    case fs::FileType::kCharDevice: return "character_device";
    case fs::FileType::kFifo: return "fifo";
    case fs::FileType::kSocket: return "socket";
  }
  return "unknown";
}

json piece_document(const fs::check::InodeDump& dump, const fs::check::DumpedExtent& extent,
                    const cvm::Piece& piece, const std::vector<LunName>& luns) {
  const std::uint64_t into_extent =
      piece.volume_offset.value() - extent.volume_block * dump.block_bytes;
  const std::size_t lun = piece.position.lun.value();
  return {{"file_byte", extent.file_block * dump.block_bytes + into_extent},
          {"bytes", piece.length_bytes},
          {"volume_byte", piece.volume_offset.value()},
          {"lun", lun < luns.size() ? luns[lun].name : ""},
          {"lun_path", lun < luns.size() ? luns[lun].path : ""},
          {"lun_byte", piece.position.offset.value()}};
}

json extents_document(const fs::check::InodeDump& dump, const std::vector<LunName>& luns) {
  json extents = json::array();
  for (const fs::check::DumpedExtent& extent : dump.extents) {
    json pieces = json::array();
    for (const cvm::Piece& piece : extent.pieces)
      pieces.push_back(piece_document(dump, extent, piece, luns));
    extents.push_back({{"file_block", extent.file_block},
                       {"volume_block", extent.volume_block},
                       {"blocks", extent.blocks},
                       {"written_blocks", extent.written_blocks},
                       {"pieces", pieces}});
  }
  return extents;
}

// The fullest member decides: any member out of space stops all changes.
json etcd_document(const CapacityFacts& facts) {
  std::int64_t size = 0;
  std::int64_t in_use = 0;
  bool no_space = false;
  for (const kv::MemberStatus& member : facts.members) {
    size = std::max(size, member.db_size_bytes);
    in_use = std::max(in_use, member.db_in_use_bytes);
    no_space = no_space || member.no_space_alarm;
  }
  json out = {{"quota_bytes", facts.quota_bytes},
              {"db_size_bytes", size},
              {"db_in_use_bytes", in_use},
              {"no_space", no_space},
              {"share_used", 0.0}};
  if (facts.quota_bytes > 0)
    out["share_used"] = static_cast<double>(size) / static_cast<double>(facts.quota_bytes);
  return out;
}

std::uint64_t objects_of(const fs::check::Summary& summary) {
  return summary.files + summary.directories + summary.others;
}

// Bytes of etcd's database for one more file, as far as the files there are tell it.
std::uint64_t cost_of_file(const FilesystemUse& use, std::uint64_t all_bytes,
                           std::uint64_t in_use) {
  const std::uint64_t objects = objects_of(use.summary);
  if (objects < kObjectsToJudgeBy || all_bytes == 0) return kUsualFileBytes;
  const double share = static_cast<double>(use.summary.bytes) / static_cast<double>(all_bytes);
  const double cost = share * static_cast<double>(in_use) / static_cast<double>(objects);
  return std::max<std::uint64_t>(static_cast<std::uint64_t>(cost), 1);
}

json filesystem_document(const FilesystemUse& use, std::uint64_t file_cost,
                         std::uint64_t room_bytes) {
  const fs::check::Summary& summary = use.summary;
  const std::uint64_t used = summary.used_blocks * use.block_bytes;
  const std::uint64_t objects = objects_of(summary);
  return {{"name", use.name},
          {"files", summary.files},
          {"directories", summary.directories},
          {"others", summary.others},
          {"bytes_total", use.bytes_total},
          {"bytes_used", used},
          {"bytes_free", use.bytes_total - std::min(use.bytes_total, used)},
          {"etcd_keys", summary.keys},
          {"etcd_bytes", summary.bytes},
          {"etcd_bytes_per_file", objects == 0 ? 0 : summary.bytes / objects},
          {"etcd_db_bytes_per_file", file_cost},
          {"files_fit", room_bytes / file_cost}};
}

}  // namespace

json check_document(const fs::check::Report& report, std::int64_t took_ms) {
  json findings = json::array();
  for (const fs::check::Finding& finding : report.findings) {
    json entry = {{"kind", fs::check::word(finding.kind)}, {"text", report.line(finding)}};
    if (finding.ino != Ino{0}) entry["ino"] = finding.ino.value();
    const auto path = report.paths.find(finding.ino.value());
    if (path != report.paths.end()) entry["path"] = path->second;
    findings.push_back(std::move(entry));
  }
  const fs::check::Summary& summary = report.summary;
  return {{"filesystem", report.filesystem},
          {"revision", report.revision.value()},
          {"took_ms", took_ms},
          {"findings_total", report.total},
          {"findings", findings},
          {"files", summary.files},
          {"directories", summary.directories},
          {"others", summary.others},
          {"names", summary.names},
          {"extents", summary.extents},
          {"bytes_used", summary.used_blocks * report.block_bytes},
          {"bytes_total", report.volume_blocks * report.block_bytes},
          {"etcd_keys", summary.keys},
          {"etcd_bytes", summary.bytes}};
}

json dump_document(const fs::check::InodeDump& dump, const std::vector<LunName>& luns) {
  const fs::records::Inode& inode = dump.inode;
  json out = {{"ino", dump.ino.value()},
              {"revision", dump.revision.value()},
              {"type", type_word(inode.type())},
              {"mode", inode.mode()},
              {"uid", inode.uid()},
              {"gid", inode.gid()},
              {"nlink", inode.nlink()},
              {"generation", inode.generation()},
              {"size_bytes", inode.size_bytes()},
              {"used_bytes", inode.used_blocks() * dump.block_bytes},
              {"atime_ns", inode.atime_ns()},
              {"mtime_ns", inode.mtime_ns()},
              {"ctime_ns", inode.ctime_ns()}};
  if (inode.parent() != 0) out["parent"] = inode.parent();
  if (!inode.symlink_target().empty()) out["symlink_target"] = inode.symlink_target();
  if (dump.times) out["content_time_ns"] = dump.times->time_ns();
  if (inode.type() != static_cast<std::uint32_t>(fs::FileType::kRegular)) return out;
  out["map_generation"] = inode.map_generation();
  out["map_in"] = inode.chunked() ? "chunks" : "inode";
  if (inode.has_trim_block()) out["trim_block"] = inode.trim_block();
  out["extents"] = extents_document(dump, luns);
  out["more_extents"] = dump.more_extents;
  return out;
}

// The cost of a cached inode is told when there are enough inodes to be seen among everything else.
json instance_document(const InstanceMemory& instance) {
  json out = {{"vnfs", instance.vnfs},
              {"pid", instance.pid},
              {"resident_bytes", instance.resident_bytes},
              {"idle_resident_bytes", instance.idle_resident_bytes},
              {"cached_inodes", instance.cached_inodes}};
  const bool enough = instance.idle_resident_bytes > 0 &&
                      instance.cached_inodes >= kInodesForACost &&
                      instance.resident_bytes > instance.idle_resident_bytes;
  if (enough)
    out["bytes_per_cached_inode"] =
        (instance.resident_bytes - instance.idle_resident_bytes) / instance.cached_inodes;
  return out;
}

json capacity_document(const CapacityFacts& facts) {
  const json etcd = etcd_document(facts);
  const auto in_use = etcd["db_in_use_bytes"].get<std::uint64_t>();
  const std::uint64_t room = facts.quota_bytes - std::min(facts.quota_bytes, in_use);
  std::uint64_t all_bytes = 0;
  for (const FilesystemUse& use : facts.filesystems) all_bytes += use.summary.bytes;
  json filesystems = json::array();
  for (const FilesystemUse& use : facts.filesystems)
    filesystems.push_back(filesystem_document(use, cost_of_file(use, all_bytes, in_use), room));
  json instances = json::array();
  for (const InstanceMemory& instance : facts.instances)
    instances.push_back(instance_document(instance));
  return {{"filesystems", filesystems}, {"etcd", etcd}, {"instances", instances}};
}

}  // namespace symnas::vnfsd::api
