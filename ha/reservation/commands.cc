#include "ha/reservation/commands.h"

#include <algorithm>
#include <map>

#include <fmt/core.h>

namespace symnas::ha {
namespace {

using Answers = std::vector<Result<LunState>>;
using DeviceStep = std::function<Result<LunState>(Device&, const std::string&)>;

bool all_done(const Answers& answers) {
  return std::ranges::all_of(answers, [](const auto& answer) { return answer.has_value(); });
}

// Two paths of one LUN that are given as two LUNs would each be registered or preempted only in
// part.
void refuse_doubles(Answers& answers) {
  std::map<std::string, std::string> seen;
  for (auto& answer : answers) {
    if (!answer) continue;
    const auto [other, is_new] = seen.emplace(answer->identity, answer->device);
    if (is_new) continue;
    answer = fail(ErrorCode::kInvalidArgument,
                  fmt::format("{}: is the same LUN as {} ({}): name their multipath device",
                              answer->device, other->second, answer->identity));
  }
}

class Run {
 public:
  Run(const Request& request, const Reach& reach) : request_(request), reach_(reach) {}

  Answers register_all() {
    auto journal = Journal::open(request_.journal_directory, request_.own);
    if (!journal) return all_fail(journal.error());
    Answers answers = on_all([&](Device& device, const std::string& name) {
      return may_register(device, name, *journal, request_.own);
    });
    refuse_doubles(answers);
    if (!all_done(answers)) return answers;
    answers = on_all([&](Device& device, const std::string& name) {
      return register_here(device, name, *journal, request_.own);
    });
    return all_done(answers) ? judge_all(answers) : answers;
  }

  Answers preempt_all() {
    Answers answers = on_all([&](Device& device, const std::string& name) -> Result<LunState> {
      SYMNAS_ASSIGN(LunState seen, look(device, name));
      if (seen.has(request_.own)) return seen;
      return tl::unexpected<Error>(judge(seen, request_.own, std::nullopt).error());
    });
    refuse_doubles(answers);
    if (!all_done(answers)) return answers;
    answers = on_all(
        [&](Device& device, const std::string& name) {
          reach_.about_to_preempt(name);
          return preempt_here(device, name, request_.own, *request_.victim);
        },
        request_.abort_timeout_ms);
    return all_done(answers) ? judge_all(answers) : answers;
  }

  Answers verify_all() {
    Answers answers = judge_all({});
    refuse_doubles(answers);
    return answers;
  }

  Answers look_at_all() {
    return on_all([](Device& device, const std::string& name) -> Result<LunState> {
      SYMNAS_ASSIGN(LunState seen, look(device, name));
      // Some LUNs that answer the rest do not know this command: then the capabilities stay
      // unknown.
      if (const auto can = device.capabilities()) seen.can = *can;
      return seen;
    });
  }

  Answers unregister_all() {
    auto journal = Journal::open(request_.journal_directory, request_.own);
    if (!journal) return all_fail(journal.error());
    Answers answers = on_all([&](Device& device, const std::string& name) {
      return may_unregister(device, name, request_.own, request_.last);
    });
    refuse_doubles(answers);
    if (!all_done(answers)) return answers;
    return on_all([&](Device& device, const std::string& name) {
      return unregister_here(device, name, *journal, request_.own, request_.last);
    });
  }

 private:
  Answers all_fail(const Error& error) const {
    return Answers(request_.devices.size(), tl::unexpected<Error>(error));
  }

  Answers on_all(const DeviceStep& step) const { return on_all(step, request_.timeout_ms); }
  Answers on_all(const DeviceStep& step, std::int64_t timeout_ms) const {
    return reach_.on_each(request_.devices, timeout_ms,
                          [&](const std::string& name) -> Result<LunState> {
                            SYMNAS_ASSIGN(const auto device, reach_.open(name));
                            SYMNAS_TRY(check_expected(*device, name));
                            return step(*device, name);
                          });
  }

  // A node may have become another disk since its name was resolved.
  Status check_expected(Device& device, const std::string& name) const {
    const auto expected = request_.identities.find(name);
    if (expected == request_.identities.end()) return {};
    SYMNAS_ASSIGN(const std::string identity, device.identity());
    if (identity == expected->second) return {};
    return fail(ErrorCode::kUnavailable,
                fmt::format("{}: is {}, not {}", name, identity, expected->second));
  }

  // Looks again at all LUNs, after the last one was changed. `before` says what was done, for the
  // report.
  Answers judge_all(const Answers& before) const {
    Answers answers = on_all([&](Device& device, const std::string& name) -> Result<LunState> {
      SYMNAS_ASSIGN(LunState seen, look(device, name));
      SYMNAS_TRY(judge(seen, request_.own, request_.victim));
      return seen;
    });
    for (std::size_t i = 0; i < before.size(); ++i) {
      if (answers[i] && answers[i]->identity == before[i]->identity) {
        answers[i]->did = before[i]->did;
      } else if (answers[i]) {
        answers[i] =
            fail(ErrorCode::kUnavailable,
                 fmt::format("{}: was {} a moment ago and is {} now: repeat the command",
                             before[i]->device, before[i]->identity, answers[i]->identity));
      }
    }
    return answers;
  }

  const Request& request_;
  const Reach& reach_;
};

}  // namespace

std::string_view to_string(Command command) {
  switch (command) {
    case Command::kRegister: return "register";
    case Command::kPreempt: return "preempt";
    case Command::kVerify: return "verify";
    case Command::kKeys: return "keys";
    case Command::kUnregister: return "unregister";
  }
  return "";
}

Report run_command(const Request& request, const Reach& reach) {
  Run run(request, reach);
  Report report;
  report.command = to_string(request.command);
  report.devices = request.devices;
  if (request.command != Command::kKeys) report.own = render_key(request.own);
  if (request.victim) report.victim = render_key(*request.victim);
  switch (request.command) {
    case Command::kRegister: report.luns = run.register_all(); break;
    case Command::kPreempt: report.luns = run.preempt_all(); break;
    case Command::kVerify: report.luns = run.verify_all(); break;
    case Command::kKeys: report.luns = run.look_at_all(); break;
    case Command::kUnregister: report.luns = run.unregister_all(); break;
  }
  return report;
}

}  // namespace symnas::ha
