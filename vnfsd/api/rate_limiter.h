// RateLimiter: a token bucket for each of many keys (addresses, credentials). Thread-safe.
// Invariant: it never remembers more than `keys_max` keys; a key that is forgotten begins anew with
// a full bucket, and the ones used longest ago are forgotten first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <string>

#include "common/base/thread_annotations.h"

namespace symnas::vnfsd::api {

struct Rate {
  std::int64_t per_s = 1;  // at least 1
  std::int64_t burst = 1;  // at least 1
};

class RateLimiter {
 public:
  RateLimiter(Rate rate, std::size_t keys_max) : rate_(rate), keys_max_(keys_max) {}

  // Takes one from the key's bucket. Returns 0, or the time in ms until there is one to take, at
  // least 1: then nothing was taken. now_ns: of a clock that never goes back.
  std::int64_t take(const std::string& key, std::int64_t now_ns);

 private:
  struct Bucket {
    std::string key;
    std::int64_t micro = 0;  // millionths of a request
    std::int64_t at_ns = 0;
  };
  const Rate rate_;
  const std::size_t keys_max_;
  Mutex mutex_;                                   // leaf
  std::list<Bucket> buckets_ GUARDED_BY(mutex_);  // used last: front
  std::map<std::string, std::list<Bucket>::iterator> by_key_ GUARDED_BY(mutex_);
};

}  // namespace symnas::vnfsd::api
