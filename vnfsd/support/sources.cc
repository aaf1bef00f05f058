#include "vnfsd/support/sources.h"

#include "vnfsd/support/limits.h"

namespace symnas::vnfsd::support {
namespace {

constexpr std::string_view kCollections[] = {
    "status",  "heads", "members",   "networks",     "luns",   "volumes", "filesystems",
    "exports", "vnfs",  "placement", "distribution", "events", "locks"};

constexpr std::string_view kSysctls[] = {
    "fs/aio-max-nr",
    "fs/aio-nr",
    "fs/file-max",
    "fs/file-nr",
    "fs/nr_open",
    "kernel/hung_task_timeout_secs",
    "kernel/panic",
    "kernel/panic_on_oops",
    "kernel/pid_max",
    "kernel/tainted",
    "kernel/threads-max",
    "net/core/netdev_max_backlog",
    "net/core/rmem_max",
    "net/core/somaxconn",
    "net/core/wmem_max",
    "net/ipv4/conf/all/arp_announce",
    "net/ipv4/conf/all/arp_ignore",
    "net/ipv4/conf/all/rp_filter",
    "net/ipv4/ip_local_port_range",
    "net/ipv4/ip_local_reserved_ports",
    "net/ipv4/neigh/default/gc_thresh1",
    "net/ipv4/neigh/default/gc_thresh2",
    "net/ipv4/neigh/default/gc_thresh3",
    "net/ipv4/tcp_max_syn_backlog",
    "net/ipv4/tcp_retries2",
    "net/ipv4/tcp_rmem",
    "net/ipv4/tcp_wmem",
    "net/ipv6/conf/all/disable_ipv6",
    "vm/dirty_background_ratio",
    "vm/dirty_ratio",
    "vm/max_map_count",
    "vm/min_free_kbytes",
    "vm/overcommit_memory",
    "vm/swappiness",
};

constexpr std::string_view kKernelFiles[] = {
    "/proc/version",      "/proc/uptime",      "/proc/loadavg",        "/proc/meminfo",
    "/proc/cpuinfo",      "/proc/partitions",  "/proc/diskstats",      "/proc/self/mountinfo",
    "/proc/modules",      "/proc/net/dev",     "/proc/net/snmp",       "/proc/net/netstat",
    "/proc/pressure/cpu", "/proc/pressure/io", "/proc/pressure/memory"};

constexpr std::string_view kInstanceFiles[] = {"state.json",  "instance.json", "ganesha.conf",
                                               "export.conf", "problems",      "memory"};

constexpr std::string_view kInstanceNetworkFiles[] = {"dev",  "tcp",     "tcp6",     "route",
                                                      "snmp", "netstat", "fib_trie", "ipv6_route"};

// Properties without the environment, which may hold anything.
constexpr const char* kProperties =
    "--property=Id,LoadState,ActiveState,SubState,UnitFileState,Result,ExecMainPID,ExecMainStatus,"
    "ExecMainStartTimestamp,ActiveEnterTimestamp,NRestarts,MemoryCurrent,MemoryPeak,CPUUsageNSec,"
    "TasksCurrent,FragmentPath,DropInPaths";

}  // namespace

std::vector<Program> programs(const ProgramPlaces& places) {
  const std::string lines = "--lines=" + std::to_string(kJournalLines);
  const auto journal = [&](const std::string& unit) {
    return std::vector<std::string>{"--no-pager", "--quiet", "--output=short-iso-precise", lines,
                                    "--unit=" + unit};
  };
  const std::vector<std::string> units = {"vnfsd.service", "symnas-etcd.service", "symnas.target",
                                          "multipathd.service", "iscsid.service"};
  std::vector<std::string> status = {"status", "--no-pager", "--full", "--lines=20"};
  std::vector<std::string> show = {"show", "--no-pager", kProperties};
  status.insert(status.end(), units.begin(), units.end());
  show.insert(show.end(), units.begin(), units.end());
  return {
      {"logs/journal-vnfsd", "/usr/bin/journalctl", journal("vnfsd.service")},
      {"logs/journal-etcd", "/usr/bin/journalctl", journal("symnas-etcd.service")},
      {"logs/journal-kernel",
       "/usr/bin/journalctl",
       {"--no-pager", "--quiet", "--output=short-iso-precise", lines, "--dmesg"}},
      {"units/status", "/usr/bin/systemctl", status},
      {"units/show", "/usr/bin/systemctl", show},
      {"versions/vnfsd", places.vnfsd, {"--version"}},
      {"versions/ganesha", places.ganesha, {"-v"}},
      {"versions/etcd", places.etcd, {"--version"}},
      {"versions/packages",
       "/usr/bin/dpkg-query",
       {"--show", "symnas*", "etcd*", "multipath-tools", "open-iscsi", "libc6", "systemd"}},
      {"network/addresses.json", "/usr/sbin/ip", {"-j", "address"}},
      {"network/links.json", "/usr/sbin/ip", {"-j", "-d", "-s", "link"}},
      {"network/routes.json", "/usr/sbin/ip", {"-j", "route", "show", "table", "all"}},
      {"network/routes6.json", "/usr/sbin/ip", {"-j", "-6", "route", "show", "table", "all"}},
      {"network/rules.json", "/usr/sbin/ip", {"-j", "rule"}},
      {"network/neighbours.json", "/usr/sbin/ip", {"-j", "neighbour"}},
      {"network/sockets", "/usr/bin/ss", {"--all", "--numeric", "--tcp", "--udp", "--processes"}},
      {"network/nftables", "/usr/sbin/nft", {"list", "ruleset"}},
      {"luns/block_devices.json",
       "/usr/bin/lsblk",
       {"--json", "--bytes", "--output",
        "NAME,KNAME,MAJ:MIN,TYPE,SIZE,RO,MODEL,SERIAL,WWN,VENDOR,STATE,HCTL,TRAN,LOG-SEC,PHY-SEC,"
        "SCHED,FSTYPE,MOUNTPOINT"}},
      {"luns/multipath", "/usr/sbin/multipath", {"-ll"}},
      {"luns/iscsi_sessions", "/usr/sbin/iscsiadm", {"--mode", "session"}},
      {"system/time", "/usr/bin/timedatectl", {"show"}},
      {"system/chrony", "/usr/bin/chronyc", {"-n", "tracking"}},
  };
}

std::span<const std::string_view> collections() { return kCollections; }
std::span<const std::string_view> sysctls() { return kSysctls; }
std::span<const std::string_view> kernel_files() { return kKernelFiles; }
std::span<const std::string_view> instance_files() { return kInstanceFiles; }
std::span<const std::string_view> instance_network_files() { return kInstanceNetworkFiles; }

}  // namespace symnas::vnfsd::support
