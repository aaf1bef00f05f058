#include "vnfsd/api/rate_limiter.h"

#include <algorithm>

namespace symnas::vnfsd::api {
namespace {

constexpr std::int64_t kMicro = 1'000'000;
constexpr std::int64_t kLongestNs = 3'600'000'000'000;  // an hour fills every bucket

}  // namespace

std::int64_t RateLimiter::take(const std::string& key, std::int64_t now_ns) {
  const MutexLock lock(mutex_);
  const auto found = by_key_.find(key);
  if (found != by_key_.end()) {
    buckets_.splice(buckets_.begin(), buckets_, found->second);
  } else {
    if (buckets_.size() >= keys_max_) {
      by_key_.erase(buckets_.back().key);
      buckets_.pop_back();
    }
    buckets_.push_front({key, rate_.burst * kMicro, now_ns});
    by_key_[key] = buckets_.begin();
  }
  Bucket& bucket = buckets_.front();
  const std::int64_t passed_ns = std::clamp<std::int64_t>(now_ns - bucket.at_ns, 0, kLongestNs);
  const std::int64_t gained = passed_ns / 1000 * rate_.per_s;
  bucket.micro = std::min(bucket.micro + gained, rate_.burst * kMicro);
  bucket.at_ns = now_ns;
  if (bucket.micro >= kMicro) {
    bucket.micro -= kMicro;
    return 0;
  }
  return std::max<std::int64_t>((kMicro - bucket.micro) / rate_.per_s / 1000, 1);
}

}  // namespace symnas::vnfsd::api
