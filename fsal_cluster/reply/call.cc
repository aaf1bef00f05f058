#include "fsal_cluster/reply/call.h"

#include <utility>

namespace symnas::fs {
namespace {
thread_local CallInProgress* t_call = nullptr;
}  // namespace

CallScope::CallScope(std::optional<Call> call) {
  if (!call) return;
  call_.emplace(CallInProgress{std::move(*call), std::nullopt});
  t_call = &*call_;
}

CallScope::~CallScope() { t_call = nullptr; }

CallInProgress* call_in_progress() { return t_call; }

}  // namespace symnas::fs
