// Supervisor: no VIP is taken that somebody else answers for.
#include <algorithm>
#include <tuple>

#include <fmt/core.h>

#include "common/base/log.h"
#include "vnfsd/address/link.h"
#include "vnfsd/instance/files.h"
#include "vnfsd/instance/launcher.h"
#include "vnfsd/instance/limits.h"
#include "vnfsd/instance/supervisor.h"

namespace symnas::vnfsd::instance {

// The plan with those VIPs only that the instance does not have yet: an adopted one may have all.
Result<InstancePlan> Supervisor::without_own_vips(InstancePlan plan) const {
  std::vector<IpAddress> present;
  SYMNAS_TRY(address::inside_netns(netns_.get(), [&]() -> Status {
    SYMNAS_ASSIGN(present, address::addresses_on(std::string(kLinkPrefix)));
    return {};
  }));
  for (LinkPlan& link : plan.links) {
    std::erase_if(link.vips, [&](const Cidr& vip) {
      return std::find(present.begin(), present.end(), vip.address) != present.end();
    });
  }
  std::erase_if(plan.links, [](const LinkPlan& link) { return link.vips.empty(); });
  return plan;
}

// The holders that `vips_.question` has found, without the links of the VNFS's own earlier
// instances.
std::vector<TakenVip> Supervisor::who_else(const InstancePlan& plan) {
  std::vector<TakenVip> taken = vips_.question->answers();
  vips_.question.reset();
  std::sort(taken.begin(), taken.end(), [](const TakenVip& a, const TakenVip& b) {
    return std::tie(a.vip.bytes, a.mac) < std::tie(b.vip.bytes, b.mac);
  });
  if (taken.empty()) return taken;
  const auto earlier = host_.earlier(vnfs_);
  if (!earlier) {
    log::warn("vnfs {}: its earlier instances: {}", plan.vnfs, earlier.error().message);
    return taken;
  }
  std::erase_if(taken, [&](const TakenVip& one) {
    return std::any_of(earlier->begin(), earlier->end(), [&](const auto& instance) {
      return one.mac == spare_mac(instance.first, plan.vnfs, one.network, instance.second);
    });
  });
  return taken;
}

// Brings `vips_.held` up to date.
void Supervisor::look_for_holders(const InstancePlan& plan) {
  vips_.try_ms = now_ms() + kVipRetryMs;
  hold(who_else(plan));
}

void Supervisor::hold(std::vector<TakenVip> taken) {
  if (taken == vips_.held) return;
  vips_.held = std::move(taken);
  const std::string by_whom = text_of(vips_.held);
  requests_.show([&](InstanceSnapshot& shown) { shown.vips_taken = by_whom; });
  if (vips_.held.empty()) {
    log::info("vnfs {}: nobody else has its VIPs any more", vnfs_);
  } else {
    host_.vips_taken(vnfs_, by_whom);
  }
}

std::vector<IpAddress> Supervisor::held_vips() const {
  std::vector<IpAddress> held;
  for (const TakenVip& one : vips_.held) {
    if (std::find(held.begin(), held.end(), one.vip) == held.end()) held.push_back(one.vip);
  }
  return held;
}

Result<Supervisor::VipsUp> Supervisor::take_vips(const InstancePlan& plan) {
  if (!vips_.question) {
    SYMNAS_ASSIGN(const InstancePlan missing, without_own_vips(plan));
    vips_.question = std::make_unique<VipQuestion>(missing.links, kVipAskMs, kVipAskMs);
  }
  look_for_holders(plan);
  const std::vector<IpAddress> held = held_vips();
  std::size_t vips = 0;
  for (const LinkPlan& link : plan.links) vips += link.vips.size();
  if (held.size() == vips && vips != 0) {
    show("starting", fmt::format("{}: not taken before nobody answers for it any more (it is asked "
                                 "every {} s)",
                                 text_of(vips_.held), kVipRetryMs / 1000));
    return VipsUp::kTaken;
  }
  vips_.up = true;
  SYMNAS_TRY(bring_addresses_up(plan, netns_.get(), held));
  return VipsUp::kYes;
}

// Of an instance that serves with its other VIPs: their connections are left alone.
void Supervisor::try_held_vips() {
  const std::vector<IpAddress> before = held_vips();
  vips_.try_ms = now_ms() + kVipRetryMs;
  auto plan = read_plan();
  if (!plan || pulse_.watch.hidden()) return;
  const auto missing = without_own_vips(*plan);
  if (!missing) return log::warn("vnfs {}: {}", vnfs_, missing.error().message);
  vips_.question = std::make_unique<VipQuestion>(missing->links, kVipAskMs, kVipAskMs);
  look_for_holders(*plan);
  const std::vector<IpAddress> held = held_vips();
  const auto is_in = [](const std::vector<IpAddress>& some, const IpAddress& vip) {
    return std::find(some.begin(), some.end(), vip) != some.end();
  };
  const auto is_free = [&](const IpAddress& vip) {
    return is_in(before, vip) && !is_in(held, vip);
  };
  std::vector<IpAddress> left_alone;
  for (const LinkPlan& link : plan->links) {
    for (const Cidr& vip : link.vips) {
      if (!is_free(vip.address)) left_alone.push_back(vip.address);
    }
  }
  std::erase_if(plan->connections,
                [&](const Connection& one) { return !is_free(one.local.address); });
  if (held.size() < before.size()) {
    const Status up = bring_addresses_up(*plan, netns_.get(), left_alone);
    if (!up) log::warn("vnfs {}: {}", vnfs_, up.error().message);
  }
  show_serving();
}

void Supervisor::show_serving() {
  std::string problems = lines_of(paths_.problems_file);
  if (!vips_.held.empty()) {
    problems += fmt::format("{}{}", problems.empty() ? "" : "; ", text_of(vips_.held));
  }
  show("serving", problems);
}

}  // namespace symnas::vnfsd::instance
