// DeviceScan: what the devices hold that could become LUNs. Each is looked at on a thread of its
// own, which may hang for ever without harm. Thread-safe.
//
// Invariant: at most kHangingLooksMax threads hang; a device that hangs is not asked again before
// it has answered.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/base/thread_annotations.h"
#include "cvm/lun_survey.h"
#include "vnfsd/daemon/luns/limits.h"

namespace symnas::vnfsd::daemon {

class DeviceScan {
 public:
  using Look = std::function<cvm::SurveyedDevice(const cvm::LunNode&)>;

  // `look` may be running on threads that outlive this object: it refers to nothing of it.
  explicit DeviceScan(Look look = cvm::survey_device, std::int64_t look_ms = kDeviceLookMs);
  // Leaves threads behind that hang in a device.
  ~DeviceScan();
  DeviceScan(const DeviceScan&) = delete;
  DeviceScan& operator=(const DeviceScan&) = delete;

  // kConfigured: what names nothing, and slots without a medium, are left out. kNamed: they are
  // answered, too.
  enum class Asked { kConfigured, kNamed };
  // `patterns`: as cvm::scan_luns(). Each device once, by path; what does not answer within
  // look_ms is Content::kUnreadable, and so is what is left after kScanMs. Errors: kBusy (another
  // scan runs; the patterns hang in a directory), those of cvm::candidate_nodes().
  Result<std::vector<cvm::SurveyedDevice>> scan(const std::vector<std::string>& patterns,
                                                Asked asked);

 private:
  struct Threads;
  // Has a thread do `work`. `work` must own what it refers to. Errors: kBusy when it has not ended
  // in time (then it goes on), when it still hangs from an earlier time, or when too many hang.
  Status run(const std::string& object, std::int64_t at_most_ms, std::function<void()> work);
  Result<std::vector<cvm::LunNode>> nodes_of(const std::string& pattern);
  cvm::SurveyedDevice look_at(const cvm::LunNode& node);

  const Look look_;
  const std::int64_t look_ms_;
  const std::shared_ptr<Threads> threads_;
  Mutex scan_mutex_;  // one scan at a time
};

}  // namespace symnas::vnfsd::daemon
