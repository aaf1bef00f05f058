#include "vnfsd/records/expected_pause.h"

#include <algorithm>

#include <fmt/core.h>

#include "vnfsd/records/history.h"

namespace symnas::vnfsd {
namespace {

// The pauses that are known, sorted.
std::vector<std::int64_t> pauses(const std::vector<Transition>& all, const std::string& head) {
  std::vector<std::int64_t> out;
  for (const Transition& one : all) {
    if (one.cause != Transition::Cause::kMove || one.blackout_ms < 0) continue;
    if (head.empty() || one.to == head) out.push_back(one.blackout_ms);
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::string text_of(const std::vector<std::int64_t>& pauses, const std::string& where) {
  return fmt::format("{} ms (median of {} moves{}; longest {} ms)", pauses[pauses.size() / 2],
                     pauses.size(), where, pauses.back());
}

}  // namespace

std::string expected_pause(const std::vector<records::TenureRecord>& tenures,
                           const std::string& head) {
  const std::vector<Transition> all = transitions(tenures);
  const std::vector<std::int64_t> there = pauses(all, head);
  if (!there.empty()) return text_of(there, " to " + head);
  const std::vector<std::int64_t> anywhere = pauses(all, "");
  if (!anywhere.empty()) return text_of(anywhere, ", none of them to " + head);
  return "not known, no planned move of it is remembered";
}

}  // namespace symnas::vnfsd
