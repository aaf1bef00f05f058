#include "ha/fencing/reservation_program.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "ha/fencing/limits.h"
#include "ha/fencing/run_program.h"
#include "ha/reservation/key.h"
#include "ha/reservation/limits.h"
#include "ha/reservation/registrations.h"
#include "ha/reservation/report.h"

namespace symnas::ha {
namespace {

using Json = nlohmann::json;

struct ProgramAnswer {
  ExitStatus status = ExitStatus::kNotDone;
  Json json;           // an object with the command's name and `luns`, one per device, in order
  std::string errors;  // of the first LUN that has an error, or else what it printed to stderr
};

tl::unexpected<Error> no_proof(const ReservationProgram& program, const std::string& why) {
  return fail(ErrorCode::kUnavailable, fmt::format("{}: {}", program.program, why));
}

// Checks that the answer is about the devices that were named. Throws Json::exception.
Status check_answer(const ReservationProgram& program, const Json& json, const std::string& command,
                    const std::vector<std::string>& devices) {
  if (!json.is_object() || json.at("command") != command)
    return no_proof(program, fmt::format("its answer is not an answer to {}", command));
  const Json& luns = json.at("luns");
  if (!luns.is_array() || luns.size() != devices.size())
    return no_proof(program, "its answer is about other LUNs than those that were named");
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (luns[i].at("device") == devices[i]) continue;
    return no_proof(program, fmt::format("its answer is about other LUNs than {}", devices[i]));
  }
  return {};
}

std::string first_error(const Json& json) {
  for (const Json& lun : json.at("luns")) {
    if (lun.contains("error")) return lun.at("error").get<std::string>();
  }
  return "it did not say why";
}

std::int64_t step_of(const ReservationProgram& program) {
  return std::clamp<std::int64_t>(program.timeout_ms / kReservationSteps, 1, kStepTimeoutMs);
}

Result<ProgramAnswer> ask(const ReservationProgram& program, const std::string& command,
                          const std::vector<std::string>& options,
                          const std::vector<std::string>& devices,
                          const std::vector<std::string>& named) {
  const std::int64_t step_ms = step_of(program);
  ProgramCall call;
  call.name = "reservations:";
  call.program = program.program;
  call.arguments = {"-o", "json", "--timeout-ms", fmt::to_string(step_ms), command};
  call.arguments.insert(call.arguments.end(), options.begin(), options.end());
  call.arguments.insert(call.arguments.end(), named.begin(), named.end());
  call.timeout_ms = program.timeout_ms;
  call.channels = Channels::kApart;
  call.output_bytes_max = kReservationAnswerBytesMax;
  SYMNAS_ASSIGN(const ProgramEnd end, run_program(call));
  ProgramAnswer answer{static_cast<ExitStatus>(end.exit_status), {}, {}};
  if (answer.status == ExitStatus::kUsage ||
      end.exit_status > static_cast<int>(ExitStatus::kConflict)) {
    return no_proof(program, fmt::format("ended with status {}: {}", end.exit_status,
                                         last_line(end.errors.empty() ? end.output : end.errors)));
  }
  answer.json = Json::parse(end.output, nullptr, false);
  try {
    SYMNAS_TRY(check_answer(program, answer.json, command, devices));
    if (answer.status != ExitStatus::kDone) answer.errors = first_error(answer.json);
  } catch (const Json::exception&) {
    return no_proof(program, fmt::format("ended with status {} and an answer that cannot be parsed",
                                         end.exit_status));
  }
  return answer;
}

// An abort may wait for the array as long as there is time: an abort whose success is not seen must
// be replaced by a reset, which interrupts everybody.
std::string abort_timeout(const ReservationProgram& program) {
  const std::int64_t left_ms = program.timeout_ms - (kReservationSteps - 1) * step_of(program);
  return fmt::to_string(std::clamp<std::int64_t>(left_ms, 1, kStepTimeoutMsMax));
}

std::vector<std::string> devices_of(const std::vector<NamedLun>& luns) {
  std::vector<std::string> devices;
  for (const NamedLun& lun : luns) devices.push_back(lun.device);
  return devices;
}

// The arguments for the program: DEVICE=IDENTIFICATION makes it check that the device is that LUN.
std::vector<std::string> words_of(const std::vector<NamedLun>& luns) {
  std::vector<std::string> words;
  for (const NamedLun& lun : luns) words.push_back(lun.device + "=" + lun.identification);
  return words;
}

// The exit status in words.
Status judge(const ProgramAnswer& answer, const std::string& own) {
  const auto refuse = [&](ErrorCode code, const std::string& what) -> Status {
    return fail(code, fmt::format("reservations: {} ({})", what, answer.errors));
  };
  switch (answer.status) {
    case ExitStatus::kDone: return {};
    case ExitStatus::kUsage:
    case ExitStatus::kNotDone: return refuse(ErrorCode::kUnavailable, "not done on every LUN");
    case ExitStatus::kOwnKeyMissing:
      return refuse(ErrorCode::kPermission,
                    fmt::format("the key of {} is missing on a LUN: this boot was fenced", own));
    case ExitStatus::kSecondTime:
      return refuse(ErrorCode::kPermission,
                    fmt::format("{} has registered before and its key is gone, or nobody "
                                "knows how that ended: this boot was fenced",
                                own));
    case ExitStatus::kConflict:
      return refuse(ErrorCode::kConflict, "a LUN is not reserved for this cluster's heads");
  }
  return refuse(ErrorCode::kUnavailable, "an unknown answer");
}

// Checks what the answer says of every LUN: `own` is registered, the LUN is reserved for its
// registrants, and a victim is not registered and its commands have ended. Throws Json::exception.
Status check_luns(const ReservationProgram& program, const Json& json,
                  const std::vector<NamedLun>& luns, const std::string& own,
                  const std::string& victim) {
  if (json.at("verdict") != "done" || json.at("own") != own ||
      (!victim.empty() && json.at("victim") != victim)) {
    return no_proof(program,
                    "says that it is done, but its answer has another verdict, key or "
                    "victim");
  }
  for (std::size_t i = 0; i < luns.size(); ++i) {
    const Json& lun = json.at("luns")[i];
    const auto keys = lun.at("keys").get<std::vector<std::string>>();
    const auto has = [&](const std::string& key) {
      return std::ranges::find(keys, key) != keys.end();
    };
    const bool fits =
        lun.at("lun") == luns[i].identification && !lun.contains("error") &&
        lun.at("type") == kExclusiveAccessRegistrantsOnly && has(own) &&
        (victim.empty() ||
         (!has(victim) && (lun.at("did") == "preempted" || lun.at("did") == "reset")));
    if (fits) continue;
    return no_proof(program, fmt::format("says that it is done, but its answer does not prove it "
                                         "for LUN {} at {}: {}",
                                         luns[i].identification, luns[i].device, lun.dump()));
  }
  return {};
}

Status check_done(const ReservationProgram& program, const ProgramAnswer& answer,
                  const std::vector<NamedLun>& luns, const std::string& own,
                  const std::string& victim) {
  SYMNAS_TRY(judge(answer, own));
  try {
    return check_luns(program, answer.json, luns, render_key(key_of(own)),
                      victim.empty() ? "" : render_key(key_of(victim)));
  } catch (const Json::exception&) {
    return no_proof(program, "says that it is done, but not what it has seen");
  }
}

}  // namespace

