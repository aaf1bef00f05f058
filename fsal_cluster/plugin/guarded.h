// Guards of the plugin's blocking entries: each entry goes through one of these functions, which
// take a permit of Admission, let no exception into C, and give no answer of an instance that has
// ended.
#pragma once

#include <exception>

#include "fsal_cluster/ops/request.h"
#include "fsal_cluster/plugin/instance.h"
#include "fsal_cluster/plugin/status.h"

namespace symnas::plugin {

// The RPC for which this thread works.
inline fs::RequestId this_request() {
  if (op_ctx == nullptr || op_ctx->nfs_reqdata == nullptr) return {};
  const timespec& at = op_ctx->start_time;
  return {op_ctx->nfs_reqdata, std::int64_t{at.tv_sec} * 1'000'000'000 + at.tv_nsec};
}

// Runs `call` (returns fsal_status_t), which waits for nothing outside this process.
template <class Call>
fsal_status_t contained(Call&& call) noexcept {
  fs::work_for(this_request());
  try {
    return call();
  } catch (const std::exception& e) {
    LogCrit(COMPONENT_FSAL, "CLUSTER: exception in an operation: %s", e.what());
    return fsalstat(ERR_FSAL_SERVERFAULT, EREMOTEIO);
  }
}

// Runs `call` (returns fsal_status_t), which may wait for etcd. DELAY when too many workers wait
// already.
template <class Call>
fsal_status_t guarded(Call&& call) noexcept {
  return contained([&] {
    const Admission::Permit permit(Instance::get().admission());
    return permit ? call() : fsalstat(ERR_FSAL_DELAY, EAGAIN);
  });
}

// The status for a failed call of the core. Does not return when the instance has ended: then the
// request stays unanswered.
template <class T>
fsal_status_t failed(const Result<T>& result) {
  Instance::get().hold_if_ending(result.error());
  return to_fsal(result.error());
}

}  // namespace symnas::plugin
