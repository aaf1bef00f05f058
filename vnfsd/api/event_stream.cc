#include "vnfsd/api/event_stream.h"

#include <algorithm>
#include <charconv>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace symnas::vnfsd::api {
namespace {

using nlohmann::json;

// One line: dump() escapes what would end it.
std::string line_of(const json& document) {
  return document.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace

std::string sse_of_page(const json& page) {
  std::string out;
  if (const json lost = page.value("lost", json::array()); !lost.empty())
    out += fmt::format("event: lost\ndata: {}\n\n", line_of({{"heads", lost}}));
  const json events = page.value("events", json::array());
  for (std::size_t i = 0; i < events.size(); ++i) {
    const json& revision = events[i]["revision"];
    const bool is_last = i + 1 == events.size() || events[i + 1]["revision"] != revision;
    if (is_last) out += fmt::format("id: {}\n", revision.get<std::int64_t>());
    out += fmt::format("data: {}\n\n", line_of(events[i]));
  }
  return out;
}

std::string sse_comment(const std::string& text) {
  std::string line = text;
  std::replace_if(
      line.begin(), line.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return ": " + line + "\n\n";
}

std::optional<Revision> parse_event_id(const std::string& text) {
  std::int64_t value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size() || value < 0)
    return std::nullopt;
  return Revision(value);
}

}  // namespace symnas::vnfsd::api
