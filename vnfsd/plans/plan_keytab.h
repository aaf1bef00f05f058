// Changes of the keytabs of VNFSs. Thread-safe: pure functions of a view; nothing here knows a key
// or a keytab in clear.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "vnfsd/plans/change.h"
#include "vnfsd/records/cluster_view.h"

namespace symnas::vnfsd {

// What a keytab of the VNFS is sealed as being about (vnfsd/pki/sealed_box.h).
std::string keytab_subject(const ClusterView& view, const std::string& vnfs);

// The public keys for which keytabs are sealed, by head. Heads that have not said one yet are left
// out: their instances get the keytab later (plan_keytab_rewrap()).
std::map<std::string, std::string> seal_keys(const ClusterView& view);

// `sealed`: the record as it is to be. Errors: kNotFound, kNotSupported (the cluster's level).
Result<Change> plan_keytab_set(const ClusterView& view, const std::string& vnfs,
                               const records::KeytabRecord& sealed);
// Errors: kNotFound (no such VNFS, or it has no keytab), kBusy (an export of it needs Kerberos).
Result<Change> plan_keytab_remove(const ClusterView& view, const std::string& vnfs);

// The domain of owners that clients of the VNFS name: the record's, or its realm in lower case.
std::string owner_domain_of(const records::KeytabRecord& keytab);

// Whether the VNFS can serve an export that leaves some client nothing but Kerberos: otherwise that
// client would not be served. Errors: kBusy (the VNFS has no keytab; what to do).
Status check_has_keytab(const ClusterView& view, const std::string& vnfs,
                        const std::string& exported);
// An export of the VNFS with a rule that leaves its clients nothing but Kerberos; "": none.
std::string needing_kerberos(const ClusterView& view, const records::VnfsRecord& vnfs);

// Whether the head can open the keytab, as far as the records say.
bool can_open(const ClusterView& view, const records::KeytabRecord& keytab,
              const std::string& head);

// The heads, in order, that can open the keytab with a key for which `former` was not sealed.
std::vector<std::string> newly_sealed_for(const records::KeytabRecord& keytab,
                                          const records::KeytabRecord& former);

// Whether the keytab is sealed for other public keys than the heads have now.
bool needs_rewrap(const ClusterView& view, const records::KeytabRecord& keytab);

}  // namespace symnas::vnfsd
