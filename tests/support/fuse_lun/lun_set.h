// LunSet: the LUNs of a server by name. It only grows: a LUN keeps its index, and so its inode
// number.
// Thread class: thread-safe.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "tests/support/fuse_lun/faulty_lun.h"

namespace symnas::fuse_lun {

class LunSet {
 public:
  // Serves the file at `backing` as `name`. Errors: kAlreadyExists, and those of Medium::open().
  Status add(const std::string& name, const std::string& backing) {
    SYMNAS_ASSIGN(auto medium, Medium::open(backing));
    const std::scoped_lock lock(mutex_);
    for (const auto& lun : luns_)
      if (lun->name() == name) return fail(ErrorCode::kAlreadyExists, name + " is served already");
    luns_.push_back(std::make_unique<FaultyLun>(name, std::move(medium), &trigger_));
    return {};
  }
  std::vector<FaultyLun*> all() const {
    const std::scoped_lock lock(mutex_);
    std::vector<FaultyLun*> luns;
    for (const auto& lun : luns_) luns.push_back(lun.get());
    return luns;
  }
  // Counts the requests of all LUNs.
  Trigger& trigger() { return trigger_; }
  // Null when there is no such index.
  FaultyLun* at(std::size_t index) const {
    const std::scoped_lock lock(mutex_);
    return index < luns_.size() ? luns_[index].get() : nullptr;
  }

 private:
  Trigger trigger_;
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<FaultyLun>> luns_;
};

}  // namespace symnas::fuse_lun
