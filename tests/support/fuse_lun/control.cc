#include "tests/support/fuse_lun/control.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>
#include <sstream>

#include <fmt/core.h>

namespace symnas::fuse_lun {
namespace {

Status wrong(const std::string& what) { return fail(ErrorCode::kInvalidArgument, what); }

std::optional<std::uint64_t> number(const std::string& text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<RequestKind> kind_of(const std::string& word) {
  if (word == "read") return RequestKind::kRead;
  if (word == "write") return RequestKind::kWrite;
  if (word == "flush") return RequestKind::kFlush;
  return std::nullopt;
}

}  // namespace

Status Control::listen(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return wrong("socket path too long: " + path);
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  ::unlink(path.c_str());
  listener_ = UniqueFd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (::bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(listener_.get(), 8) != 0)
    return fail(ErrorCode::kIo, "socket " + path + ": " + std::strerror(errno));
  return {};
}

void Control::serve() {
  for (;;) {
    const UniqueFd client(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (client.valid()) serve_client(client.get());
  }
}

void Control::serve_client(int client) {
  std::string input;
  char piece[512];
  for (ssize_t got; (got = ::read(client, piece, sizeof piece)) > 0;) {
    input.append(piece, static_cast<std::size_t>(got));
    if (input.size() > kCommandBytesMax) return;
    for (std::size_t end; (end = input.find('\n')) != std::string::npos;) {
      const std::string answer = execute(input.substr(0, end));
      input.erase(0, end + 1);
      if (::send(client, answer.data(), answer.size(), MSG_NOSIGNAL) !=
          static_cast<ssize_t>(answer.size()))
        return;
    }
  }
}

std::string Control::execute(const std::string& line) {
  std::istringstream stream(line);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  std::string output;
  const Status status = run(words, output);
  return output + (status ? "ok" : "error: " + status.error().message) + "\n";
}

Status Control::run(const std::vector<std::string>& words, std::string& output) {
  if (words.size() < 2) return wrong("COMMAND LUN [ARGUMENTS] is wanted");
  if (words[0] == "add") {
    if (words.size() != 3) return wrong("add NAME FILE");
    return luns_.add(words[1], words[2]);
  }
  const bool one_head = words[0] == "hang" && words.size() > 2 && !number(words[2]);
  if ((words[0] == "power-off" || words[0] == "hang") && words.size() > 2 && !one_head) {
    const auto requests = number(words[2]);
    if (words[1] != "all" || !requests || *requests == 0) return wrong(words[0] + " all N");
    luns_.trigger().arm(*requests, [this, off = words[0] == "power-off"] {
      for (FaultyLun* lun : luns_.all()) off ? lun->power_off() : lun->hang();
    });
    return {};
  }
  // These commands also cancel what was announced for a later request.
  if (words[0] == "power-on" || words[0] == "resume" || words[0] == "heal") {
    luns_.trigger().disarm();
  }
  bool found = false;
  for (FaultyLun* lun : luns_.all()) {
    if (words[1] != "all" && words[1] != lun->name()) continue;
    found = true;
    SYMNAS_TRY(run_on(*lun, words, output));
  }
  if (!found) return fail(ErrorCode::kNotFound, "no LUN " + words[1]);
  return {};
}

Status Control::run_on(FaultyLun& lun, const std::vector<std::string>& words, std::string& output) {
  const std::string& command = words[0];
  const std::string argument = words.size() > 2 ? words[2] : "";
  if (command == "power-loss" || command == "power-on") {
    const auto seed = number(argument);
    if (!argument.empty() && !seed) return wrong("SEED is a number");
    if (command == "power-loss") lun.power_off();
    const Medium::Loss loss = lun.power_on(seed);
    output += fmt::format("{}: {} sectors lost, {} kept\n", lun.name(), loss.sectors_lost,
                          loss.sectors_kept);
  } else if (command == "power-off") {
    lun.power_off();
  } else if (command == "delay") {
    const auto ms = number(argument);
    if (!ms) return wrong("delay LUN MS");
    lun.set_delay(std::chrono::milliseconds(*ms));
  } else if (command == "hang") {
    argument.empty() ? lun.hang() : lun.hang(argument);
  } else if (command == "resume") {
    argument.empty() ? lun.resume() : lun.resume(argument);
  } else if (command == "eio") {
    const std::string on = words.size() > 3 ? words[3] : "";
    const auto kind = kind_of(argument);
    if ((on != "on" && on != "off") || !kind)
      return wrong("eio LUN read|write|flush on|off [HEAD]");
    words.size() > 4 ? lun.set_eio(*kind, on == "on", words[4]) : lun.set_eio(*kind, on == "on");
  } else if (command == "bad") {
    const auto begin = number(argument);
    const auto bytes = number(words.size() > 3 ? words[3] : "");
    if (!begin || !bytes) return wrong("bad LUN BYTE BYTES");
    lun.set_bad(*begin, *begin + *bytes);
  } else if (command == "vanish") {
    lun.vanish();
  } else if (command == "appear") {
    lun.appear();
  } else if (command == "fence" && !argument.empty()) {
    lun.fence(argument);
  } else if (command == "unfence" && !argument.empty()) {
    lun.unfence(argument);
  } else if (command == "heal") {
    lun.heal();
  } else if (command == "stats") {
    output += lun.stats() + "\n";
  } else {
    return wrong("unknown command or missing argument: " + command);
  }
  return {};
}

}  // namespace symnas::fuse_lun
