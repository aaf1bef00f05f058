// The keytab of an instance, from its sealed record to a file that only root can read. Nothing here
// ever logs a key. Thread-safe: functions without state.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "vnfsd/config/config.h"
#include "vnfsd/instance/plan.h"
#include "vnfsd/pki/sealed_box.h"
#include "vnfsd/plans/keytab.h"

namespace symnas::vnfsd::instance {

// This head's key pair, in a file beside its key for etcd. Errors: kPermission (there is no such
// file), kNotFound (it cannot be opened), kIo, kInvalidArgument (it holds something else),
// kInternal (libcrypto).
Result<pki::BoxKey> own_box_key(const Config& config);
// The same; makes the file, of mode 0600, if there is none.
Result<pki::BoxKey> make_box_key_once(const Config& config);

// Opens the record. Errors: those of own_box_key() and pki::unseal().
Result<std::string> open_keytab(const Config& config, const records::KeytabRecord& keytab,
                                const std::string& subject);

// The record of these entries, for all heads of the view whose keys can be used: of the others it
// is logged. Errors: those of pki::seal().
Result<records::KeytabRecord> seal_keytab(const ClusterView& view, const std::string& vnfs,
                                          const std::vector<KeytabEntry>& entries,
                                          std::int64_t set_ns);

// Writes krb5.keytab and krb5.conf into the instance's directory, or removes what is there if the
// VNFS has no keytab, or none that this head can open: that is logged, and the instance serves
// those who need no Kerberos. Errors: kIo, and others of open_keytab() by which it may be opened
// the next time.
Status write_keytab(const InstancePlan& plan);
// Removes both: the instance has ended.
void remove_keytab(const InstancePaths& paths);

// What libkrb5 is to know in an instance: its realm, and that it asks no name service. Pure.
std::string render_krb5_conf(const std::string& realm);

}  // namespace symnas::vnfsd::instance
