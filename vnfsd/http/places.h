// Places: how many each key (an address, a credential) holds at once, up to a bound. Thread-safe.
// REQUIRES: outlives what it has given.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>

#include "common/base/thread_annotations.h"

namespace symnas::vnfsd {

class Places {
 public:
  explicit Places(std::size_t each_max) : each_max_(each_max) {}

  // A place of that key, until the result is gone. null: it holds all that it may.
  std::shared_ptr<void> take(const std::string& key);
  std::size_t each_max() const { return each_max_; }

 private:
  const std::size_t each_max_;
  Mutex mutex_;                                                 // leaf
  std::map<std::string, std::size_t> held_ GUARDED_BY(mutex_);  // without those that hold none
};

}  // namespace symnas::vnfsd
