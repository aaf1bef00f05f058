// What follows from what was seen of a machine. Thread-safe: pure functions. Bounds: limits.h, each
// with its source.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cvm/lun_survey.h"
#include "vnfsd/preflight/finding.h"

namespace symnas::vnfsd::preflight {

struct ClockSeen {
  bool synchronised = false;  // as the kernel says (adjtimex(2): not TIME_ERROR)
  std::int64_t error_ns = 0;  // its estimate of the largest error
};
Finding judge_clock(const std::optional<ClockSeen>& seen);

struct KernelSeen {
  std::string release;          // "6.1.0-18-amd64"
  bool io_uring = false;        // io_uring_setup(2) works
  std::optional<bool> macvlan;  // or ipvlan: is in the kernel, or can be loaded; nullopt: unknown
  std::string why;              // of what does not work
};
Finding judge_kernel(const KernelSeen& seen);

// How many neighbours (ARP entries) the kernel keeps, of all its network namespaces together;
// nullopt: not shown. Beyond that, packets to who is new are dropped (arp(7), gc_thresh3).
Finding judge_neighbours(std::optional<std::int64_t> most);

// Who listens on a port that a head needs.
struct PortSeen {
  std::uint16_t port = 0;
  bool udp = false;
  bool taken = false;
  bool expected = false;  // a part of symnas of this head may have it
};
Finding judge_port(const PortSeen& seen, const std::string& purpose);

// Times of a write and fdatasync(2) of a WAL's size, in microseconds.
Finding judge_etcd_disk(const std::string& directory, std::vector<std::int64_t> times_us);

// A mandatory access control that is enforced. `apparmor`: its module is enabled.
Finding judge_confinement(bool selinux_enforced, bool apparmor_enabled);

// The program by which vnfsd asks pacemaker's fencer.
Finding judge_stonith(const std::string& program, bool installed);

struct PathSeen {
  std::string address;
  bool answers = false;       // an echo request of normal size
  bool answers_full = false;  // one as large as the MTU, not fragmented
  std::uint32_t mtu = 0;      // of the device that leads there, bytes
  std::string error;          // why none could be sent; "" = it could
  // Of etcd's ports there (TCP): open, refused (nobody listens, but the way is free), silent.
  enum class Port { kOpen, kRefused, kSilent };
  Port client = Port::kSilent;
  Port peer = Port::kSilent;
};
Finding judge_path(const PathSeen& seen);

// Devices that are, or could become, LUNs.
Finding judge_lun(const cvm::SurveyedDevice& seen);
// Several nodes of one LUN without a multipath device above: INV-1 holds through one node only.
std::vector<Finding> judge_multipath(const std::vector<cvm::SurveyedDevice>& seen);

}  // namespace symnas::vnfsd::preflight
