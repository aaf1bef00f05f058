// Who clients and users are to the head's name services: names of clients in rules of exports, and
// groups of users, and whom Kerberos principals mean. ganesha asks while it works on a request, and
// is answered from what is known (KnownAnswers). The services are asked on threads of this file's,
// in the head's namespaces.
//
// Thread class: thread-safe after start_names().
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fsal_cluster/plugin/ganesha.h"
#include "fsal_cluster/plugin/instance_file.h"

namespace symnas::plugin {

// Sets the hooks of ganesha. The namespaces (paths) are entered by the threads, which start when
// an export needs them; empty: they stay.
void start_names(const std::string& network_namespace, const std::string& mount_namespace);

// From now on these exports are served, and callers with Kerberos as `kerberos` says.
void use_names(const std::vector<InstanceFile::Export>& exports,
               const std::optional<InstanceFile::Kerberos>& kerberos);

// Whether the request may begin. False: its client or its caller is seen for the first time, and
// the services are being asked; the request is resumed when they have answered, after kNameWaitMs
// at the latest.
bool names_are_known(svc_req* request);

// The same for whoever has proved to be a Kerberos principal: whom it means is asked. Only names of
// the VNFS's own realm mean somebody.
bool principal_is_known(svc_req* request, const char* principal);

// Resumes all requests that these two keep.
void resume_unnamed();

}  // namespace symnas::plugin
