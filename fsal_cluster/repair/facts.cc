#include "fsal_cluster/repair/facts.h"

#include <algorithm>

#include "common/kv/keys.h"
#include "fsal_cluster/repair/limits.h"

namespace symnas::fs::repair {

using check::Fault;

bool Facts::has(Ino ino, Fault fault) const {
  const auto it = of.find(ino.value());
  return it != of.end() && it->second.contains(fault);
}

bool Facts::has_value(Fault fault, std::uint64_t value) const {
  const auto it = by.find(fault);
  return it != by.end() &&
         std::any_of(it->second.begin(), it->second.end(),
                     [&](const check::Finding* f) { return f->damage.value == value; });
}

bool Facts::has_two_owners(Ino ino) const {
  const auto it = by.find(Fault::kTwoOwners);
  return it != by.end() &&
         std::any_of(it->second.begin(), it->second.end(), [&](const check::Finding* f) {
           return f->ino == ino || f->damage.other == ino.value();
         });
}

std::optional<std::string> Facts::why_not_swept(Ino ino) const {
  if (!all_known)
    return "not all findings are known yet, one of them may be that its blocks belong to another "
           "file: the others first";
  if (has_two_owners(ino))
    return "some of its blocks belong to another file, too, which would lose them: see two_owners";
  if (has(ino, Fault::kReverseMissing) || has(ino, Fault::kReverseDiffers))
    return "the reverse map does not say that all of its blocks are its own, another file may have "
           "them by now: restore its keys from an etcd snapshot, or leave the space lost";
  return std::nullopt;
}

bool Facts::unmarked(std::uint64_t begin, std::uint64_t end) const {
  std::uint64_t known_to = 0;  // the reverse map is checked in ascending order
  for (const Fault fault : {Fault::kReverseMissing, Fault::kReverseDiffers, Fault::kReverseLost}) {
    const auto it = by.find(fault);
    if (it == by.end()) continue;
    for (const check::Finding* f : it->second) {
      const std::uint64_t block = f->damage.value;
      known_to = std::max(known_to, block);
      if (fault != Fault::kReverseLost && block < end && begin < block + f->damage.blocks)
        return true;
    }
  }
  return !all_known && known_to < end;
}

const MountEntry* Facts::alive(MountId id) const {
  for (const MountEntry& mount : mounts)
    if (mount.id == id && mount.alive()) return &mount;
  return nullptr;
}

const MountEntry* Facts::alive_of_vnfs(const std::string& vnfs) const {
  for (const MountEntry& mount : mounts)
    if (mount.alive() && mount.record.vnfs() == vnfs) return &mount;
  return nullptr;
}

const MountEntry* Facts::any_alive() const { return first_alive(mounts); }

bool Facts::mount_recorded(MountId id) const {
  return std::any_of(mounts.begin(), mounts.end(),
                     [&](const MountEntry& mount) { return mount.id == id; });
}

std::uint64_t Facts::chunk_blocks() const { return kChunkBytes / block_bytes(); }

Result<Facts> gather_facts(const check::Report& report, Snapshot& snapshot, std::int64_t wall_ns) {
  Facts facts;
  facts.report = &report;
  facts.fs = report.context.fs();
  facts.wall_ns = wall_ns;
  if (auto hasher = NameHasher::create(report.context.filesystem.name_hash_key()))
    facts.hasher = *hasher;
  facts.all_known = report.total == report.findings.size();
  for (const check::Finding& finding : report.findings) {
    const Fault fault = finding.damage.fault;
    facts.of[finding.ino.value()].insert(fault);
    facts.by[fault].push_back(&finding);
    if (fault == Fault::kNameOfNothing) facts.named[finding.damage.other].push_back(&finding);
  }
  kv::OpResult read;
  SYMNAS_ASSIGN(read.kvs, snapshot.range(kv::prefix_range(kv::keys::mounts(facts.fs)), 0));
  read.count = static_cast<std::int64_t>(read.kvs.size());
  SYMNAS_ASSIGN(facts.mounts, parse_mounts(facts.fs, read));
  return facts;
}

}  // namespace symnas::fs::repair
