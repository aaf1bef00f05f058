// ScrubKeeper: this head's part in scrubs: it takes over one that nobody works on, reads, and tells
// how far it has come. Thread-safe; owns one thread. A LUN whose reads hang makes it hang.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/loop.h"
#include "cvm/lun_device.h"
#include "vnfsd/daemon/follow/cluster_reader.h"
#include "vnfsd/daemon/head/this_head.h"
#include "vnfsd/daemon/journal/event_writer.h"
#include "vnfsd/daemon/luns/luns.h"
#include "vnfsd/daemon/scrub/lun_reader.h"
#include "vnfsd/daemon/scrub/scrub_orders.h"
#include "vnfsd/daemon/scrub/scrub_window.h"

namespace symnas::vnfsd::daemon {

class ScrubKeeper {
 public:
  ScrubKeeper(const ThisHead& head, ClusterReader& reader, const LunSet& luns, EventWriter& events)
      : head_(head), reader_(reader), luns_(luns), events_(events) {}
  ~ScrubKeeper() { stop(); }

  void start();
  void stop() { loop_.stop(); }
  // One step: for the thread, and for tests. Returns after how many ns the next one is due.
  std::int64_t turn();

 private:
  struct Seen {
    Revision revision;
    std::int64_t since_ns = 0;
  };
  struct Work {
    records::ScrubRecord record;
    Revision revision;
    std::optional<ScrubbedLun> lun;  // of a volume with a filesystem
    cvm::LunDevice device;
    std::uint64_t window_bytes = 0;  // of the next one
    std::uint64_t window_end = 0;    // `parts` are those before it
    std::vector<UsedPart> parts;
    std::int64_t told_ns = 0;
  };

  Result<bool> take_over();
  bool is_free(const ScrubEntry& entry);
  void failed(const Error& error);
  Result<std::unique_ptr<Work>> open(const ClusterView& view, const ScrubEntry& entry);
  Result<std::int64_t> step();
  Status fill_window();
  const UsedPart* next_part() const;
  Result<std::int64_t> read(const UsedPart& part);
  Status note(const std::vector<BadRun>& bad);
  void note(const BadRun& bad, const UsedPart& part);
  void name_files();
  // False: somebody has stopped it, or taken it over.
  Result<bool> tell();
  Result<bool> write(const records::ScrubRecord& record, Revision& revision);

  const ThisHead& head_;
  ClusterReader& reader_;
  const LunSet& luns_;
  EventWriter& events_;
  std::map<std::string, Seen> seen_;             // running scrubs, by LUN
  std::map<std::string, std::int64_t> avoided_;  // LUNs that cannot be read here: until when
  std::unique_ptr<Work> work_;
  symnas::Loop loop_;  // last: it uses all else
};

}  // namespace symnas::vnfsd::daemon
