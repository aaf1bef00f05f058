// What vnfsd tells a running instance (docs/formats/instance_control.md): to begin, and to end
// without a trace for its clients. Thread-safe functions without state.
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

// One line of an answer. Errors: kInvalidArgument (it says that it could not: its message),
// kCorrupt.
Result<nlohmann::json> answer_of(const std::string& line);

// Waits until an instance that was started as a standby has come to its claim. Errors: kInternal
// (it has ended), kUnavailable (timeout_ms passed).
Status wait_standing_by(const Process& process, const std::string& control,
                        std::int64_t timeout_ms);
// Whether it waits there now. Errors: kUnavailable, kCorrupt.
Result<bool> stands_by(const std::string& control);
// Tells a standby that its instance file says now what it owns. Errors: kUnavailable, kCorrupt.
Status serve(const std::string& control);

// Tells the instance that its instance file lists other exports, and waits until it serves them and
// no others. Errors: kInvalidArgument (it could not: its message), kUnavailable (it does not
// answer: nobody knows what it serves), kCorrupt.
Status change_exports(const std::string& control);

// Who has used which export since it started, by its id. Errors: kUnavailable, kCorrupt.
Result<std::map<std::uint32_t, std::vector<std::string>>> export_clients(
    const std::string& control);

// From when on it has nothing to say to its clients any more.
struct Drained {
  std::int64_t requests_ms = 0;
  std::int64_t replies_ms = 0;  // after these
  std::uint64_t kept = 0;
  std::string unsent;                    // which replies did not reach their clients; "" = all did
  std::vector<std::string> connections;  // of its clients (Connection)
};

// Tells the instance behind `control` (docs/formats/instance_control.md) to finish what was begun,
// to begin nothing more and to close its mounts; what was begun gets timeout_ms for its end.
// `drained` is called as soon as it has answered all that it will. Answers how long the mounts took
// from the last request on, in milliseconds. Errors: kUnavailable (it does not answer),
// kInvalidArgument (it cannot: its message), kCorrupt.
Result<std::int64_t> retire(const std::string& control, std::int64_t timeout_ms,
                            const std::function<void(const Drained&)>& drained);

// The connections of its clients. Errors: kNotFound (also of a process that is dying).
Result<std::vector<Connection>> connections_of(int pid);
// How many connections its namespace has ever accepted: another number says that there are new
// ones. Errors: kNotFound (also of a process that is dying), kCorrupt.
Result<std::uint64_t> accepted_by(int pid);
// The connections by its network namespace, whatever has become of the process; empty when they
// cannot be read.
std::vector<Connection> connections_in(int netns_fd);

// Removes every VIP from its namespace. Nothing that it sends, as by being killed, reaches a client
// any more.
Status remove_vips(int netns_fd);
// The links as well: another instance of the VNFS on this head cannot have its own up while these
// exist, and the sockets of a dead one may keep its namespace for minutes. Takes its time.
void delete_vip_links(int netns_fd);

}  // namespace symnas::vnfsd::instance
