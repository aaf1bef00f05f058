// LateUnlocks: the owners that hold less than their records in the store say, because an unlock is
// not recorded yet, or is being recorded by a transaction under way. Pure.
//
// Thread class: thread-compatible.
#pragma once

#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "fsal_cluster/state/lock_table.h"

namespace symnas::fs {

class LateUnlocks {
 public:
  using Key = LockTable::Key;

  // The key holds less than its record says.
  void add(const Key& key) { late_.insert(key); }
  // The next transaction of the key records what it holds now. False: the key is not late.
  bool begin(const Key& key);
  // That transaction of these keys has ended; those that it has not recorded are late again.
  void end(std::span<const Key> keys, const Status& recorded);

  bool any() const { return !late_.empty(); }
  // Every key that is late, or in a transaction under way.
  std::vector<Key> all() const;
  // A late key on that inode; nullopt: none is late.
  std::optional<Key> one_on(Ino ino) const;
  std::vector<Key> of_nlm_client(const std::string& address) const;
  // Whether the key, or some key of an NLM client at `address`, is late or in a transaction under
  // way.
  bool owes(const Key& key) const { return late_.contains(key) || writing_.contains(key); }
  bool owes_of(const std::string& address) const;

 private:
  std::set<Key> late_;
  std::set<Key> writing_;  // keys that were late; their transactions are under way
};

}  // namespace symnas::fs
