// Whether the instance takes RPCSEC_GSS with Kerberos, and a line for each client that is refused.
// The keytab's file is read with each new context: another one in its place counts at once.
//
// Thread class: thread-safe.
#pragma once

#include <optional>

#include "common/base/result.h"
#include "fsal_cluster/plugin/instance_file.h"

namespace symnas::plugin {

// From now on; nullopt: nobody is taken with Kerberos, and contexts that there are end. Errors:
// kNotFound (vnfsd could not write the keytab here: nobody is taken, all others are served).
Status use_kerberos(const std::optional<InstanceFile::Kerberos>& kerberos);

}  // namespace symnas::plugin
