#include "tests/unit/fsal_cluster/check/damages.h"

namespace symnas::fs::test {

namespace {

namespace keys = kv::keys;

records::TokenRecord exclusive_token() {
  records::TokenRecord token;
  token.set_mode(records::TokenRecord::X);
  return token;
}

}  // namespace

std::vector<Damage> holder_damages() {
  return {
      {"TokenOfAnUnknownMount",
       [](Keys& k) { k.put(keys::token(k.fs, kEmpty, kNoMount), records::TokenRecord()); },
       "leftover inode 22: a token is left of mount 77, which does not exist"},
      {"TokenOfAMissingFile",
       [](Keys& k) { k.put(keys::token(k.fs, kNobody, kMount), records::TokenRecord()); },
       "leftover inode 9999: mount 1 has a token on it, but it does not exist"},
      {"TwoExclusiveTokens",
       [](Keys& k) {
         k.put(keys::token(k.fs, kEmpty, kMount), exclusive_token());
         k.put(keys::token(k.fs, kEmpty, kNoMount), records::TokenRecord());
       },
       "lock inode 22: mount 77 has a token on it beside another, and one of them is exclusive"},
      {"WantOfAMissingFile", [](Keys& k) { k.put(keys::want(k.fs, kNobody), ""); },
       "leftover inode 9999: a token is asked for, but it does not exist"},
      {"HeartbeatOfAnUnknownMount", [](Keys& k) { k.put(keys::heartbeat(k.fs, kNoMount), ""); },
       "leftover: its heartbeat is left of mount 77, which does not exist"},
      {"SlotOfAnUnknownMount",
       [](Keys& k) {
         k.put(keys::mount_slots(k.fs, kNoMount) + "s/" + std::string(1, '\0'),
               std::string(12, '\0'));
       },
       "leftover: a session slot is left of mount 77, which does not exist"},
      {"ShapeOfSlot", [](Keys& k) { k.put(keys::mount_slots(k.fs, kMount) + "t/x", ""); },
       "key: mount 1: a slot key of a wrong shape"},
      {"EndRecordWithoutMount",
       [](Keys& k) { k.put(keys::mount_ended(k.fs, kNoMount), records::EndRecord()); },
       "leftover: mount 77: an end record without the mount: nothing is left to prove"},
      {"HoldOfAnUnknownMount", [](Keys& k) { k.put(keys::hold(k.fs, kOpen, kNoMount), ""); },
       "leftover inode 26: a hold of it is left of mount 77, which does not exist"},
      {"EndedMountThatNobodyRecovers",
       [](Keys& k) {
         k.put(keys::mount_ended(k.fs, kMount), records::EndRecord());
         k.put(keys::mount(k.fs, kNoMount), records::MountRecord());
       },
       "leftover: mount 1: has ended, its successor has not cleaned up"},
      {"GroupOfAnUnknownMount",
       [](Keys& k) {
         k.edit<records::GroupOwner>(keys::group_owner(k.fs, 0),
                                     [](records::GroupOwner& g) { g.set_mount(77); });
       },
       "leftover: allocation group 0 is left of mount 77, which does not exist"},
      {"GroupWithoutOwner", [](Keys& k) { k.erase(keys::group_owner(k.fs, 0)); },
       "group: allocation group 0 has used blocks, but no owner record"},
      {"GroupBeyondTheVolume",
       [](Keys& k) { k.put(keys::group_owner(k.fs, 500), k.at(keys::group_owner(k.fs, 0)).value); },
       "group: allocation group 500 has an owner, the volume has "},
      {"LockOfAMissingFile",
       [](Keys& k) {
         records::LockRecord lock = k.record<records::LockRecord>(k.lock());
         lock.set_ino(kNobody.value());
         std::string key = keys::locks(k.fs);
         append_be64(key, kNobody.value());
         k.put(key + k.lock().substr(key.size()), lock);
       },
       "leftover inode 9999: client 'dbhost' of vnfs1 has a lock on it, but it does not exist"},
      {"LockOfAMissingVnfs", [](Keys& k) { k.context.vnfses = {"vnfs9"}; },
       "leftover inode 19: client 'dbhost' of vnfs1 has a lock on it, but there is no such VNFS"},
      {"LockUnderAnothersKey", [](Keys& k) { k.move(k.lock(), k.lock() + "2"); },
       "lock inode 19: a lock record of it lies under another owner's key"},
      {"ConflictingLocks",
       [](Keys& k) {
         records::LockRecord lock = k.record<records::LockRecord>(k.lock());
         if (lock.ranges().empty()) throw NothingToWorkOn();
         const std::string key = k.lock() + "2";
         lock.set_owner(lock.owner() + "2");
         lock.mutable_ranges(0)->set_start(50);
         k.put(key, lock);
       },
       "lock inode 19: clients 'dbhost' and 'dbhost' hold conflicting locks at byte 50"},
      {"LockRecord", [](Keys& k) { k.put(k.lock(), "\xff"); },
       "record inode 19: a lock record of it cannot be parsed"},
      {"LockOfNoByte",
       [](Keys& k) {
         k.edit<records::LockRecord>(k.lock(), [](records::LockRecord& l) { l.clear_ranges(); });
       },
       "lock inode 19: client 'dbhost' of vnfs1 has a lock of no byte"},
  };
}

}  // namespace symnas::fs::test
