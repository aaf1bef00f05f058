// Holders: checks what mounts hold (tokens, wants, slots, heartbeats, groups, locks), and what
// ended mounts have left. Thread class: thread-compatible.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "fsal_cluster/check/context.h"
#include "fsal_cluster/check/finding.h"
#include "fsal_cluster/check/inode_table.h"
#include "fsal_cluster/schema/records.pb.h"

namespace symnas::fs::check {

class Holders {
 public:
  Holders(const Context& context, InodeTable& inodes, Findings& findings)
      : context_(context), inodes_(inodes), findings_(findings) {}

  void take_mount(MountId id, std::string_view value);
  void take_end(MountId id, std::string_view value);
  // `mount`: id in the newest claim.
  void take_claim(std::uint64_t mount);
  // REQUIRES for all below: all mounts and inodes are known.
  void take_token(Ino ino, MountId mount, std::string_view value);
  void take_want(Ino ino);
  void take_heartbeat(MountId mount) {
    held_by(mount, Ino{0}, "its heartbeat", {.fault = Fault::kHeartbeatLeft});
  }
  void take_hold(Ino ino, MountId mount) {
    held_by(mount, ino, "a hold of it", {.fault = Fault::kHoldLeft});
  }
  // `rest`: the part of the key behind the mount's id.
  void take_slot(MountId mount, std::string_view rest, std::string_view value);
  void take_group(std::uint32_t group, std::string_view value);
  void take_lock(Ino ino, std::string_view owner, std::string_view value);
  void finish_mounts();
  void finish();

  bool any_alive() const;

 private:
  struct Mount {
    bool recorded = false;
    bool ended = false;
  };
  struct LockedRange {
    std::uint64_t start = 0;
    std::uint64_t end = 0;
    bool exclusive = false;
    std::size_t lock = 0;  // index in locks_
  };
  // Adds a finding when a mount that is gone holds something. `what` names the held thing in the
  // text, `damage` is the one of a mount that does not exist.
  void held_by(MountId mount, Ino ino, std::string_view what, Damage damage);
  void check_lock(Ino ino, std::string_view owner, const records::LockRecord& lock);
  void conflicts_of_file();

  const Context& context_;
  InodeTable& inodes_;
  Findings& findings_;
  std::map<std::uint64_t, Mount> mounts_;
  std::uint64_t claimed_ = 0;
  // Tokens and locks of one inode, whose keys follow each other.
  Ino token_ino_;
  std::uint64_t tokens_ = 0;
  bool exclusive_token_ = false;
  Ino lock_ino_;
  std::vector<records::LockRecord> locks_;
};

}  // namespace symnas::fs::check
