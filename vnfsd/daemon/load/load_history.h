// LoadHistory: the last reports of this head's instances, and the load between them. Pure.
// Thread-compatible.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>

#include "common/base/ids.h"
#include "fsal_cluster/load/load_report.h"
#include "vnfsd/records/load.pb.h"

namespace symnas::vnfsd::daemon {

class LoadHistory {
 public:
  // Adds a report of the VNFS's instance of that epoch. `now_ms`: monotonic, ascending.
  void add(const std::string& vnfs, Epoch epoch, std::int64_t now_ms, fs::LoadReport report);
  // The load over the last kLoadSpanMs, or as long as there are reports; nullopt: there are not two
  // of them yet.
  std::optional<records::LoadVnfs> last(const std::string& vnfs) const;
  // Forgets every VNFS that `stays` is false of.
  template <class Stays>
  void keep_if(const Stays& stays) {
    std::erase_if(vnfses_, [&](const auto& one) { return !stays(one.first); });
  }
  void clear() { vnfses_.clear(); }

 private:
  struct Read {
    std::int64_t at_ms;
    fs::LoadReport report;
  };
  struct Vnfs {
    Epoch epoch;
    std::deque<Read> reads;  // ascending; at most kLoadSpanMs of them
  };
  std::map<std::string, Vnfs> vnfses_;
};

}  // namespace symnas::vnfsd::daemon
