// The commands of vnfsd to a running instance (docs/formats/instance_control.md): to begin to
// serve, to change its exports, and to end without a trace for its clients. Thread-safe functions
// without state.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "common/base/result.h"
#include "vnfsd/instance/connections.h"
#include "vnfsd/instance/process.h"

namespace symnas::vnfsd::instance {

// Parses one line of an answer. Errors: kInvalidArgument (the instance says that it could not: its
// message), kCorrupt.
Result<nlohmann::json> answer_of(const std::string& line);

// Waits until an instance that was started as a standby has come to its claim. Errors: kInternal
// (the instance has ended), kUnavailable (timeout_ms passed).
Status wait_standing_by(const Process& process, const std::string& control,
                        std::int64_t timeout_ms);
// Whether the instance waits for its claim now. Errors: kUnavailable, kCorrupt.
Result<bool> stands_by(const std::string& control);
// Tells a standby that its instance file says now what it owns. Errors: kUnavailable, kCorrupt.
Status serve(const std::string& control);

// Tells the instance that its instance file lists other exports, and waits until it serves them and
// no others. Errors: kInvalidArgument (the instance could not: its message), kUnavailable (it does
// not answer: nobody knows what it serves), kCorrupt.
Status change_exports(const std::string& control);

// The clients that have used each export since the instance started, by the export's id. Errors:
// kUnavailable, kCorrupt.
Result<std::map<std::uint32_t, std::vector<std::string>>> export_clients(
    const std::string& control);

// How long it took until the instance had nothing to say to its clients any more.
struct Drained {
  std::int64_t requests_ms = 0;
  std::int64_t replies_ms = 0;  // after these
  std::uint64_t kept = 0;
  std::string unsent;                    // which replies did not reach their clients; "" = all did
  std::vector<std::string> connections;  // of the instance's clients (Connection)
};

// Tells the instance behind `control` (docs/formats/instance_control.md) to finish what was begun,
// to begin nothing more and to close its mounts; what was begun gets timeout_ms for its end.
// `drained` is called as soon as the instance has answered everything that it will answer. Returns
// how long the mounts took from the last request on, in milliseconds. Errors: kUnavailable (the
// instance does not answer), kInvalidArgument (it cannot: its message), kCorrupt.
Result<std::int64_t> retire(const std::string& control, std::int64_t timeout_ms,
                            const std::function<void(const Drained&)>& drained);

// The connections of the clients of the instance `pid`. Errors: kNotFound (also of a process that
// is dying).
Result<std::vector<Connection>> connections_of(int pid);
// How many connections the namespace of the instance `pid` has ever accepted: when the number has
// changed there are new ones. Errors: kNotFound (also of a process that is dying), kCorrupt.
Result<std::uint64_t> accepted_by(int pid);
// The connections in the network namespace, whatever has become of the instance's process; empty
// when they cannot be read.
std::vector<Connection> connections_in(int netns_fd);

// Removes every VIP from the instance's namespace. Nothing that the instance sends, also by being
// killed, reaches a client any more.
Status remove_vips(int netns_fd);
// Deletes the links of the VIPs as well: another instance of the VNFS on this head cannot have its
// own links up while these exist, and the sockets of a dead instance may keep its namespace for
// minutes. Takes its time.
void delete_vip_links(int netns_fd);

}  // namespace symnas::vnfsd::instance
