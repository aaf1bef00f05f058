// Starts an instance: clones symnas-launch into new network, mount, UTS and PID namespaces, gives
// it its links, and waits until it has become ganesha.nfsd. Thread-safe: functions without state.
//
// The instance outlives vnfsd: a session of its own, no parent-death signal, its output goes to its
// log file.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "vnfsd/instance/launch_spec.h"
#include "vnfsd/instance/plan.h"
#include "vnfsd/instance/process.h"

namespace symnas::vnfsd::instance {

// The specification that symnas-launch gets. Pure.
LaunchSpec launch_spec_for(const InstancePlan& plan);

// Writes the instance's files into its directory (made if missing) and removes what an older
// instance left there. Errors: kIo (which file, errno).
Status prepare_directory(const InstancePlan& plan, const std::string& ganesha_conf);
// Replaces instance.json by a complete new one in one step. Errors: kIo, those of rendering it.
Status write_instance_file(const InstancePlan& plan);

// Starts the instance. `note` is called when the process exists but cannot do anything yet, and
// records the process for the next vnfsd. If vnfsd dies before that, the process ends by itself.
// REQUIRES: prepare_directory(). Blocks at most kLaunchTimeoutMs (limits.h). Errors: kInternal with
// the launcher's own message; kNotFound (a network device does not exist); kIo; note's.
Result<Process> launch(const InstancePlan& plan, const std::function<Status(const Process&)>& note);

// Waits until the instance listens on its NFS port, in the namespace behind netns_fd. Errors:
// kUnavailable (timeout_ms passed), kInternal (the instance has ended).
Status wait_listening(const Process& process, int netns_fd, std::int64_t timeout_ms);

// Tells old clients that their connections are over (address::tickle()).
void wake_clients(const std::vector<Connection>& connections, int netns_fd);

// Brings up the VIPs: adds them and their routes, announces them on each network, and calls
// wake_clients(). VIPs in `held` are left out: others have them. Errors: those of vnfsd/address.
Status bring_addresses_up(const InstancePlan& plan, int netns_fd,
                          const std::vector<IpAddress>& held = {});

// Announces the VIPs once more, but for those in `held`. REQUIRES: they are up. Errors: as above.
Status announce_vips(const InstancePlan& plan, int netns_fd, const std::vector<IpAddress>& held);

}  // namespace symnas::vnfsd::instance
