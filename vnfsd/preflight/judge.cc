#include "vnfsd/preflight/judge.h"

#include <algorithm>
#include <cstdio>
#include <map>

#include <fmt/format.h>

#include "vnfsd/preflight/limits.h"

namespace symnas::vnfsd::preflight {
namespace {

std::string purpose_of_etcd(PathSeen::Port client, PathSeen::Port peer) {
  const auto word = [](PathSeen::Port port) {
    switch (port) {
      case PathSeen::Port::kOpen: return "open";
      case PathSeen::Port::kRefused: return "nobody listens";
      default: return "no answer";
    }
  };
  return fmt::format("etcd's ports 2379: {}, 2380: {}", word(client), word(peer));
}

}  // namespace

std::string word_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::kFine: return "fine";
    case Verdict::kDoubt: return "doubt";
    case Verdict::kProblem: return "problem";
    default: return "unknown";
  }
}

Finding judge_clock(const std::optional<ClockSeen>& seen) {
  const std::string install = "install and start chrony, then look again (chronyc tracking)";
  if (!seen) return {"clock", Verdict::kUnknown, "the kernel does not say", install};
  if (!seen->synchronised)
    return {"clock", Verdict::kDoubt, "not synchronised, as the kernel sees it", install};
  const double error_ms = static_cast<double>(seen->error_ns) / 1e6;
  const std::string what = fmt::format("synchronised, within {:.1f} ms", error_ms);
  if (seen->error_ns > kClockErrorMaxNs) return {"clock", Verdict::kDoubt, what, install};
  return {"clock", Verdict::kFine, what, ""};
}

Finding judge_kernel(const KernelSeen& seen) {
  int major = 0;
  int minor = 0;
  const bool read = std::sscanf(seen.release.c_str(), "%d.%d", &major, &minor) == 2;
  const std::string what =
      fmt::format("Linux {}{}{}", seen.release, seen.why.empty() ? "" : ": ", seen.why);
  if (!read) return {"kernel", Verdict::kUnknown, what, ""};
  if (major < kKernelMajor || (major == kKernelMajor && minor < kKernelMinor)) {
    return {"kernel", Verdict::kProblem, what,
            fmt::format("run Linux {}.{} or later", kKernelMajor, kKernelMinor)};
  }
  if (seen.macvlan == false)
    return {"kernel", Verdict::kProblem, what, "VIPs need macvlan or ipvlan: load the module"};
  if (!seen.macvlan) {
    return {"kernel", Verdict::kUnknown, what + ": has no list of its modules",
            "look whether VIPs can be made: ip link add link DEVICE type macvlan"};
  }
  if (!seen.io_uring) {
    return {"kernel", Verdict::kDoubt, what,
            "data goes through threads instead, slower (sysctl kernel.io_uring_disabled=0)"};
  }
  return {"kernel", Verdict::kFine, what, ""};
}

Finding judge_neighbours(std::optional<std::int64_t> most) {
  const std::string subject = "neighbours";
  if (!most) {
    return {subject, Verdict::kUnknown, "the kernel does not show how many it keeps",
            "look on the machine itself: sysctl net.ipv4.neigh.default.gc_thresh3"};
  }
  const std::string what = fmt::format("the kernel keeps {} addresses, for all VNFSs", *most);
  if (*most >= kNeighboursMin) return {subject, Verdict::kFine, what, ""};
  return {subject, Verdict::kDoubt, what + ": with many clients or heads some are not reached",
          "load what the package brings: sysctl -p /usr/lib/sysctl.d/60-symnas.conf"};
}

Finding judge_port(const PortSeen& seen, const std::string& purpose) {
  const std::string subject = fmt::format("port {}/{}", seen.port, seen.udp ? "udp" : "tcp");
  if (!seen.taken) return {subject, Verdict::kFine, "free, for " + purpose, ""};
  if (seen.expected) return {subject, Verdict::kFine, "taken, as it is to be by " + purpose, ""};
  return {subject, Verdict::kProblem, "taken by another program, needed for " + purpose,
          fmt::format("end that program (ss -lnp 'sport = :{}')", seen.port)};
}

