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
  // Waits until this head is registered. Errors: kForeign (this head was removed), kUnavailable.
  virtual Status wait_ready() = 0;
  // The records as the watch has shown them; nullopt: it has shown nothing yet, or what it has
  // shown is too old. They may lag behind the store. Errors: kCorrupt.
  virtual std::optional<Result<ClusterView>> shown() const = 0;
  // The records, read from etcd. Errors: as read_view().
  virtual Result<ClusterView> fresh() = 0;
  // From now on shown() returns nothing older than `revision`: a head sees what it has done itself.
  virtual void must_show(Revision revision) = 0;
  // Has the agent look again at the records, and at what this head knows itself, because something
  // has changed. Waits for nothing.
  virtual void look_again() = 0;

  // shown() if there is something, else fresh(). Errors: as read_view().
  Result<ClusterView> seen() {
    if (auto view = shown()) return std::move(*view);
    return fresh();
  }
};

// Waits until this head is registered, then reads the records from etcd. Errors: as wait_ready()
// and read_view().
Result<ClusterView> read_when_ready(const ThisHead& head, ClusterReader& reader);

}  // namespace symnas::vnfsd::daemon
