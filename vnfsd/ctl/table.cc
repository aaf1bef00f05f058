#include "vnfsd/ctl/table.h"

#include <algorithm>
#include <ctime>

#include <fmt/chrono.h>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "vnfsd/names/byte_size.h"

namespace symnas::vnfsd::ctl {
namespace {

using nlohmann::json;

std::string text_of(const json& value) {
  if (value.is_null()) return "";
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_array()) return value.dump();
  std::string out;
  for (const json& element : value) out += (out.empty() ? "" : ",") + text_of(element);
  return out;
}

std::string or_dash(std::string text) { return text.empty() ? "-" : text; }

}  // namespace

std::string render_table(const std::vector<Column>& columns, const json& rows) {
  std::vector<std::vector<std::string>> cells(1);
  for (const Column& column : columns) cells[0].push_back(column.title);
  for (const json& row : rows) {
    auto& line = cells.emplace_back();
    for (const Column& column : columns) line.push_back(column.text(row));
  }
  std::vector<std::size_t> widths(columns.size());
  for (const auto& line : cells) {
    for (std::size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  }
  std::string out;
  for (const auto& line : cells) {
    std::string padded;
    for (std::size_t i = 0; i < line.size(); ++i) {
      padded += line[i];
      if (i + 1 < line.size()) padded.append(widths[i] - line[i].size() + 2, ' ');
    }
    padded.erase(padded.find_last_not_of(' ') + 1);
    out += padded + "\n";
  }
  return out;
}

Column plain(std::string title, std::string key) {
  return {std::move(title), [key = std::move(key)](const json& row) {
            return or_dash(text_of(row.value(key, json())));
          }};
}

Column size(std::string title, std::string key) {
  return {std::move(title), [key = std::move(key)](const json& row) {
            return approximate_byte_size(row.value(key, std::uint64_t{0}));
          }};
}

Column exact_size(std::string title, std::string key) {
  return {std::move(title), [key = std::move(key)](const json& row) {
            return format_byte_size(row.value(key, std::uint64_t{0}));
          }};
}

std::string local_time(std::int64_t ns) {
  if (ns == 0) return "-";
  return fmt::format("{:%Y-%m-%d %H:%M:%S}",
                     fmt::localtime(static_cast<std::time_t>(ns / 1'000'000'000)));
}

}  // namespace symnas::vnfsd::ctl
