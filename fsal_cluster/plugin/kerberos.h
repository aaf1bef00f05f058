// Whether the instance takes RPCSEC_GSS with Kerberos, and a line for each client that is refused.
// The keytab's file is read with each new context: another one in its place counts at once.
//
// Thread class: thread-safe.
#pragma once

#include <optional>
#include <string>

#include "common/base/result.h"
#include "fsal_cluster/plugin/ganesha.h"
#include "fsal_cluster/plugin/instance_file.h"

namespace symnas::plugin {

// From now on; nullopt: nobody is taken with Kerberos, and contexts that there are end. Errors:
// kNotFound (vnfsd could not write the keytab here: nobody is taken, all others are served).
Status use_kerberos(const std::optional<InstanceFile::Kerberos>& kerberos);

// The principal that made the client id; "": it was made without Kerberos.
std::string principal_of(const nfs_client_id_t& client);
// The same of whoever sent the request that this thread works on.
std::string principal_of_caller();

}  // namespace symnas::plugin
