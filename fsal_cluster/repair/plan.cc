#include "fsal_cluster/repair/plan.h"

namespace symnas::fs::repair {

std::string_view word(Verdict verdict) {
  switch (verdict) {
    case Verdict::kRepair: return "repair";
    case Verdict::kLater: return "later";
    case Verdict::kRefuse: return "refuse";
  }
  return "refuse";
}

std::optional<Order> Plan::first_order() const {
  std::optional<Order> first;
  for (const Step& step : steps) {
    if (step.verdict != Verdict::kRepair || step.order == Order::kAny) continue;
    if (!first || step.order < *first) first = step.order;
  }
  return first;
}

bool Plan::is_due(const Step& step) const {
  if (step.verdict != Verdict::kRepair) return false;
  return step.order == Order::kAny || step.order == first_order();
}

}  // namespace symnas::fs::repair
