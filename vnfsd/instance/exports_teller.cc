#include "vnfsd/instance/exports_teller.h"

#include <chrono>
#include <optional>
#include <thread>
#include <utility>

#include "common/base/log.h"
#include "vnfsd/instance/files.h"
#include "vnfsd/instance/retire.h"

namespace symnas::vnfsd::instance {
namespace {

constexpr auto kTellPause = std::chrono::milliseconds(500);  // after a try that has failed

}  // namespace

void ExportsTeller::tell(InstancePlan plan) {
  // For who looks at it: a start renders it anew.
  if (const auto conf = render_ganesha_conf(plan, fsal_)) {
    const Status written = write_file_atomically(plan.paths.ganesha_conf, *conf, 0600);
    if (!written) log::warn("vnfs {}: {}", vnfs_, written.error().message);
  }
  telling_ = std::async(std::launch::async, [this, plan = std::move(plan)] {
    const Status told = tell_once(plan);
    if (!told) {
      log::error("vnfs {}: its exports: {}", vnfs_, told.error().message);
      std::this_thread::sleep_for(kTellPause);
    }
    wake_();
  });
}

Status ExportsTeller::tell_once(const InstancePlan& plan) {
  SYMNAS_ASSIGN(const std::optional<Revision> telling, host_.tells_exports(plan));
  if (!telling) return {};
  return host_.exports_told(plan, *telling, change_exports(plan.paths.control));
}

bool ExportsTeller::is_telling() const {
  return telling_.valid() &&
         telling_.wait_for(std::chrono::seconds(0)) != std::future_status::ready;
}

}  // namespace symnas::vnfsd::instance
