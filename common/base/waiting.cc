#include "common/base/waiting.h"

namespace symnas {
namespace {
WaitHooks hooks;
}  // namespace

void set_wait_hooks(WaitHooks lent) { hooks = lent; }

Waiting::Waiting() {
  if (hooks.begin != nullptr) hooks.begin();
}
Waiting::~Waiting() {
  if (hooks.end != nullptr) hooks.end();
}

}  // namespace symnas
