#include "vnfsd/preflight/luns.h"

#include <chrono>
#include <future>
#include <memory>
#include <thread>
#include <utility>

#include "cvm/lun.h"
#include "ha/fencing/reservation_program.h"
#include "vnfsd/preflight/limits.h"

namespace symnas::vnfsd::preflight {
Result<std::vector<cvm::SurveyedDevice>> look_at_luns(const std::vector<std::string>& patterns,
                                                      std::vector<std::string>& hung) {
  std::vector<cvm::SurveyedDevice> out;
  SYMNAS_ASSIGN(const std::vector<cvm::LunNode> nodes, cvm::candidate_nodes(patterns));
  for (const cvm::LunNode& node : nodes) {
    // A device that hangs keeps its thread, which this process does not wait for.
    auto told = std::make_shared<std::promise<cvm::SurveyedDevice>>();
    std::future<cvm::SurveyedDevice> device = told->get_future();
    std::thread([told, node] { told->set_value(cvm::survey_device(node)); }).detach();
    if (device.wait_for(std::chrono::milliseconds(kDeviceMs)) == std::future_status::ready) {
      out.push_back(device.get());
    } else {
      hung.push_back(node.path);
    }
  }
  return out;
}

std::vector<Finding> look_at_reservations(const std::string& program,
                                          const std::vector<cvm::SurveyedDevice>& luns) {
  std::vector<Finding> out;
  for (const cvm::SurveyedDevice& lun : luns) {
    const std::string subject = "reservations of " + lun.path;
    const ha::ReservationProgram call{program, "", kDeviceMs};
    const Status able = ha::check_lun_can_fence(call, lun.path);
    if (able) {
      out.push_back({subject, Verdict::kFine, "kept over a power loss", ""});
    } else {
      const bool never = able.error().code == ErrorCode::kNotSupported;
      out.push_back({subject, never ? Verdict::kProblem : Verdict::kUnknown, able.error().message,
                     "cut heads off by an agent instead (--fence-agent), or use other LUNs"});
    }
  }
  return out;
}

Finding look_at_agent(const ha::FenceAgent& agent) {
  const Status answers = ha::check_fence_agent(agent, -1);
  if (answers) return {"fence agent", Verdict::kFine, agent.program + " answers", ""};
  return {"fence agent", Verdict::kProblem, answers.error().message,
          "try it by hand with the same options: action=monitor on standard input"};
}

}  // namespace symnas::vnfsd::preflight
