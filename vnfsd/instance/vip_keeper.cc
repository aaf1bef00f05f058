#include "vnfsd/instance/vip_keeper.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include <fmt/core.h>

#include "common/base/log.h"
#include "vnfsd/address/link.h"
#include "vnfsd/instance/launcher.h"
#include "vnfsd/instance/limits.h"
#include "vnfsd/instance/retire.h"

namespace symnas::vnfsd::instance {
namespace {

bool is_in(const std::vector<IpAddress>& some, const IpAddress& vip) {
  return std::find(some.begin(), some.end(), vip) != some.end();
}

}  // namespace

void VipKeeper::ask(const InstancePlan& plan, std::int64_t min_ms) {
  question_ = std::make_unique<VipQuestion>(plan.links, min_ms, kVipAskMs);
}

// The plan with those VIPs only that the instance does not have yet: an adopted one may have all.
Result<InstancePlan> VipKeeper::without_own(InstancePlan plan) const {
  std::vector<IpAddress> present;
  SYMNAS_TRY(address::inside_netns(live_.netns(), [&]() -> Status {
    SYMNAS_ASSIGN(present, address::addresses_on(std::string(kLinkPrefix)));
    return {};
  }));
  for (LinkPlan& link : plan.links)
    std::erase_if(link.vips, [&](const Cidr& vip) { return is_in(present, vip.address); });
  std::erase_if(plan.links, [](const LinkPlan& link) { return link.vips.empty(); });
  return plan;
}

// The holders that `question_` has found, without the links of the VNFS's own earlier instances.
std::vector<TakenVip> VipKeeper::who_else(const InstancePlan& plan) {
  std::vector<TakenVip> taken = question_->answers();
  question_.reset();
  std::sort(taken.begin(), taken.end(), [](const TakenVip& a, const TakenVip& b) {
    return std::tie(a.vip.bytes, a.mac) < std::tie(b.vip.bytes, b.mac);
  });
  if (taken.empty()) return taken;
  const auto earlier = host_.earlier(vnfs_);
  if (!earlier) {
    log::warn("vnfs {}: its earlier instances: {}", vnfs_, earlier.error().message);
    return taken;
  }
  std::erase_if(taken, [&](const TakenVip& one) {
    return std::any_of(earlier->begin(), earlier->end(), [&](const auto& instance) {
      return one.mac == spare_mac(instance.first, plan.vnfs, one.network, instance.second);
    });
  });
  return taken;
}

Status VipKeeper::look_for_holders(const InstancePlan& plan) {
  if (!question_) {
    SYMNAS_ASSIGN(const InstancePlan missing, without_own(plan));
    ask(missing, kVipAskMs);
  }
  try_ms_ = now_ms() + kVipRetryMs;
  hold(who_else(plan));
  return {};
}

void VipKeeper::hold(std::vector<TakenVip> taken) {
  if (taken == held_) return;
  held_ = std::move(taken);
  const std::string by_whom = held_text();
  shown_.show([&](InstanceSnapshot& shown) { shown.vips_taken = by_whom; });
  if (held_.empty()) {
    log::info("vnfs {}: nobody else has its VIPs any more", vnfs_);
  } else {
    host_.vips_taken(vnfs_, by_whom);
  }
}

void VipKeeper::forget_holders() {
  held_.clear();
  shown_.show([](InstanceSnapshot& shown) { shown.vips_taken.clear(); });
}

std::vector<IpAddress> VipKeeper::held_vips() const {
  std::vector<IpAddress> held;
  for (const TakenVip& one : held_) {
    if (!is_in(held, one.vip)) held.push_back(one.vip);
  }
  return held;
}

Result<VipKeeper::Up> VipKeeper::take(const InstancePlan& plan) {
  SYMNAS_TRY(look_for_holders(plan));
  const std::vector<IpAddress> held = held_vips();
  std::size_t vips = 0;
  for (const LinkPlan& link : plan.links) vips += link.vips.size();
  if (held.size() == vips && vips != 0) return Up::kTaken;
  up_ = true;
  SYMNAS_TRY(bring_addresses_up(plan, live_.netns(), held));
  plan_ = plan;
  announcements_.begin(now_ms());
  shown_.show([](InstanceSnapshot& shown) { shown.silent = false; });
  return Up::kYes;
}

Status VipKeeper::hide() {
  shown_.show([](InstanceSnapshot& shown) { shown.silent = true; });
  announcements_.stop();
  const Status removed = remove_vips(live_.netns());
  up_ = !removed;  // some may be gone: all are put back by show()
  return removed;
}

Status VipKeeper::show() {
  up_ = true;
  plan_.connections.clear();  // those that have lived on
  SYMNAS_TRY(bring_addresses_up(plan_, live_.netns(), held_vips()));
  announcements_.begin(now_ms());
  shown_.show([](InstanceSnapshot& shown) { shown.silent = false; });
  return {};
}

void VipKeeper::announce_again() {
  announcements_.done(now_ms());
  const Status told = announce_vips(plan_, live_.netns(), held_vips());
  if (!told) log::warn("vnfs {}: {}", vnfs_, told.error().message);
}

void VipKeeper::take_freed(InstancePlan plan) {
  const std::vector<IpAddress> before = held_vips();
  question_.reset();
  if (const Status looked = look_for_holders(plan); !looked)
    return log::warn("vnfs {}: {}", vnfs_, looked.error().message);
  const std::vector<IpAddress> held = held_vips();
  const auto is_free = [&](const IpAddress& vip) {
    return is_in(before, vip) && !is_in(held, vip);
  };
  std::vector<IpAddress> left_alone;
  for (const LinkPlan& link : plan.links) {
    for (const Cidr& vip : link.vips) {
      if (!is_free(vip.address)) left_alone.push_back(vip.address);
    }
  }
  std::erase_if(plan.connections,
                [&](const Connection& one) { return !is_free(one.local.address); });
  if (held.size() >= before.size()) return;
  const Status up = bring_addresses_up(plan, live_.netns(), left_alone);
  if (!up) log::warn("vnfs {}: {}", vnfs_, up.error().message);
  announcements_.begin(now_ms());
}

}  // namespace symnas::vnfsd::instance
