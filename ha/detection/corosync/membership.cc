#include "ha/detection/corosync/membership.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace symnas::ha {

using nlohmann::json;

namespace {

// IPv6 addresses may be written in several ways; names of hosts stay as they are.
std::string canonical(const std::string& address) {
  in6_addr bytes{};
  char text[INET6_ADDRSTRLEN];
  if (::inet_pton(AF_INET6, address.c_str(), &bytes) != 1) return address;
  return ::inet_ntop(AF_INET6, &bytes, text, sizeof text);
}

}  // namespace

std::string render_membership(const CorosyncMembership& membership) {
  json nodes = json::array();
  for (const CorosyncNode& node : membership.nodes) {
    nodes.push_back({{"id", node.id},
                     {"name", node.name},
                     {"addresses", node.addresses},
                     {"member", node.member}});
  }
  // What corosync.conf holds need not be UTF-8.
  return json{{"quorate", membership.quorate}, {"nodes", std::move(nodes)}}.dump(
      -1, ' ', true, json::error_handler_t::replace);
}

Result<CorosyncMembership> parse_membership(std::string_view line) {
  const auto wrong = [&](std::string_view what) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("is no membership ({}): {}", what, line.substr(0, 100)));
  };
  if (line.size() > kCorosyncLineBytesMax) return wrong("too long");
  try {
    const json document = json::parse(line);
    const json& nodes = document.at("nodes");
    if (!nodes.is_array() || nodes.size() > kCorosyncNodesMax) return wrong("nodes");
    CorosyncMembership out;
    out.quorate = document.at("quorate").get<bool>();
    for (const json& node : nodes) {
      CorosyncNode& one = out.nodes.emplace_back();
      one.id = node.at("id").get<std::uint32_t>();
      one.name = node.at("name").get<std::string>();
      for (const auto& address : node.at("addresses").get<std::vector<std::string>>())
        one.addresses.push_back(canonical(address));
      one.member = node.at("member").get<bool>();
    }
    return out;
  } catch (const json::exception& error) {
    return wrong(error.what());
  }
}

}  // namespace symnas::ha
