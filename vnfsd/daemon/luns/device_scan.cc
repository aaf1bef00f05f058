#include "vnfsd/daemon/luns/device_scan.h"

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include <fmt/core.h>

#include "cvm/lun.h"

namespace symnas::vnfsd::daemon {
namespace {

using Clock = std::chrono::steady_clock;

}  // namespace

struct DeviceScan::Threads {
  Mutex mutex;
  CondVar ended;
  std::set<std::string> running GUARDED_BY(mutex);  // what each of them looks at
};

DeviceScan::DeviceScan(Look look, std::int64_t look_ms)
    : look_(std::move(look)), look_ms_(look_ms), threads_(std::make_shared<Threads>()) {}

DeviceScan::~DeviceScan() = default;

Status DeviceScan::run(const std::string& object, std::int64_t at_most_ms,
                       std::function<void()> work) {
  const auto threads = threads_;
  const MutexLock lock(threads->mutex);
  if (threads->running.contains(object))
    return fail(ErrorCode::kBusy, "it hangs: an earlier look at it has not ended yet");
  if (threads->running.size() >= kHangingLooksMax)
    return fail(ErrorCode::kBusy, fmt::format("not looked at: {} others hang", kHangingLooksMax));
  threads->running.insert(object);
  std::thread([threads, object, work = std::move(work)] {
    work();
    {
      const MutexLock ending(threads->mutex);
      threads->running.erase(object);
    }
    threads->ended.notify_all();
  }).detach();
  const bool ended = threads->ended.wait_for(
      threads->mutex, std::chrono::milliseconds(at_most_ms),
      [&]() REQUIRES(threads->mutex) { return !threads->running.contains(object); });
  if (ended) return {};
  return fail(ErrorCode::kBusy, fmt::format("it has not answered for {} ms", at_most_ms));
}

Result<std::vector<cvm::LunNode>> DeviceScan::nodes_of(const std::string& pattern) {
  using Nodes = Result<std::vector<cvm::LunNode>>;
  const auto found = std::make_shared<std::optional<Nodes>>();
  const Status listed = run(pattern, kDeviceLookMs, [found, pattern] {
    found->emplace(cvm::candidate_nodes(std::vector<std::string>{pattern}));
  });
  if (listed) return **found;
  return fail(listed.error().code,
              fmt::format("lun scan: {}: {}", pattern, listed.error().message));
}

cvm::SurveyedDevice DeviceScan::look_at(const cvm::LunNode& node) {
  const auto seen = std::make_shared<std::optional<cvm::SurveyedDevice>>();
  const Status looked =
      run(node.path, look_ms_, [seen, node, look = look_] { seen->emplace(look(node)); });
  if (looked) return **seen;
  return {.path = node.path, .kind = node.kind, .what = looked.error().message};
}

Result<std::vector<cvm::SurveyedDevice>> DeviceScan::scan(const std::vector<std::string>& patterns,
                                                          Asked asked) {
  if (!scan_mutex_.try_lock())
    return fail(ErrorCode::kBusy, "lun scan: another one runs on this head (repeat it)");
  const MutexLock scanning(scan_mutex_, std::adopt_lock);
  const auto deadline = Clock::now() + std::chrono::milliseconds(kScanMs);
  std::map<std::string, cvm::SurveyedDevice> devices;
  for (const std::string& pattern : patterns) {
    SYMNAS_ASSIGN(const std::vector<cvm::LunNode> nodes, nodes_of(pattern));
    if (nodes.empty() && asked == Asked::kNamed) {
      devices[pattern] = {.path = pattern,
                          .content = cvm::Content::kNoMedium,
                          .what = "neither a device nor a file is there"};
    }
    for (const cvm::LunNode& node : nodes) {
      if (devices.contains(node.path)) continue;
      cvm::SurveyedDevice seen{.path = node.path, .kind = node.kind};
      if (Clock::now() < deadline) {
        seen = look_at(node);
      } else {
        seen.what = fmt::format("not looked at: the scan has taken {} s", kScanMs / 1000);
      }
      if (seen.content == cvm::Content::kNoMedium && asked == Asked::kConfigured) continue;
      devices[node.path] = std::move(seen);
    }
  }
  std::vector<cvm::SurveyedDevice> out;
  for (auto& [path, seen] : devices) out.push_back(std::move(seen));
  return out;
}

}  // namespace symnas::vnfsd::daemon
