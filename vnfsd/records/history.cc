#include "vnfsd/records/history.h"

#include <algorithm>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "common/kv/keys.h"

namespace symnas::vnfsd {
namespace {

using Cause = Transition::Cause;

Cause cause_of(const records::TenureRecord* before, const records::TenureRecord& now) {
  if (before == nullptr) return Cause::kStart;
  switch (before->departure().cause()) {
    case records::DEPARTURE_MOVED: return Cause::kMove;
    case records::DEPARTURE_FENCED: return Cause::kFailover;
    case records::DEPARTURE_ENDED:
      return before->head() == now.head() ? Cause::kRestart : Cause::kFailover;
    default: break;
  }
  const bool seen = before->departure().steps_size() > 0;
  if (seen) return Cause::kStart;  // by the administrator, after a stop
  return before->head() == now.head() ? Cause::kRestart : Cause::kFailover;
}

Transition transition(const records::TenureRecord* before, const records::TenureRecord& now) {
  Transition out;
  out.cause = cause_of(before, now);
  out.to = now.head();
  out.epoch = now.epoch();
  out.steps.assign(now.arrival().begin(), now.arrival().end());
  out.steps.insert(out.steps.end(), now.later().begin(), now.later().end());
  if (before != nullptr) {
    const records::Departure& left = before->departure();
    out.from = before->head();
    out.kept = left.kept();
    out.error = left.error();
    out.steps.insert(out.steps.end(), left.steps().begin(), left.steps().end());
    if (left.steps_size() > 0 && now.arrival_size() > 0 && out.cause != Cause::kStart) {
      const std::int64_t gap_ns =
          now.arrival(now.arrival_size() - 1).at_ns() - left.steps(0).at_ns();
      out.blackout_ms = std::max<std::int64_t>(gap_ns, 0) / 1'000'000;
    }
  }
  std::stable_sort(out.steps.begin(), out.steps.end(),
                   [](const auto& a, const auto& b) { return a.at_ns() < b.at_ns(); });
  if (!out.steps.empty()) out.began_ns = out.steps.front().at_ns();
  return out;
}

}  // namespace

void add_step(google::protobuf::RepeatedPtrField<records::Step>& steps, std::string_view name,
              std::int64_t at_ns) {
  records::Step* step = steps.Add();
  step->set_name(std::string(name));
  step->set_at_ns(at_ns);
}

const char* name_of(Cause cause) {
  switch (cause) {
    case Cause::kStart: return "start";
    case Cause::kRestart: return "restart";
    case Cause::kMove: return "move";
    case Cause::kFailover: return "failover";
  }
  return "?";
}

std::vector<Transition> transitions(const std::vector<records::TenureRecord>& tenures) {
  std::vector<Transition> out;
  const records::TenureRecord* before = nullptr;
  for (const records::TenureRecord& tenure : tenures) {
    out.push_back(transition(before, tenure));
    before = &tenure;
  }
  return out;
}

nlohmann::json history_document(const std::vector<records::TenureRecord>& tenures) {
  nlohmann::json out = nlohmann::json::array();
  for (const Transition& one : transitions(tenures)) {
    nlohmann::json steps = nlohmann::json::array();
    for (const records::Step& step : one.steps) {
      steps.push_back({{"name", step.name()}, {"at_ns", step.at_ns()}});
    }
    nlohmann::json entry = {{"cause", name_of(one.cause)},
                            {"from", one.from},
                            {"to", one.to},
                            {"epoch", one.epoch},
                            {"began_ns", one.began_ns},
                            {"steps", steps},
                            {"kept", one.kept},
                            {"error", one.error}};
    if (one.blackout_ms >= 0) entry["blackout_ms"] = one.blackout_ms;
    out.push_back(std::move(entry));
  }
  return out;
}

Result<std::vector<records::TenureRecord>> read_history(kv::Store& store, const std::string& vnfs,
                                                        std::int64_t deadline_ms) {
  const std::string prefix = kv::keys::history_prefix(vnfs);
  SYMNAS_ASSIGN(const kv::OpResult read,
                kv::range_blocking(store, kv::prefix_range(prefix), 0, deadline_ms));
  std::vector<records::TenureRecord> tenures;
  for (const kv::KeyValue& kv : read.kvs) {
    records::TenureRecord& tenure = tenures.emplace_back();
    if (!tenure.ParseFromString(kv.value)) {
      return fail(ErrorCode::kCorrupt, fmt::format("{}: cannot be parsed", kv.key));
    }
  }
  return tenures;
}

}  // namespace symnas::vnfsd
