// What is known on this head of the instance of a VNFS, wherever it runs. Thread-safe: pure
// functions, and
// two that ask the backend.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "vnfsd/api/backends.h"
#include "vnfsd/records/cluster_view.h"
#include "vnfsd/records/states.h"

namespace symnas::vnfsd::api {

// {head: {vnfs: {state, epoch, since_ns, restarts, last_exit, error, vips_taken, head, told_ns}}},
// of the heads whose present vnfsd has told its states.
nlohmann::json told_document(const ToldStates& told, const ClusterView& view);

// told_document() of what is told now; {} if etcd does not say it: the rest is shown all the same.
nlohmann::json told_states(StatusBackend& status, const ClusterView& view);

// local_status() with told_states() as its member "told": `here` of what follows.
nlohmann::json sight_of(StatusBackend& status, const ClusterView& view);

// The instance that serves the VNFS or is to serve it: a member of "instances" of `here` if it is
// on this head, else of "told", with "heard_ns" if its head is not heard since. Of an owner that
// has told nothing of its present epoch, although it tells, "state" is "starting". {}: nothing is
// known. REQUIRES: the VNFS exists.
nlohmann::json sight_of_instance(const ClusterView& view, const nlohmann::json& here,
                                 const std::string& vnfs);

// "it was serving at 2026-11-28 10:00:01 UTC, when it was heard last"; "" if its head is heard.
std::string when_heard(const nlohmann::json& instance);

// The member "state" of a VNFS of GET /v1/status: the state of the instance, or "unheard" when its
// head is not heard, "owned" when that tells nothing, "stopped", "waiting".
std::string state_word(const nlohmann::json& vnfs, const nlohmann::json& instance);

}  // namespace symnas::vnfsd::api
