// RecordsAdmin: shows the records to administrators, and makes changes that touch only records.
// Thread-safe.
#pragma once

#include <string>

#include "vnfsd/api/backends.h"
#include "vnfsd/daemon/follow/cluster_reader.h"
#include "vnfsd/daemon/head/this_head.h"
#include "vnfsd/daemon/journal/event_writer.h"

namespace symnas::vnfsd::daemon {

class RecordsAdmin final : public api::RecordsBackend {
 public:
  RecordsAdmin(const ThisHead& head, ClusterReader& reader, EventWriter& events)
      : head_(head), reader_(reader), events_(events) {}

  Result<ClusterView> view() override;
  Result<std::string> change(const Planner& planner, Mode mode) override;

 private:
  const ThisHead& head_;
  ClusterReader& reader_;
  EventWriter& events_;
};

}  // namespace symnas::vnfsd::daemon