Finding judge_etcd_disk(const std::string& directory, std::vector<std::int64_t> times_us) {
  const std::string subject = "etcd's disk";
  if (times_us.empty()) {
    return {subject, Verdict::kUnknown, directory + ": cannot be written to",
            "make the directory, or name another one (--etcd-dir)"};
  }
  std::sort(times_us.begin(), times_us.end());
  const std::int64_t p99 = times_us[times_us.size() * 99 / 100];
  const std::string what = fmt::format("{}: 99 of 100 synchronous writes take {:.1f} ms or less",
                                       directory, static_cast<double>(p99) / 1000);
  if (p99 <= kSyncGoodUs) return {subject, Verdict::kFine, what, ""};
  const std::string next =
      "give etcd a disk of its own, an SSD or NVMe (every create waits for it)";
  return {subject, p99 < kSyncBadUs ? Verdict::kDoubt : Verdict::kProblem, what, next};
}

Finding judge_confinement(bool selinux_enforced, bool apparmor_enabled) {
  if (selinux_enforced) {
    return {"SELinux", Verdict::kDoubt, "enforcing; symnas brings no policy",
            "look for denials after the first start (ausearch -m avc), or set it to permissive"};
  }
  return {"SELinux, AppArmor", Verdict::kFine,
          apparmor_enabled ? "AppArmor is enabled, and has no profile for symnas" : "not enforced",
          ""};
}

Finding judge_stonith(const std::string& program, bool installed) {
  if (installed) return {"pacemaker", Verdict::kFine, program, ""};
  return {"pacemaker", Verdict::kProblem,
          program + " is missing: what pacemaker has turned off proves nothing to vnfsd",
          "apt-get install symnas-pacemaker"};
}

Finding judge_path(const PathSeen& seen) {
  const std::string subject = "path to " + seen.address;
  if (!seen.error.empty())
    return {subject, Verdict::kUnknown, seen.error, "run this as root, with the network up"};
  const std::string ports = purpose_of_etcd(seen.client, seen.peer);
  const bool silent =
      seen.client == PathSeen::Port::kSilent || seen.peer == PathSeen::Port::kSilent;
  if (!seen.answers && silent)
    return {subject, Verdict::kProblem, "no answer; " + ports, "look at cables, switch, routes"};
  if (silent) {
    return {subject, Verdict::kProblem, ports,
            "open TCP 2379, 2380 and UDP 20491 between heads in the firewalls of both"};
  }
  if (!seen.answers)
    return {subject, Verdict::kDoubt, "no answer to ping; " + ports, "let ICMP through"};
  if (!seen.answers_full) {
    return {subject, Verdict::kProblem,
            fmt::format("packets of {} bytes, the device's MTU, do not get there", seen.mtu),
            "set one MTU on the devices of all heads and on the switch ports between"};
  }
  return {subject, Verdict::kFine, fmt::format("answers, MTU {}; {}", seen.mtu, ports), ""};
}

Finding judge_lun(const cvm::SurveyedDevice& seen) {
  const std::string subject = "LUN " + seen.path;
  const std::string size = fmt::format(
      "{:.1f} GiB", static_cast<double>(seen.size_bytes) / static_cast<double>(1 << 30));
  switch (seen.content) {
    case cvm::Content::kNothing:
      return {subject, Verdict::kFine, size + ", empty: can be imported", ""};
    case cvm::Content::kLabel:
      return {subject, Verdict::kFine, size + ", has a label of symnas", ""};
    case cvm::Content::kUnreadable:
      return {subject, Verdict::kProblem, "cannot be read: " + seen.what,
              "look at its paths (multipath -ll, dmesg)"};
    case cvm::Content::kTooSmall:
      return {subject, Verdict::kDoubt, size + ", too small: " + seen.what, "use larger ones"};
    case cvm::Content::kNoMedium: return {subject, Verdict::kDoubt, "no medium", ""};
    default:
      return {subject, Verdict::kDoubt, fmt::format("{}, cannot be imported: {}", size, seen.what),
              "leave it out, if it is somebody else's"};
  }
}

std::vector<Finding> judge_multipath(const std::vector<cvm::SurveyedDevice>& seen) {
  std::map<std::string, std::vector<std::string>> nodes;  // by wwid
  for (const cvm::SurveyedDevice& device : seen) {
    const bool used = device.content == cvm::Content::kInUse;  // below a multipath device, say
    if (!device.wwid.empty() && !device.is_partition && !used)
      nodes[device.wwid].push_back(device.path);
  }
  std::vector<Finding> out;
  for (const auto& [wwid, paths] : nodes) {
    if (paths.size() < 2) continue;
    out.push_back({"multipath", Verdict::kProblem,
                   fmt::format("{} are one LUN, {}", fmt::join(paths, " and "), wwid),
                   "install multipath-tools (find_multipaths no), and name /dev/mapper/*"});
  }
  return out;
}

}  // namespace symnas::vnfsd::preflight
