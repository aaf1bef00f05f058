#include "vnfsd/daemon/journal/commit.h"

#include <utility>

namespace symnas::vnfsd::daemon {

Result<std::string> commit(const ThisHead& head, EventWriter& events, const Planner& planner,
                           Mode mode) {
  const Planner allowed = [&](const ClusterView& view) -> Result<Change> {
    SYMNAS_TRY(head.check_not_removed(view));  // the removal is a change, so none comes between
    return planner(view);
  };
  return make_change(head.store, allowed, mode,
                     [&events](records::EventRecord event) { return events.op(std::move(event)); });
}

}  // namespace symnas::vnfsd::daemon
