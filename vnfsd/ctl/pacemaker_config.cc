#include "vnfsd/ctl/pacemaker_config.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <optional>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace symnas::vnfsd::ctl {
namespace {

using nlohmann::json;

const char* const kFenceDevice = "symnas-fence";
const char* const kNever = "-INFINITY";

struct Operation {
  const char* name;
  const char* timeout;
  const char* interval;  // nullptr: it does not recur
};
constexpr Operation kOperations[] = {
    {"start", "120s", nullptr},      {"stop", "90s", nullptr},         {"monitor", "40s", "10s"},
    {"migrate_to", "120s", nullptr}, {"migrate_from", "60s", nullptr}, {"reload", "40s", nullptr}};

Words joined(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

std::vector<std::string> names_of(const json& rows) {
  std::vector<std::string> out;
  for (const json& row : rows) out.push_back(row.value("name", ""));
  return out;
}

bool is_among(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string value_of(const Texts& texts, const std::string& name) {
  const auto found = texts.find(name);
  return found == texts.end() ? "" : found->second;
}

// The VNFS's name, unless XML has no such id.
std::string resource_id(const std::string& vnfs) {
  const bool is_letter = std::isalpha(static_cast<unsigned char>(vnfs[0])) != 0;
  return is_letter ? vnfs : "vnfs-" + vnfs;
}

std::string stickiness_of(const json& vnfs) {
  return vnfs.value("failback", "") == "auto" ? "0" : std::to_string(kStickiness);
}

bool is_score(const std::string& text, double& score) {
  std::string digits = text;
  if (!digits.empty() && digits.front() == '+') digits.erase(0, 1);
  if (digits == "INFINITY" || digits == kNever) {
    score = digits.front() == '-' ? -INFINITY : INFINITY;
    return true;
  }
  int number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  score = number;
  return error == std::errc() && end == digits.data() + digits.size();
}

class Planner {
 public:
  // cib: nullptr: nothing is known, and nothing is assumed to be there.
  Planner(const PacemakerFacts& facts, const Cib* cib) : facts_(facts), cib_(cib) {}

  PacemakerPlan plan() {
    properties();
    fencing();
    for (const json& vnfs : facts_.vnfses) resource(vnfs);
    if (cib_ != nullptr) warn();
    return std::move(plan_);
  }

 private:
  void step(std::string what, std::vector<Words> pcs, std::vector<Words> crm) {
    plan_.steps.push_back({std::move(what), std::move(pcs), std::move(crm)});
  }
  void warning(std::string what) { plan_.warnings.push_back(std::move(what)); }

  std::string property(const char* name) const {
    return cib_ == nullptr ? "" : value_of(cib_->properties, name);
  }
  void set_property(const char* name, const char* wanted, const std::string& why) {
    const std::string pair = fmt::format("{}={}", name, wanted);
    const std::string is = property(name);
    step(fmt::format("property {} is {}: {}", name, is.empty() ? "not set" : is, why),
         {{"pcs", "property", "set", pair}}, {{"crm", "configure", "property", pair}});
  }
  void properties() {
    if (property("stonith-enabled") != "true")
      set_property("stonith-enabled", "true", "without fencing nothing moves from a lost head");
    const std::string action = property("stonith-action");
    if (action != "off" && action != "poweroff")
      set_property("stonith-action", "off", "only a head that was turned off is a proof");
    const std::string policy = property("no-quorum-policy");
    if (policy.empty() || policy == "ignore") {
      set_property("no-quorum-policy", "freeze",
                   "VNFSs go on without corosync's quorum; etcd says who serves");
    }
  }

  void fencing() {
    if (cib_ != nullptr &&
        std::any_of(cib_->resources.begin(), cib_->resources.end(),
                    [](const CibResource& one) { return one.agent.starts_with("stonith:"); })) {
      return;
    }
    const Words rest = {"pcmk_off_timeout=120s", "op", "monitor", "interval=60s", "timeout=30s"};
    step(
        "there is no stonith device: fence_symnas has symnas fence (each head needs [fence] in "
        "vnfsd.toml: reservations or an agent); one of your own does as well",
        {joined({"pcs", "stonith", "create", kFenceDevice, "fence_symnas"}, rest)},
        {joined({"crm", "configure", "primitive", kFenceDevice, "stonith:fence_symnas", "params"},
                rest)});
  }

  const CibResource* resource_of(const std::string& vnfs) const {
    if (cib_ == nullptr) return nullptr;
    for (const CibResource& one : cib_->resources) {
      if (one.agent == kVnfsAgent && value_of(one.parameters, "vnfs") == vnfs) return &one;
    }
    return nullptr;
  }
  bool is_taken(const std::string& id) const {
    return cib_ != nullptr && std::any_of(cib_->resources.begin(), cib_->resources.end(),
                                          [&](const CibResource& one) { return one.id == id; });
  }

  // Not managed until it has its scores: it would be started just anywhere, or stopped where it
  // runs.
  void create(const json& vnfs, const std::string& id) {
    const std::string name = vnfs.value("name", "");
    Words operations;
    for (const Operation& one : kOperations) {
      operations = joined(operations, {"op", one.name});
      if (one.interval != nullptr) operations.push_back(fmt::format("interval={}", one.interval));
      operations.push_back(fmt::format("timeout={}", one.timeout));
    }
    const Words rest = joined(
        operations, {"meta", "allow-migrate=true", "resource-stickiness=" + stickiness_of(vnfs),
                     "migration-threshold=2", "failure-timeout=120s", "is-managed=false"});
    const Texts scores = scores_of(vnfs);
    std::vector<Words> pcs = {
        joined({"pcs", "resource", "create", id, kVnfsAgent, "vnfs=" + name}, rest)};
    std::vector<Words> crm = {
        joined({"crm", "configure", "primitive", id, kVnfsAgent, "params", "vnfs=" + name}, rest)};
    if (!scores.empty()) pcs.push_back(prefer_by_pcs(id, scores));
    for (const auto& [head, score] : scores) crm.push_back(prefer_by_crm(id, head, score));
    pcs.push_back({"pcs", "resource", "manage", id});
    crm.push_back({"crm", "resource", "manage", id});
    step(fmt::format("vnfs {}: it has no resource", name), pcs, crm);
  }

  void set_meta(const std::string& id, const char* name, const std::string& value,
                const std::string& what) {
    step(fmt::format("resource {}: {}", id, what),
         {{"pcs", "resource", "meta", id, fmt::format("{}={}", name, value)}},
         {{"crm", "resource", "meta", id, "set", name, value}});
  }
  void mend(const json& vnfs, const CibResource& there) {
    if (!there.clone.empty()) {
      warning(
          fmt::format("resource {}: it is in the clone {}: one head serves a VNFS at a time "
                      "(pcs resource unclone {})",
                      there.id, there.clone, there.id));
    }
    if (value_of(there.meta, "allow-migrate") != "true")
      set_meta(there.id, "allow-migrate", "true", "allow-migrate is not true: moves lose locks");
    mend_stickiness(vnfs, there);
    mend_monitor(there);
    if (value_of(there.meta, "is-managed") == "false")
      warning(fmt::format("resource {}: it is not managed (pcs resource manage {})", there.id,
                          there.id));
    if (const std::string role = value_of(there.meta, "target-role"); role == "Stopped")
      warning(fmt::format("resource {}: it is to be stopped (pcs resource enable {})", there.id,
                          there.id));
  }
  void mend_stickiness(const json& vnfs, const CibResource& there) {
    const std::string is = value_of(there.meta, "resource-stickiness");
    double score = 0;
    const bool known = is_score(is, score);
    const bool goes_back = vnfs.value("failback", "") == "auto";
    if (known && (goes_back ? score < kScoreStep : score > kScoreFirst)) return;
    set_meta(there.id, "resource-stickiness", stickiness_of(vnfs),
             fmt::format("resource-stickiness is {}, and its failback is {}",
                         is.empty() ? "not set" : is, vnfs.value("failback", "?")));
  }
  void mend_monitor(const CibResource& there) {
    const auto found = there.operations.find("monitor");
    const Texts none;
    const Texts& monitor = found == there.operations.end() ? none : found->second;
    const std::string grace = value_of(there.parameters, "vnfsd_grace");
    const double grace_s = grace.empty() ? kVnfsdGraceS : seconds_of(grace);
    const bool recurs = seconds_of(value_of(monitor, "interval")) > 0;
    if (recurs && seconds_of(value_of(monitor, "timeout")) > grace_s) return;
    step(fmt::format("resource {}: {}", there.id,
                     recurs ? fmt::format("its monitor ends after {}, a vnfsd that restarts may be "
                                          "away for {:g} s",
                                          value_of(monitor, "timeout"), grace_s)
                            : "it is not monitored"),
         {{"pcs", "resource", "update", there.id, "op", "monitor", "interval=10s",
           fmt::format("timeout={:g}s", 2 * grace_s)}},
         {});
  }

  void resource(const json& vnfs) {
    const std::string name = vnfs.value("name", "");
    const CibResource* there = resource_of(name);
    const std::string id = there == nullptr ? resource_id(name) : there->id;
    if (there == nullptr && is_taken(id)) {
      warning(fmt::format("vnfs {}: it has no resource, and another one is called {}", name, id));
      return;
    }
    if (there == nullptr) {
      create(vnfs, id);
    } else {
      mend(vnfs, *there);
      mend_scores(vnfs, id);
    }
    if (vnfs.value("wanted", "") == "stopped")
      warning(fmt::format("vnfs {}: it is stopped (symnas vnfs start {})", name, name));
  }

  // By head; of heads that are nodes.
  Texts scores_of(const json& vnfs) const {
    Texts out;
    for (const std::string& head : names_of(facts_.heads)) out[head] = kNever;
    int score = kScoreFirst;
    for (const json& head : vnfs.value("heads", json::array())) {
      out[head.get<std::string>()] = std::to_string(score);
      score -= kScoreStep;
    }
    if (cib_ != nullptr) {
      std::erase_if(out, [&](const auto& one) { return !is_among(cib_->nodes, one.first); });
    }
    return out;
  }
  // pcs has one of these for a resource and a node: it replaces the former.
  static Words prefer_by_pcs(const std::string& id, const Texts& scores) {
    Words out = {"pcs", "constraint", "location", id, "prefers"};
    for (const auto& [head, score] : scores) out.push_back(fmt::format("{}={}", head, score));
    return out;
  }
  static std::string location_prefix(const std::string& id, const std::string& head) {
    return fmt::format("location-{}-{}-", id, head);
  }
  static Words prefer_by_crm(const std::string& id, const std::string& head,
                             const std::string& score) {
    return {"crm", "configure", "location", location_prefix(id, head) + score,
            id,    score + ":", head};
  }

  void mend_scores(const json& vnfs, const std::string& id) {
    Texts wanted = scores_of(vnfs);
    Texts is;
    std::vector<Words> crm;
    for (const CibLocation& one : cib_->locations) {
      if (one.resource == id) look_at(one, wanted, is, crm);
    }
    if (wanted.empty()) return;
    std::string what;
    for (const auto& [head, score] : wanted) {
      const std::string now = value_of(is, head);
      what += fmt::format("{} {} on {}, not {}", what.empty() ? "" : ",", score, head,
                          now.empty() ? "none" : now);
      crm.push_back(prefer_by_crm(id, head, score));
    }
    step(fmt::format("resource {}: its scores should be{}", id, what), {prefer_by_pcs(id, wanted)},
         crm);
  }
  // What is as it should be is taken out of `wanted`; the others' present scores are put into `is`.
  void look_at(const CibLocation& there, Texts& wanted, Texts& is, std::vector<Words>& crm) {
    const std::string& id = there.resource;
    if (!there.id.starts_with(location_prefix(id, there.node))) {
      warning(fmt::format(
          "resource {}: the constraint {} ({}, score {}) stands beside the order "
          "of its heads (pcs resource clear {}, or pcs constraint delete {})",
          id, there.id, there.node.empty() ? "a rule" : there.node, there.score, id, there.id));
      return;
    }
    const Words removed_by_crm = {"crm", "configure", "delete", there.id};
    const auto found = wanted.find(there.node);
    if (found == wanted.end()) {
      step(fmt::format("resource {}: {} is no head any more", id, there.node),
           {{"pcs", "constraint", "delete", there.id}}, {removed_by_crm});
      return;
    }
    double now = 0;
    double should = 0;
    if (is_score(there.score, now) && is_score(found->second, should) && now == should) {
      wanted.erase(found);
    } else {
      is[there.node] = there.score;
      crm.push_back(removed_by_crm);
    }
  }

  void warn() {
    if (facts_.decider != "pacemaker") {
      warning(
          fmt::format("the decider is {}: pacemaker's orders are refused (symnas ha decider "
                      "pacemaker)",
                      facts_.decider));
    }
    if (property("maintenance-mode") == "true")
      warning("maintenance-mode is true: pacemaker orders and fences nothing");
    const std::vector<std::string> heads = names_of(facts_.heads);
    for (const std::string& node : cib_->nodes) {
      if (!is_among(heads, node)) {
        warning(fmt::format("node {}: no head has this name; nodes have the names of their heads",
                            node));
      }
    }
    for (const std::string& head : heads) {
      if (!is_among(cib_->nodes, head))
        warning(fmt::format("head {}: no node of pacemaker has this name", head));
    }
    const std::vector<std::string> vnfses = names_of(facts_.vnfses);
    for (const CibResource& one : cib_->resources) {
      const std::string vnfs = value_of(one.parameters, "vnfs");
      if (one.agent != kVnfsAgent || is_among(vnfses, vnfs)) continue;
      warning(fmt::format("resource {}: there is no VNFS {} (pcs resource delete {})", one.id, vnfs,
                          one.id));
    }
    for (const json& vnfs : facts_.vnfses) warn_of_twins(vnfs.value("name", ""));
    for (const CibResource& one : cib_->resources) warn_of_cuts(one);
  }
  // Its `off` is a proof of what [fence] cuts says.
  void warn_of_cuts(const CibResource& device) {
    const bool is_luns =
        device.agent == "stonith:fence_scsi" || device.agent == "stonith:fence_mpath";
    if (!is_luns || facts_.cuts != "power") return;
    warning(
        fmt::format("{}: {} cuts a head off from its LUNs only, and vnfsd.toml of this head says "
                    "cuts = \"power\": what it has in memory it may answer to clients for 10 s "
                    "more ([fence] cuts = \"luns\" on every head)",
                    device.id, device.agent));
  }
  void warn_of_twins(const std::string& vnfs) {
    std::string ids;
    int count = 0;
    for (const CibResource& one : cib_->resources) {
      if (one.agent != kVnfsAgent || value_of(one.parameters, "vnfs") != vnfs) continue;
      ids += (ids.empty() ? "" : ", ") + one.id;
      ++count;
    }
    if (count > 1) warning(fmt::format("vnfs {}: it has {} resources: {}", vnfs, count, ids));
  }

  const PacemakerFacts& facts_;
  const Cib* cib_;
  PacemakerPlan plan_;
};

}  // namespace

PacemakerPlan pacemaker_setup(const PacemakerFacts& facts) {
  return Planner(facts, nullptr).plan();
}

PacemakerPlan pacemaker_changes(const PacemakerFacts& facts, const Cib& cib) {
  return Planner(facts, &cib).plan();
}

double seconds_of(const std::string& duration) {
  static const std::map<std::string, double> kUnits = {{"", 1.0},     {"s", 1.0},    {"sec", 1.0},
                                                       {"ms", 0.001}, {"m", 60.0},   {"min", 60.0},
                                                       {"h", 3600.0}, {"hr", 3600.0}};
  int number = 0;
  const char* const end = duration.data() + duration.size();
  const auto [unit, error] = std::from_chars(duration.data(), end, number);
  const auto known = kUnits.find(std::string(unit, end));
  return error != std::errc() || known == kUnits.end() || number < 0 ? -1 : number * known->second;
}

}  // namespace symnas::vnfsd::ctl
