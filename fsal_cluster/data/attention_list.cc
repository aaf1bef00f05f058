#include "fsal_cluster/data/attention_list.h"

#include <algorithm>
#include <iterator>

namespace symnas::fs {

void AttentionList::add(Ino ino) {
  const MutexLock lock(mutex_);
  files_.insert(ino);
}

void AttentionList::remove(Ino ino) {
  const MutexLock lock(mutex_);
  files_.erase(ino);
}

std::vector<Ino> AttentionList::files() const {
  const MutexLock lock(mutex_);
  return {files_.begin(), files_.end()};
}

void AttentionList::add_created(CreatedToken token) {
  const MutexLock lock(mutex_);
  // Nearly always the last one: threads may come in another order than they have read the clock.
  auto at = created_.end();
  while (at != created_.begin() && std::prev(at)->at_ns > token.at_ns) --at;
  created_.insert(at, token);
}

std::vector<AttentionList::CreatedToken> AttentionList::take_created(std::int64_t upto_ns) {
  const MutexLock lock(mutex_);
  const auto end = std::find_if(created_.begin(), created_.end(),
                                [&](const CreatedToken& token) { return token.at_ns > upto_ns; });
  std::vector<CreatedToken> taken(created_.begin(), end);
  created_.erase(created_.begin(), end);
  return taken;
}

void AttentionList::put_back(const std::vector<CreatedToken>& tokens) {
  const MutexLock lock(mutex_);
  created_.insert(created_.begin(), tokens.begin(), tokens.end());
}

}  // namespace symnas::fs