Result<std::map<std::string, std::string>> identify_luns(const ReservationProgram& program,
                                                         const std::vector<std::string>& devices) {
  std::map<std::string, std::string> found;
  for (std::size_t begin = 0; begin < devices.size(); begin += kLunsMax) {
    const std::size_t end = std::min(begin + kLunsMax, devices.size());
    const std::vector<std::string> some(devices.begin() + static_cast<std::ptrdiff_t>(begin),
                                        devices.begin() + static_cast<std::ptrdiff_t>(end));
    SYMNAS_ASSIGN(const ProgramAnswer answer, ask(program, "keys", {}, some, some));
    for (const Json& lun : answer.json.at("luns")) {
      const auto identification = lun.find("lun");
      if (identification == lun.end() || !identification->is_string()) continue;
      found[lun.at("device").get<std::string>()] = identification->get<std::string>();
    }
  }
  return found;
}

Status check_lun_can_fence(const ReservationProgram& program, const std::string& device) {
  SYMNAS_ASSIGN(const ProgramAnswer answer, ask(program, "keys", {}, {device}, {device}));
  if (answer.status != ExitStatus::kDone) return no_proof(program, answer.errors);
  const Json& lun = answer.json.at("luns")[0];
  const auto says = [&](const char* field) {
    const auto found = lun.find(field);
    return found != lun.end() && found->is_boolean() && found->get<bool>();
  };
  if (!lun.contains("knows_type"))
    return fail(ErrorCode::kNotSupported,
                fmt::format("{}: does not say what its reservations can do", device));
  const std::string cannot = why_cannot_fence(
      {.survives_power_loss = says("survives_power_loss"), .knows_type = says("knows_type")});
  if (cannot.empty()) return {};
  return fail(ErrorCode::kNotSupported, fmt::format("{}: {}", device, cannot));
}

Status register_boot(const ReservationProgram& program, const std::string& own,
                     const std::vector<NamedLun>& luns) {
  SYMNAS_ASSIGN(const ProgramAnswer answer,
                ask(program, "register", {"--own", own, "--state", program.journal_directory},
                    devices_of(luns), words_of(luns)));
  return check_done(program, answer, luns, own, "");
}

Result<std::string> preempt_boot(const ReservationProgram& program, const std::string& own,
                                 const std::string& victim, const std::vector<NamedLun>& luns) {
  SYMNAS_ASSIGN(const ProgramAnswer answer, ask(program, "preempt",
                                                {"--own", own, "--victim", victim,
                                                 "--abort-timeout-ms", abort_timeout(program)},
                                                devices_of(luns), words_of(luns)));
  SYMNAS_TRY(check_done(program, answer, luns, own, victim));
  std::string proof = fmt::format("reservations: key {} of {} preempted and absent on {} LUNs:",
                                  render_key(key_of(victim)), victim, luns.size());
  for (const NamedLun& lun : luns) {
    if (proof.size() + lun.identification.size() + 5 > kProofCharsMax) return proof + " ...";
    proof += " " + lun.identification;
  }
  return proof;
}

}  // namespace symnas::ha
