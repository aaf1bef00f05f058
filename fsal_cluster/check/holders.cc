#include "fsal_cluster/check/holders.h"

#include <algorithm>

#include <fmt/core.h>

#include "common/base/bytes.h"
#include "common/kv/limits.h"
#include "fsal_cluster/check/limits.h"

namespace symnas::fs::check {
namespace {

template <class Record>
bool parse(Record& record, std::string_view value) {
  return record.ParseFromArray(value.data(), static_cast<int>(value.size()));
}

std::string name_of(MountId mount) { return fmt::format("mount {}", mount.value()); }

}  // namespace

void Holders::take_mount(MountId id, std::string_view value) {
  mounts_[id.value()].recorded = true;
  records::MountRecord record;
  if (!parse(record, value))
    findings_.add(Kind::kRecord, Ino{0}, name_of(id) + ": its record cannot be parsed");
  if (context_.next_mount != 0 && id.value() >= context_.next_mount)
    findings_.add(Kind::kCounter, Ino{0},
                  fmt::format("{}: the next free id is {}", name_of(id), context_.next_mount),
                  {.fault = Fault::kMountCounter, .value = id.value()});
}

void Holders::take_end(MountId id, std::string_view value) {
  mounts_[id.value()].ended = true;
  records::EndRecord record;
  if (!parse(record, value))
    findings_.add(Kind::kRecord, Ino{0}, name_of(id) + ": its end record cannot be parsed");
}

void Holders::take_claim(std::uint64_t mount) { claimed_ = mount; }

bool Holders::any_alive() const {
  return std::any_of(mounts_.begin(), mounts_.end(), [](const auto& entry) {
    return entry.second.recorded && !entry.second.ended;
  });
}

void Holders::finish_mounts() {
  const bool alive = any_alive();
  for (const auto& [id, mount] : mounts_) {
    const std::string name = name_of(MountId{id});
    if (!mount.recorded) {
      findings_.add(Kind::kLeftover, Ino{0},
                    name + ": an end record without the mount: nothing is left to prove",
                    {.fault = Fault::kEndLeft, .other = id});
      continue;
    }
    if (id > claimed_)
      findings_.add(Kind::kCounter, Ino{0},
                    fmt::format("{}: the newest claim is of mount {}", name, claimed_),
                    {.fault = Fault::kMountClaim, .value = id});
    if (mount.ended && alive) {
      findings_.add(Kind::kLeftover, Ino{0}, name + ": has ended, its successor has not cleaned up",
                    Passing::kYes, {.fault = Fault::kMountEnded, .other = id});
    }
  }
}

void Holders::held_by(MountId mount, Ino ino, std::string_view what, Damage damage) {
  damage.other = mount.value();
  const auto it = mounts_.find(mount.value());
  if (it == mounts_.end() || !it->second.recorded) {
    findings_.add(Kind::kLeftover, ino,
                  fmt::format("{} is left of {}, which does not exist", what, name_of(mount)),
                  std::move(damage));
  } else if (it->second.ended && any_alive()) {
    // Without a successor this stays until the next mount.
    findings_.add(Kind::kLeftover, ino,
                  fmt::format("{} is left of {}, which has ended", what, name_of(mount)),
                  Passing::kYes, {.fault = Fault::kHeldByEnded, .other = mount.value()});
  }
}

void Holders::take_token(Ino ino, MountId mount, std::string_view value) {
  records::TokenRecord token;
  if (!parse(token, value)) {
    findings_.add(Kind::kRecord, ino,
                  fmt::format("its token of {} cannot be parsed", name_of(mount)));
    return;
  }
  const InodeRow* row = inodes_.find(ino);
  if (row == nullptr) {
    // A sweep may remove the inode before the recovery of an ended mount reaches its tokens.
    const auto holder = mounts_.find(mount.value());
    if (holder == mounts_.end() || !holder->second.ended) {
      findings_.add(Kind::kLeftover, ino,
                    fmt::format("{} has a token on it, but it does not exist", name_of(mount)),
                    {.fault = Fault::kTokenOfNothing, .other = mount.value()});
    }
  } else if (row->readable() && !row->is(FileType::kRegular)) {
    findings_.add(Kind::kRecord, ino,
                  fmt::format("{} has a token on it, but it is no regular file", name_of(mount)));
  }
  held_by(mount, ino, "a token", {.fault = Fault::kTokenLeft});
  if (token_ino_ != ino) {
    token_ino_ = ino;
    tokens_ = 0;
    exclusive_token_ = false;
  }
  ++tokens_;
  exclusive_token_ = exclusive_token_ || token.mode() == records::TokenRecord::X;
  if (tokens_ > 1 && exclusive_token_)
    findings_.add(Kind::kLock, ino,
                  fmt::format("{} has a token on it beside another, and one of them is exclusive",
                              name_of(mount)),
                  {.fault = Fault::kTwoTokens, .other = mount.value()});
}

void Holders::take_want(Ino ino) {
  if (inodes_.find(ino) == nullptr)
    // The inode was removed meanwhile: the mount that put the want withdraws it when the grant is
    // refused.
    findings_.add(Kind::kLeftover, ino, "a token is asked for, but it does not exist",
                  Passing::kYes, {.fault = Fault::kWantOfNothing});
}

void Holders::take_slot(MountId mount, std::string_view rest, std::string_view value) {
  const bool slot = rest.size() == 3 && value.size() == kSlotValueBytes;
  const bool operation = rest.size() == 4 && value.empty();
  const bool known = rest.starts_with("s/") && (slot || operation) &&
                     static_cast<unsigned char>(rest[2]) < kv::kSessionSlots &&
                     (slot || static_cast<unsigned char>(rest[3]) < kv::kBatchOperationsMax);
  if (!known) findings_.add(Kind::kKey, Ino{0}, name_of(mount) + ": a slot key of a wrong shape");
  if (slot) held_by(mount, Ino{0}, "a session slot", {.fault = Fault::kSlotLeft});
}

void Holders::take_group(std::uint32_t group, std::string_view value) {
  records::GroupOwner owner;
  if (!parse(owner, value)) {
    findings_.add(Kind::kRecord, Ino{0},
                  fmt::format("the owner record of allocation group {} cannot be parsed", group));
    return;
  }
  const std::uint64_t groups = (context_.volume_blocks + context_.filesystem.group_blocks() - 1) /
                               context_.filesystem.group_blocks();
  if (group >= groups)
    findings_.add(
        Kind::kGroup, Ino{0},
        fmt::format("allocation group {} has an owner, the volume has {} groups", group, groups),
        {.fault = Fault::kGroupOffVolume, .value = group, .other = owner.mount()});
  if (owner.mount() != 0)
    held_by(MountId{owner.mount()}, Ino{0}, fmt::format("allocation group {}", group),
            {.fault = Fault::kGroupLeft, .value = group});
}

// --- locks

void Holders::check_lock(Ino ino, std::string_view owner, const records::LockRecord& lock) {
  if (lock.ino() != ino.value())
    findings_.add(Kind::kLock, ino, fmt::format("a lock record of it says inode {}", lock.ino()));
  std::string identity(1, lock.protocol() == records::LockRecord::NLM ? 'n' : '4');
  append_be32(identity, static_cast<std::uint32_t>(lock.vnfs().size()));
  identity += lock.vnfs();
  append_be32(identity, static_cast<std::uint32_t>(lock.client().size()));
  if (identity + lock.client() + lock.owner() != owner)
    findings_.add(Kind::kLock, ino, "a lock record of it lies under another owner's key",
                  {.fault = Fault::kLockKey, .name = std::string(owner)});
  const InodeRow* row = inodes_.find(ino);
  const std::string holder =
      fmt::format("client '{}' of {}", printable(lock.client()), lock.vnfs());
  if (row == nullptr)
    findings_.add(Kind::kLeftover, ino, holder + " has a lock on it, but it does not exist",
                  {.fault = Fault::kLockOfNothing, .name = std::string(owner)});
  if (context_.vnfses && !context_.vnfses->contains(lock.vnfs()))
    findings_.add(Kind::kLeftover, ino, holder + " has a lock on it, but there is no such VNFS",
                  {.fault = Fault::kLockOfNoVnfs, .name = std::string(owner)});
  if (lock.guessed())
    findings_.add(Kind::kLock, ino,
                  holder + " counts as holding more than is known: its record could not be parsed",
                  {.fault = Fault::kUnreadableLock, .name = std::string(owner)});
  if (lock.ranges_size() == 0)
    findings_.add(Kind::kLock, ino, holder + " has a lock of no byte",
                  {.fault = Fault::kLockEmpty, .name = std::string(owner)});
  for (int i = 0; i < lock.ranges_size(); ++i) {
    const auto& range = lock.ranges(i);
    if (range.end() < range.start() || (i > 0 && range.start() <= lock.ranges(i - 1).end()))
      findings_.add(Kind::kLock, ino,
                    fmt::format("{}: the locked range {} to {} is out of order", holder,
                                range.start(), range.end()));
  }
}

void Holders::conflicts_of_file() {
  std::vector<LockedRange> ranges;
  for (std::size_t i = 0; i < locks_.size(); ++i) {
    if (locks_[i].guessed()) continue;
    for (const auto& range : locks_[i].ranges())
      ranges.push_back({range.start(), range.end(), range.exclusive(), i});
  }
  std::sort(ranges.begin(), ranges.end(),
            [](const LockedRange& a, const LockedRange& b) { return a.start < b.start; });
  for (std::size_t a = 0; a < ranges.size(); ++a) {
    for (std::size_t b = a + 1; b < ranges.size() && ranges[b].start <= ranges[a].end; ++b) {
      if (ranges[a].lock == ranges[b].lock || !(ranges[a].exclusive || ranges[b].exclusive))
        continue;
      findings_.add(Kind::kLock, lock_ino_,
                    fmt::format("clients '{}' and '{}' hold conflicting locks at byte {}",
                                printable(locks_[ranges[a].lock].client()),
                                printable(locks_[ranges[b].lock].client()), ranges[b].start),
                    {.fault = Fault::kLockConflict});
    }
  }
  locks_.clear();
}

void Holders::take_lock(Ino ino, std::string_view owner, std::string_view value) {
  if (ino != lock_ino_) conflicts_of_file();
  lock_ino_ = ino;
  records::LockRecord lock;
  if (!parse(lock, value)) {
    findings_.add(Kind::kRecord, ino, "a lock record of it cannot be parsed",
                  {.fault = Fault::kUnreadableLock, .name = std::string(owner)});
    return;
  }
  check_lock(ino, owner, lock);
  locks_.push_back(std::move(lock));
}

void Holders::finish() { conflicts_of_file(); }

}  // namespace symnas::fs::check
