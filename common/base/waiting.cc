#include "common/base/waiting.h"

#include <atomic>

namespace symnas {
namespace {

std::atomic<const WaitHooks*> hooks{nullptr};

struct OfThread {
  int depth = 0;
  bool told = false;
};
thread_local OfThread t_waits;

}  // namespace

void set_wait_hooks(const WaitHooks& lent) {
  static WaitHooks kept;
  kept = lent;
  hooks.store(&kept, std::memory_order_release);
}

Waiting::Waiting() {
  if (t_waits.depth++ > 0) return;
  const WaitHooks* const lent = hooks.load(std::memory_order_acquire);
  if (lent == nullptr) return;
  lent->begin();
  t_waits.told = true;
}

Waiting::~Waiting() {
  if (--t_waits.depth > 0 || !t_waits.told) return;
  t_waits.told = false;
  hooks.load(std::memory_order_acquire)->end();
}

}  // namespace symnas
