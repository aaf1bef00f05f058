#include "vnfsd/api/drain.h"

#include <chrono>
#include <thread>

#include <fmt/format.h>

#include "vnfsd/api/limits.h"

namespace symnas::vnfsd::api {
namespace {

std::vector<std::string> vnfses_of_head(const ClusterView& view, const std::string& head) {
  std::vector<std::string> names;
  for (const auto& [name, owner] : view.owners)
    if (owner.record.head() == head) names.push_back(name);
  return names;
}

}  // namespace

Status follow_drain(RecordsBackend& records, const std::string& head, Progress& progress) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(kDrainFollowedS);
  std::size_t most = 0;  // that it had, as far as was seen
  std::string left;
  while (std::chrono::steady_clock::now() < end) {
    if (progress.is_cancelled()) {
      return fail(ErrorCode::kConflict,
                  fmt::format("head {}: is not watched any more; it is still being drained (symnas "
                              "head undrain {} takes that back)",
                              head, head));
    }
    const auto view = records.view();
    if (!view) {
      progress.tell(std::nullopt, fmt::format("etcd does not answer: {}", view.error().message));
    } else {
      const std::vector<std::string> names = vnfses_of_head(*view, head);
      if (names.empty()) return {};
      most = std::max(most, names.size());
      left = fmt::format("{}", fmt::join(names, ", "));
      progress.tell(static_cast<double>(most - names.size()) / static_cast<double>(most),
                    "still there: " + left);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(kDrainLookMs));
  }
  return fail(ErrorCode::kBusy,
              fmt::format("head {}: not drained after {} s; what can go still goes; left: {} "
                          "(symnas vnfs status says why)",
                          head, kDrainFollowedS, left));
}

}  // namespace symnas::vnfsd::api
