#include "vnfsd/daemon/load/load_history.h"

#include <utility>

#include "vnfsd/daemon/load/limits.h"
#include "vnfsd/records/load.h"

namespace symnas::vnfsd::daemon {

void LoadHistory::add(const std::string& vnfs, Epoch epoch, std::int64_t now_ms,
                      fs::LoadReport report) {
  Vnfs& known = vnfses_[vnfs];
  if (known.epoch != epoch) known = {epoch, {}};
  auto& reads = known.reads;
  // Of reports that are too close the newest stays, so that their number is bounded.
  if (reads.size() > 1 && now_ms - reads[reads.size() - 2].at_ms < kLoadSpanMinMs) reads.pop_back();
  reads.push_back({now_ms, std::move(report)});
  while (reads.size() > 2 && reads[1].at_ms <= now_ms - kLoadSpanMs) reads.pop_front();
}

std::optional<records::LoadVnfs> LoadHistory::last(const std::string& vnfs) const {
  const auto known = vnfses_.find(vnfs);
  if (known == vnfses_.end() || known->second.reads.size() < 2) return std::nullopt;
  const Read& before = known->second.reads.front();
  const Read& now = known->second.reads.back();
  if (now.at_ms - before.at_ms < kLoadSpanMinMs) return std::nullopt;
  records::LoadVnfs out = load_between(before.report, now.report);
  out.set_vnfs(vnfs);
  out.set_epoch(known->second.epoch.value());
  out.set_span_ms(static_cast<std::uint32_t>(now.at_ms - before.at_ms));
  return out;
}

}  // namespace symnas::vnfsd::daemon
