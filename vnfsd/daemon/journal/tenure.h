// The op that puts an instance of a VNFS into the history (vnfsd/records/history.h). Thread-safe.
#pragma once

#include <string>

#include "common/kv/keys.h"
#include "common/kv/store.h"
#include "vnfsd/records/records.pb.h"

namespace symnas::vnfsd::daemon {

inline kv::Op put_tenure(const std::string& vnfs, const records::TenureRecord& tenure) {
  return kv::put(kv::keys::history(vnfs, Epoch(tenure.epoch())), tenure.SerializeAsString());
}

}  // namespace symnas::vnfsd::daemon
