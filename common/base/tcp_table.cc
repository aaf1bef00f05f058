#include "common/base/tcp_table.h"

#include <charconv>
#include <sstream>
#include <string_view>

namespace symnas {
namespace {

template <class Number>
bool hexadecimal(std::string_view text, Number& value) {
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value, 16);
  return error == std::errc{} && end == last;
}

// "0100007F:0801"
bool endpoint(const std::string& text, std::string& address, std::uint16_t& port) {
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos) return false;
  address = text.substr(0, colon);
  return hexadecimal(std::string_view(text).substr(colon + 1), port);
}

}  // namespace

// "  0: 0100007F:0801 0200007F:03E9 01 ...": local and remote address, state.
std::vector<TcpSocket> parse_tcp_table(const std::string& text) {
  std::vector<TcpSocket> sockets;
  std::istringstream lines(text);
  std::string line;
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    std::string slot;
    std::string local;
    std::string remote;
    std::string state;
    TcpSocket socket;
    if (!(words >> slot >> local >> remote >> state) ||
        !endpoint(local, socket.local_address, socket.local_port) ||
        !endpoint(remote, socket.remote_address, socket.remote_port) ||
        !hexadecimal(state, socket.state)) {
      continue;
    }
    sockets.push_back(std::move(socket));
  }
  return sockets;
}

}  // namespace symnas
