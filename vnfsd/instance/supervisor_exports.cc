// Supervisor: the exports of a running instance follow the records, while it serves.
#include <chrono>

#include "common/base/log.h"
#include "vnfsd/instance/files.h"
#include "vnfsd/instance/retire.h"
#include "vnfsd/instance/supervisor.h"

namespace symnas::vnfsd::instance {
namespace {

constexpr auto kTellPause = std::chrono::milliseconds(500);  // after a try that has failed

}  // namespace

// REQUIRES: the instance file lists them. On a thread of its own: a new filesystem takes time to
// mount, and the pulse is to be watched meanwhile.
void Supervisor::tell_exports(InstancePlan plan) {
  // For who looks at it: a start renders it anew.
  if (const auto conf = render_ganesha_conf(plan, fsal_)) {
    const Status written = write_file_atomically(paths_.ganesha_conf, *conf, 0600);
    if (!written) log::warn("vnfs {}: {}", vnfs_, written.error().message);
  }
  telling_ = std::async(std::launch::async, [this, plan = std::move(plan)] {
    const Status told = tell_once(plan);
    if (!told) {
      log::error("vnfs {}: its exports: {}", vnfs_, told.error().message);
      std::this_thread::sleep_for(kTellPause);
    }
    requests_.wake();
  });
}

// A step that fails is repeated when the records are looked at: they say that it is not known what
// is served.
Status Supervisor::tell_once(const InstancePlan& plan) {
  SYMNAS_ASSIGN(const std::optional<Revision> telling, host_.tells_exports(plan));
  if (!telling) return {};
  return host_.exports_told(plan, *telling, change_exports(paths_.control));
}

bool Supervisor::is_telling() const {
  return telling_.valid() &&
         telling_.wait_for(std::chrono::seconds(0)) != std::future_status::ready;
}

}  // namespace symnas::vnfsd::instance
