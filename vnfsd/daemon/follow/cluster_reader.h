// ClusterReader: the cluster's records, as every component of the agent sees them. Thread-safe.
#pragma once

#include <optional>
#include <utility>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "vnfsd/daemon/head/this_head.h"
#include "vnfsd/records/cluster_view.h"

namespace symnas::vnfsd::daemon {

class ClusterReader {
 public:
  virtual ~ClusterReader() = default;

  // Whether this head is registered.
  virtual bool is_ready() const = 0;
  // Waits for that. Errors: kForeign (this head was removed), kUnavailable.
  virtual Status wait_ready() = 0;
  // What the watch has shown; nothing: it has shown nothing yet, or what it shows is too old. It
  // may lag behind the store. Errors: kCorrupt.
  virtual std::optional<Result<ClusterView>> shown() const = 0;
  // What etcd answers. Errors: as read_view().
  virtual Result<ClusterView> fresh() = 0;
  // From now on shown() says nothing that is older: what was done here is seen here.
  virtual void must_show(Revision revision) = 0;
  // At the records, and at what this head knows itself: something has changed. Waits for nothing.
  virtual void look_again() = 0;

  // What the watch has shown, if it has; what etcd answers otherwise. Errors: as read_view().
  Result<ClusterView> seen() {
    if (auto view = shown()) return std::move(*view);
    return fresh();
  }
};

// What etcd answers when this head is registered. Errors: as wait_ready() and read_view().
Result<ClusterView> read_when_ready(const ThisHead& head, ClusterReader& reader);

}  // namespace symnas::vnfsd::daemon
