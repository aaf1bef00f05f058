// Levels: which records a cluster may hold. Every version of symnas has the level that was the
// highest when it was made; a cluster has the level that an administrator has raised it to
// (`symnas cluster raise-level`), and a version below that is not admitted. So a record that an
// older version would read in another sense is made at its level or above only. Constants.
#pragma once

#include <cstdint>

#include "vnfsd/records/records.pb.h"

namespace symnas::vnfsd::level {

// Records without a level: all that was before there were levels.
inline constexpr std::uint32_t kFirst = 1;
// Options of an export for some clients, anonymous ids, groups looked up on the server
// (ExportRecord.rules, anon_uid, anon_gid, manage_gids); NFSv4 scopes that name the cluster
// (VnfsRecord.scope_names_cluster).
inline constexpr std::uint32_t kExportRules = 2;

// Access times that are recorded (FilesystemRecord.access_times, Inode.content_revision).
inline constexpr std::uint32_t kAccessTimes = 3;

// Other deciders than the builtin one (ClusterRecord.decider, VnfsRecord.decided_head).
inline constexpr std::uint32_t kDeciders = 4;

// Access control lists and extended attributes (FilesystemRecord.acls_and_xattrs).
inline constexpr std::uint32_t kAclsAndXattrs = 5;

// Kerberos: what callers of an export may use (ExportRecord.sec), keytabs of VNFSs (KeytabRecord).
inline constexpr std::uint32_t kKerberos = 6;
// Quotas (QuotaMode; Inode.usage_epoch, Inode.tree).
inline constexpr std::uint32_t kQuotas = 6;

// Of this version.
inline constexpr std::uint32_t kOwn = 6;

// A field that is absent means the first level.
constexpr std::uint32_t of(std::uint32_t field) { return field == 0 ? kFirst : field; }

// Of the head's vnfsd: a version without levels, which registers over the record of a later one,
// leaves the fields that it does not know.
inline std::uint32_t of(const records::HeadRecord& head) {
  return head.level_of_ns() == head.agent_started_ns() ? of(head.level()) : kFirst;
}

}  // namespace symnas::vnfsd::level
