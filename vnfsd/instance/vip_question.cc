#include "vnfsd/instance/vip_question.h"

#include <algorithm>

#include <fmt/core.h>

#include "common/base/log.h"

namespace symnas::vnfsd::instance {

std::string text_of(const std::vector<TakenVip>& taken) {
  std::string out;
  for (const TakenVip& one : taken) {
    out += fmt::format("{}VIP {} (network {}) is in use by {}", out.empty() ? "" : ", ",
                       one.vip.to_string(), one.network, address::mac_text(one.mac));
  }
  return out;
}

std::vector<TakenVip> foreign(const LinkPlan& link, const std::vector<address::Holder>& holders) {
  std::vector<TakenVip> out;
  for (const address::Holder& holder : holders) {
    const bool own =
        std::find(link.own_macs.begin(), link.own_macs.end(), holder.mac) != link.own_macs.end();
    if (!own) out.push_back({holder.address, link.network, holder.mac});
  }
  return out;
}

VipQuestion::VipQuestion(const std::vector<LinkPlan>& links, std::int64_t min_ms,
                         std::int64_t window_ms) {
  for (const LinkPlan& link : links) {
    asking_.push_back(std::async(std::launch::async, [this, link, min_ms, window_ms] {
      std::vector<IpAddress> vips;
      for (const Cidr& vip : link.vips) vips.push_back(vip.address);
      const auto holders = address::who_has(link.device, vips, {min_ms, window_ms, &enough_});
      if (holders) return foreign(link, *holders);
      log::warn("network {}: {}", link.network, holders.error().message);
      return std::vector<TakenVip>();
    }));
  }
}

std::vector<TakenVip> VipQuestion::answers() {
  enough_ = true;
  std::vector<TakenVip> out;
  for (auto& one : asking_) {
    for (TakenVip& taken : one.get()) out.push_back(std::move(taken));
  }
  asking_.clear();
  return out;
}

}  // namespace symnas::vnfsd::instance
