// AttentionList: what the timer of the data path has to look at: files, and tokens that came with
// the creation of files that nobody has used since. Thread-safe; its mutex is a leaf.
#pragma once

#include <cstdint>
#include <unordered_set>
#include <vector>

#include "common/base/ids.h"
#include "common/base/thread_annotations.h"

namespace symnas::fs {

class AttentionList {
 public:
  void add(Ino ino);
  void remove(Ino ino);
  std::vector<Ino> files() const;

  struct CreatedToken {
    Ino ino;
    std::int64_t at_ns;
  };
  void add_created(CreatedToken token);
  // Takes the tokens up to that time from the list.
  std::vector<CreatedToken> take_created(std::int64_t upto_ns);
  // Puts tokens back, before all others.
  void put_back(const std::vector<CreatedToken>& tokens);

 private:
  mutable Mutex mutex_;
  std::unordered_set<Ino> files_ GUARDED_BY(mutex_);
  std::vector<CreatedToken> created_ GUARDED_BY(mutex_);  // ascending time
};

}  // namespace symnas::fs
