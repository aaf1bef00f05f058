// VipQuestion: asks the networks of a VNFS whether somebody else has its VIPs, while the VNFS's
// instance starts: no start takes longer for the question. Thread class: thread-compatible; works
// on threads of its own.
#pragma once

#include <atomic>
#include <cstdint>
#include <future>
#include <string>
#include <vector>

#include "vnfsd/address/holders.h"
#include "vnfsd/instance/plan.h"

namespace symnas::vnfsd::instance {

// A VIP that somebody else answers for.
struct TakenVip {
  IpAddress vip;
  std::string network;
  address::MacAddress mac;
  friend bool operator==(const TakenVip&, const TakenVip&) = default;
};

// For people: "VIP 10.0.0.101 (network nfs0) is in use by 52:54:00:12:34:56, ...".
std::string text_of(const std::vector<TakenVip>& taken);

// The holders that are no link of the VNFS on any head. Pure.
std::vector<TakenVip> foreign(const LinkPlan& link, const std::vector<address::Holder>& holders);

class VipQuestion {
 public:
  // Begins to ask from the head's devices: for window_ms, or until answers() is called, but not
  // for less than min_ms.
  VipQuestion(const std::vector<LinkPlan>& links, std::int64_t min_ms, std::int64_t window_ms);
  ~VipQuestion() { enough_ = true; }
  VipQuestion(const VipQuestion&) = delete;
  VipQuestion& operator=(const VipQuestion&) = delete;

  // The VIPs for which somebody else was heard. Where nothing can be asked (no such device) nobody
  // is known to answer; that is logged.
  std::vector<TakenVip> answers();

 private:
  std::atomic<bool> enough_{false};
  std::vector<std::future<std::vector<TakenVip>>> asking_;  // one for each link
};

}  // namespace symnas::vnfsd::instance
