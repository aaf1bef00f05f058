// symnas-fence: SCSI-3 and NVMe persistent reservations of a head on its LUNs. One static program
// that needs no etcd, no configuration and no library. docs/man/symnas-fence.8.
#include <signal.h>
#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "ha/reservation/block_device.h"
#include "ha/reservation/commands.h"
#include "ha/reservation/limits.h"

namespace symnas::ha {
namespace {

constexpr const char* kUsage =
    "usage: symnas-fence [-o json|text] [--timeout-ms N] COMMAND ... DEVICE...\n"
    "  register   --own HEAD/BOOT-ID --state FOLDER            once per boot, on every LUN\n"
    "  preempt    --own WHO --victim WHO [--abort-timeout-ms N] cut a head off, and prove it\n"
    "  verify     --own WHO [--absent WHO]                     look at the keys, change nothing\n"
    "  keys                                                    show what is registered\n"
    "  unregister --own HEAD/BOOT-ID --state FOLDER [--last]   a head leaves the cluster\n"
    "WHO: HEAD/BOOT-ID, or a key (0x...). DEVICE: whole disks; of a multipath LUN its dm device;\n"
    "DEVICE=IDENTIFICATION: nothing is sent there if it is another LUN.\n";

struct Line {
  Request request;
  bool json = false;
};

tl::unexpected<Error> wrong(std::string what) {
  return fail(ErrorCode::kInvalidArgument, std::move(what));
}

Result<Command> parse_command(const std::string& word) {
  for (const Command command : {Command::kRegister, Command::kPreempt, Command::kVerify,
                                Command::kKeys, Command::kUnregister}) {
    if (word == to_string(command)) return command;
  }
  return wrong(fmt::format("'{}' is no command", word));
}

Result<std::int64_t> parse_timeout(std::string_view option, const std::string& text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 1 ||
      value > kStepTimeoutMsMax) {
    return wrong(fmt::format("{} {}: 1 to {} are possible", option, text, kStepTimeoutMsMax));
  }
  return value;
}

// The incarnation must be this boot's: nobody registers for another head, or for a boot that is
// over.
Status is_this_boot(const std::string& incarnation) {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string boot;
  std::getline(file, boot);
  if (!boot.empty() && incarnation.ends_with("/" + boot)) return {};
  return wrong(fmt::format("{}: is not this boot, which is HEAD/{}", incarnation, boot));
}

// The words of the command line, before it is known whether they fit the command.
struct Words {
  std::string command, own, victim, absent, state, abort_timeout;
  bool last = false;
};

Result<Line> take_words(const std::vector<std::string>& arguments, Words& words) {
  Line line;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    std::string* value = word == "--own"                ? &words.own
                         : word == "--victim"           ? &words.victim
                         : word == "--absent"           ? &words.absent
                         : word == "--state"            ? &words.state
                         : word == "--abort-timeout-ms" ? &words.abort_timeout
                                                        : nullptr;
    std::string text;
    if (word == "-o" || word == "--timeout-ms") value = &text;
    if (value != nullptr) {
      if (i + 1 == arguments.size()) return wrong(word + " needs a value");
      *value = arguments[++i];
    }
    if (word == "-o") {
      if (text != "json" && text != "text") return wrong("-o is json or text");
      line.json = text == "json";
    } else if (word == "--timeout-ms") {
      SYMNAS_ASSIGN(line.request.timeout_ms, parse_timeout(word, text));
    } else if (word == "--last") {
      words.last = true;
    } else if (value == nullptr && word.starts_with('-')) {
      return wrong(fmt::format("'{}' is no option", word));
    } else if (value == nullptr && words.command.empty()) {
      words.command = word;
    } else if (value == nullptr) {
      const std::size_t sign = word.rfind('=');
      const std::string device = word.substr(0, sign);
      if (sign != std::string::npos) line.request.identities[device] = word.substr(sign + 1);
      line.request.devices.push_back(device);
    }
  }
  return line;
}

Status check_fit(const Words& words, Command command) {
  const bool registers = command == Command::kRegister || command == Command::kUnregister;
  const auto fits = [&](std::string_view option, bool given, bool needed, bool allowed) -> Status {
    if (needed && !given) return wrong(fmt::format("{} needs {}", words.command, option));
    if (given && !allowed) return wrong(fmt::format("{} takes no {}", words.command, option));
    return {};
  };
  const bool keys = command == Command::kKeys;
  const bool preempt = command == Command::kPreempt;
  SYMNAS_TRY(fits("--own", !words.own.empty(), !keys, !keys));
  SYMNAS_TRY(fits("--victim", !words.victim.empty(), preempt, preempt));
  SYMNAS_TRY(fits("--absent", !words.absent.empty(), false, command == Command::kVerify));
  SYMNAS_TRY(fits("--state", !words.state.empty(), registers, registers));
  SYMNAS_TRY(fits("--last", words.last, false, command == Command::kUnregister));
  SYMNAS_TRY(fits("--abort-timeout-ms", !words.abort_timeout.empty(), false, preempt));
  return registers ? is_this_boot(words.own) : Status();
}

Result<Line> parse_line(const std::vector<std::string>& arguments) {
  Words words;
  SYMNAS_ASSIGN(Line line, take_words(arguments, words));
  Request& request = line.request;
  SYMNAS_ASSIGN(request.command, parse_command(words.command));
  SYMNAS_TRY(check_fit(words, request.command));
  if (!words.own.empty()) {
    SYMNAS_ASSIGN(request.own, parse_key(words.own));
  }
  request.abort_timeout_ms = request.timeout_ms;
  if (!words.abort_timeout.empty()) {
    SYMNAS_ASSIGN(request.abort_timeout_ms,
                  parse_timeout("--abort-timeout-ms", words.abort_timeout));
  }
  const std::string& victim = words.victim.empty() ? words.absent : words.victim;
  if (!victim.empty()) {
    SYMNAS_ASSIGN(request.victim, parse_key(victim));
  }
  if (request.victim && *request.victim == request.own) {
    return wrong("--own and the victim are the same: a head is fenced by another one");
  }
  request.journal_directory = words.state;
  request.last = words.last ? Last::kAllow : Last::kRefuse;
  if (request.devices.empty()) return wrong("no device is named: without LUNs nothing is proven");
  if (request.devices.size() > kLunsMax) return wrong(fmt::format("more than {} LUNs", kLunsMax));
  return line;
}

// SYMNAS_CRASH_AT="preempt DEVICE": ends the command there, as SIGKILL would. For tests.
void crash_point(const std::string& device) {
  const char* const chosen = std::getenv("SYMNAS_CRASH_AT");
  if (chosen == nullptr || chosen != "preempt " + device) return;
  ::kill(::getppid(), SIGKILL);
  ::kill(::getpid(), SIGKILL);
  for (;;) ::pause();
}

int run(const std::vector<std::string>& arguments) {
  const auto line = parse_line(arguments);
  if (!line) {
    fmt::print(stderr, "symnas-fence: {}\n{}", line.error().message, kUsage);
    return static_cast<int>(ExitStatus::kUsage);
  }
  const Reach reach{open_block_device, on_each, crash_point};
  const Report report = run_command(line->request, reach);
  const std::string text = line->json ? render_json(report) : render_text(report);
  // A lost answer must not be taken for a proof.
  const bool told =
      std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  return static_cast<int>(told ? exit_status_of(report.luns) : ExitStatus::kNotDone);
}

}  // namespace
}  // namespace symnas::ha

int main(int argc, char** argv) {
  return symnas::ha::run(std::vector<std::string>(argv + 1, argv + argc));
}
