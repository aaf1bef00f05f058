// Supervisor: the exports of a running instance follow the records, while it serves.
#include <chrono>

#include <sys/eventfd.h>

#include "common/base/log.h"
#include "vnfsd/instance/files.h"
#include "vnfsd/instance/retire.h"
#include "vnfsd/instance/supervisor.h"

namespace symnas::vnfsd::instance {

// REQUIRES: the instance file lists them. On a thread of its own: a new filesystem takes time to
// mount, and the pulse is to be watched meanwhile.
void Supervisor::tell_exports(InstancePlan plan) {
  // For who looks at it: a start renders it anew.
  if (const auto conf = render_ganesha_conf(plan, fsal_)) {
    const Status written = write_file_atomically(paths_.ganesha_conf, *conf, 0600);
    if (!written) log::warn("vnfs {}: {}", vnfs_, written.error().message);
  }
  telling_ = std::async(std::launch::async, [this, plan = std::move(plan)] {
    const Status taken = change_exports(paths_.control);
    if (!taken) log::error("vnfs {}: its exports: {}", vnfs_, taken.error().message);
    host_.exports_told(plan, taken);
    ::eventfd_write(wake_.get(), 1);
  });
}

bool Supervisor::is_telling() const {
  return telling_.valid() &&
         telling_.wait_for(std::chrono::seconds(0)) != std::future_status::ready;
}

}  // namespace symnas::vnfsd::instance
