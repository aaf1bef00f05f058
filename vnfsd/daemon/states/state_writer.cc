#include "vnfsd/daemon/states/state_writer.h"

#include <utility>

#include "common/base/log.h"
#include "common/kv/keys.h"
#include "common/kv/state_keys.h"
#include "vnfsd/daemon/head/limits.h"
#include "vnfsd/daemon/states/limits.h"

namespace symnas::vnfsd::daemon {

StateWriter::StateWriter(const ThisHead& head, ClusterReader& reader, const kv::QuotaGauge& quota,
                         const Instances& instances, std::stop_token end)
    : head_(head), reader_(reader), quota_(quota), instances_(instances), loop_(std::move(end)) {}

void StateWriter::start() {
  loop_.start(kStatesLookMs, [this] { look(); });
}

records::HeadStates StateWriter::states_now(std::int64_t agent_started_ns) const {
  records::HeadStates states;
  states.set_head(head_.config.head_name);
  states.set_incarnation(head_.incarnation);
  states.set_agent_started_ns(agent_started_ns);
  for (const auto& [vnfs, snapshot] : instances_.snapshots()) {
    records::ToldInstance& one = *states.add_instances();
    one.set_vnfs(vnfs);
    one.set_epoch(snapshot.epoch);
    one.set_state(std::string(name_of(snapshot.standing())));
    one.set_phase(std::string(instance::name_of(snapshot.phase)));
    one.set_since_ns(snapshot.since_ns);
    one.set_restarts(snapshot.restarts);
    one.set_last_exit(snapshot.last_exit.substr(0, kToldTextBytesMax));
    one.set_error(snapshot.error.substr(0, kToldTextBytesMax));
    one.set_vips_taken(snapshot.vips_taken.substr(0, kToldTextBytesMax));
  }
  return states;
}

void StateWriter::look() {
  // The last room of etcd is for failovers.
  if (!reader_.is_ready() || quota_.level() == kv::QuotaLevel::kCritical) return;
  const auto seen = reader_.shown();
  if (!seen || !*seen) return;
  const auto self = (*seen)->heads.find(head_.config.head_name);
  if (self == (*seen)->heads.end() || self->second.record.incarnation() != head_.incarnation)
    return;
  records::HeadStates states = states_now(self->second.record.agent_started_ns());
  std::string now = states.SerializeAsString();
  if (now == written_) return;
  states.set_told_ns(head_.clock.wall_ns());
  kv::Txn txn;
  // Neither a removed head nor an earlier boot of it tells anything.
  txn.compares.push_back(
      kv::mod_revision_is(kv::keys::kHeads + head_.config.head_name, self->second.mod_revision));
  txn.success.push_back(
      kv::put(kv::keys::kHeadStates + head_.config.head_name, states.SerializeAsString()));
  const auto done = kv::txn_blocking(head_.store, std::move(txn), kStoreDeadlineMs);
  if (!done) log::debug("states of this head's instances: {}", done.error().message);
  if (done && done->succeeded) written_ = std::move(now);
}

}  // namespace symnas::vnfsd::daemon
