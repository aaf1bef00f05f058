// ExportsAdmin: edits exports while they are served. The records are changed first; the owner of
// each VNFS brings its instance in line with them and says so in c/served/<vnfs>. When one cannot,
// the records are put back, and the instances follow them again. Thread-safe.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "vnfsd/api/backends.h"
#include "vnfsd/daemon/follow/cluster_reader.h"
#include "vnfsd/daemon/head/this_head.h"
#include "vnfsd/daemon/journal/event_writer.h"

namespace symnas::vnfsd::daemon {

class ExportsAdmin final : public api::ExportsBackend {
 public:
  ExportsAdmin(const ThisHead& head, ClusterReader& reader, EventWriter& events)
      : head_(head), reader_(reader), events_(events) {}

  Result<std::string> edit_exports(const Planner& planner, Mode mode) override;
  Result<std::string> remove_export(const std::string& name, const std::vector<std::string>& vnfses,
                                    api::Consent consent, Mode mode) override;

 private:
  Status check_edit(const ClusterView& view, const Change& change) const;
  Status wait_exports_served(const std::set<std::string>& vnfses, std::int64_t timeout_ms);
  Result<std::string> undo_edit(const ClusterView& before, const Change& change,
                                const std::set<std::string>& vnfses, const Error& why);
  // Text about the clients that would lose the export; "": none is known. Errors: those of the
  // store.
  Result<std::string> users_of_export(const ClusterView& view, const std::string& name,
                                      const std::set<std::string>& vnfses);

  const ThisHead& head_;
  ClusterReader& reader_;
  EventWriter& events_;
};

}  // namespace symnas::vnfsd::daemon
