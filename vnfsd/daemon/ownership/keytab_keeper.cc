#include "vnfsd/daemon/ownership/keytab_keeper.h"

#include <utility>

#include <fmt/core.h>

#include "common/base/log.h"
#include "common/kv/admin_keys.h"
#include "vnfsd/daemon/head/limits.h"
#include "vnfsd/instance/keytab_writer.h"
#include "vnfsd/plans/keytab.h"
#include "vnfsd/plans/plan_keytab.h"

namespace symnas::vnfsd::daemon {

void KeytabKeeper::follow(const ClusterView& view) {
  std::map<std::string, std::string> said;
  for (const auto& [vnfs, keytab] : view.keytabs) {
    if (!needs_rewrap(view, keytab.record)) continue;
    const auto txn = sealed_anew(view, vnfs, keytab);
    Status done;
    if (!txn) {
      done = tl::unexpected<Error>(txn.error());
    } else if (txn->success.empty()) {
      continue;  // another head can
    } else if (const auto result = kv::txn_blocking(head_.store, *txn, kStoreDeadlineMs); !result) {
      log::warn("vnfs {}: its keytab is not sealed anew: {}", vnfs, result.error().message);
      break;  // etcd has to answer first
    } else if (result->succeeded) {
      log::info("vnfs {}: its keytab is sealed for the present heads", vnfs);
    }
    if (done) continue;
    const std::string& why = done.error().message;
    if (said_[vnfs] != why) log::error("vnfs {}: its keytab is not sealed anew: {}", vnfs, why);
    said[vnfs] = why;
  }
  said_ = std::move(said);
}

// Without an op: this head cannot open it.
Result<kv::Txn> KeytabKeeper::sealed_anew(const ClusterView& view, const std::string& vnfs,
                                          const Stored<records::KeytabRecord>& keytab) {
  kv::Txn txn;
  const auto file = instance::open_keytab(head_.config, keytab.record, keytab_subject(view, vnfs));
  if (!file) return txn;
  SYMNAS_ASSIGN(const auto entries, parse_keytab(*file));
  SYMNAS_ASSIGN(records::KeytabRecord sealed,
                instance::seal_keytab(view, vnfs, entries, keytab.record.set_ns()));
  sealed.set_owner_domain(keytab.record.owner_domain());
  const std::string key = kv::keys::kKeytabs + vnfs;
  txn.compares.push_back(kv::mod_revision_is(key, keytab.mod_revision));
  txn.success.push_back(kv::put(key, sealed.SerializeAsString()));
  // Whoever can write to etcd can have it sealed for a key of his own: people are told of each.
  for (const std::string& head : newly_sealed_for(sealed, keytab.record)) {
    const std::string text =
        fmt::format("vnfs {}: its keytab is sealed for a new key of head {}", vnfs, head);
    events_.add(txn, make_event(kKeytabSealed, text, head_.clock.wall_ns()));
  }
  return txn;
}

}  // namespace symnas::vnfsd::daemon
