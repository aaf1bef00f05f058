// Begins and ends scrubs, and lists them: changes of their records. Blocks; thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/env/clock.h"
#include "common/kv/store.h"
#include "vnfsd/records/scrub.pb.h"

namespace symnas::vnfsd::daemon {

struct ScrubEntry {
  records::ScrubRecord record;
  Revision revision;
};
// By LUN. Errors: those of the store, kCorrupt.
Result<std::vector<ScrubEntry>> list_scrubs(kv::Store& store);

struct ScrubOrder {
  std::string lun;
  std::string uuid;            // of the LUN
  std::uint64_t end_byte = 0;  // of the LUN's bytes
  std::uint64_t bytes_per_second = 0;
  bool all = false;
  bool anew = false;  // from the beginning, though another one was stopped
};
// A stopped scrub goes on where it was; a finished one, or one of another LUN that had the name,
// begins anew. Errors: kBusy (it runs),
// kConflict, those of the store.
Result<std::string> begin_scrub(kv::Store& store, const env::Clock& clock, const ScrubOrder& order);
// A head gives up the scrub that it has taken over: another one goes on. False: somebody else has
// changed the record, which is left alone. Errors: those of the store.
Result<bool> give_up_scrub(kv::Store& store, const ScrubEntry& held);
// Errors: kNotFound (none runs), kConflict, those of the store.
Result<std::string> stop_scrub(kv::Store& store, const std::string& lun);

}  // namespace symnas::vnfsd::daemon
