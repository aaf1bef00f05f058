#include "vnfsd/preflight/check.h"

#include <unistd.h>

#include <fmt/core.h>

#include "vnfsd/config/limits.h"
#include "vnfsd/network/net_address.h"
#include "vnfsd/preflight/judge.h"
#include "vnfsd/preflight/luns.h"
#include "vnfsd/preflight/machine.h"
#include "vnfsd/preflight/paths.h"

namespace symnas::vnfsd::preflight {
namespace {

struct Port {
  std::uint16_t port;
  bool udp;
  const char* purpose;
};
constexpr Port kEtcdPorts[] = {{kEtcdClientPort, false, "etcd's clients"},
                               {kEtcdPeerPort, false, "etcd's members"}};
constexpr Port kProbes = {kProbePort, true, "the probes of heads"};

Finding look_at(const Port& port, bool joined) {
  PortSeen seen = look_at_port(port.port, port.udp);
  seen.expected = joined;
  return judge_port(seen, port.purpose);
}

Finding look_at_ganesha(const std::string& program) {
  if (::access(program.c_str(), X_OK) == 0) return {"ganesha", Verdict::kFine, program, ""};
  return {"ganesha", Verdict::kProblem, program + " is missing",
          "install symnas-ganesha, or name its prefix (--ganesha-prefix)"};
}

void check_luns(const CheckOptions& options, std::vector<Finding>& out) {
  std::vector<std::string> hung;
  const auto looked = look_at_luns(options.lun_paths, hung);
  if (!looked) {
    out.push_back({"LUNs", Verdict::kUnknown, looked.error().message, "name fewer (--lun-path)"});
    return;
  }
  const std::vector<cvm::SurveyedDevice>& luns = *looked;
  for (const std::string& path : hung) {
    out.push_back({"LUN " + path, Verdict::kProblem, "does not answer",
                   "look at its paths (multipath -ll, dmesg)"});
  }
  if (luns.empty() && hung.empty()) {
    out.push_back({"LUNs", Verdict::kProblem, "none is seen where they are looked for",
                   "name where they are (--lun-path), or look at zoning and sessions"});
  }
  for (const cvm::SurveyedDevice& lun : luns) out.push_back(judge_lun(lun));
  for (Finding& finding : judge_multipath(luns)) out.push_back(std::move(finding));
  if (options.reservation_program.empty()) return;
  for (Finding& finding : look_at_reservations(options.reservation_program, luns))
    out.push_back(std::move(finding));
}

}  // namespace

std::vector<Finding> check_head(const CheckOptions& options) {
  std::vector<Finding> out;
  out.push_back(judge_clock(look_at_clock()));
  out.push_back(judge_kernel(look_at_kernel()));
  out.push_back(judge_neighbours(look_at_neighbours()));
  out.push_back(judge_confinement(is_selinux_enforced(), is_apparmor_enabled()));
  out.push_back(look_at_ganesha(options.ganesha));
  if (!options.etcd_dir.empty()) {
    out.push_back(judge_etcd_disk(options.etcd_dir, look_at_disk(options.etcd_dir)));
    for (const Port& port : kEtcdPorts) out.push_back(look_at(port, options.joined));
  }
  out.push_back(look_at(kProbes, options.joined));
  for (const std::string& peer : options.peers) {
    const auto address = IpAddress::parse(peer);
    if (address) {
      out.push_back(judge_path(look_at_path(*address)));
    } else {
      out.push_back({"path to " + peer, Verdict::kUnknown, address.error().message, ""});
    }
  }
  check_luns(options, out);
  if (!options.agent.program.empty()) out.push_back(look_at_agent(options.agent));
  if (!options.stonith_program.empty()) {
    out.push_back(judge_stonith(options.stonith_program,
                                ::access(options.stonith_program.c_str(), X_OK) == 0));
  }
  if (options.agent.program.empty() && options.reservation_program.empty() &&
      options.stonith_program.empty()) {
    out.push_back({"fencing", Verdict::kDoubt, "no means are given: a head that is lost stays so",
                   "--fence-reservations or --fence-agent (docs/operations/fencing.md)"});
  }
  return out;
}

}  // namespace symnas::vnfsd::preflight
