#include "fsal_cluster/ops/request.h"

namespace symnas::fs {
namespace {

struct State {
  RequestId id;
  const void* passed = nullptr;  // the session; only the latest one: an RPC has one filesystem
};
thread_local State t_state;

}  // namespace

void work_for(RequestId id) {
  if (t_state.id == id) return;
  t_state = {id, nullptr};
}

bool has_passed_barrier(const void* session) {
  return t_state.id.request != nullptr && t_state.passed == session;
}

void note_barrier(const void* session) {
  if (t_state.id.request != nullptr) t_state.passed = session;
}

}  // namespace symnas::fs
