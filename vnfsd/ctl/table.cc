#include "vnfsd/ctl/table.h"

#include <algorithm>
#include <ctime>
#include <map>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "vnfsd/ctl/safe_text.h"
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

// A row stays a line.
std::string one_line(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else {
      out += c;
    }
  }
  return out;
}

constexpr std::string_view kGreen = "\x1b[32m";
constexpr std::string_view kYellow = "\x1b[33m";
constexpr std::string_view kRed = "\x1b[31m";
constexpr std::string_view kEnd = "\x1b[0m";

// "" = a word that is no state.
std::string_view colour_of(std::string_view word) {
  static const std::map<std::string_view, std::string_view> kColours = {
      {"serving", kGreen},   {"leader", kGreen},    {"member", kGreen},    {"started", kGreen},
      {"voter", kGreen},     {"prepared", kYellow}, {"starting", kYellow}, {"stopping", kYellow},
      {"stopped", kYellow},  {"waiting", kYellow},  {"fencing", kYellow},  {"draining", kYellow},
      {"owned", kYellow},    {"learner", kYellow},  {"unknown", kYellow},  {"moving", kYellow},
      {"unheard", kRed},     {"held", kRed},        {"unfenced", kRed},    {"fenced", kRed},
      {"unreachable", kRed}, {"full", kRed}};
  const auto found = kColours.find(word.substr(0, word.find(' ')));
  return found == kColours.end() ? "" : found->second;
}

}  // namespace

std::string paint_state(std::string_view word, Paint paint) {
  const std::string_view colour = paint == Paint::kColours ? colour_of(word) : "";
  if (colour.empty()) return std::string(word);
  return fmt::format("{}{}{}", colour, word, kEnd);
}

std::string render_table(const std::vector<Column>& columns, const json& rows, Paint paint) {
  std::vector<std::vector<std::string>> cells(1);
  for (const Column& column : columns) cells[0].push_back(one_line(column.title));
  for (const json& row : rows) {
    auto& line = cells.emplace_back();
    for (const Column& column : columns) line.push_back(one_line(column.text(row)));
  }
  std::vector<std::size_t> widths(columns.size());
  for (const auto& line : cells) {
    for (std::size_t i = 0; i < line.size(); ++i)
      widths[i] = std::max(widths[i], width_of(line[i]));
  }
  std::string out;
  for (const auto& line : cells) {
    std::size_t blanks = 0;
    for (std::size_t i = 0; i < line.size(); ++i) {
      if (!line[i].empty()) out.append(std::exchange(blanks, 0), ' ');
      out += columns[i].is_state && &line != cells.data() ? paint_state(line[i], paint) : line[i];
      blanks += widths[i] - width_of(line[i]) + 2;
    }
    out += "\n";
  }
  return out;
}

Column plain(std::string title, std::string key) {
  return {std::move(title), [key = std::move(key)](const json& row) {
            return or_dash(text_of(row.value(key, json())));
          }};
}

Column state(std::string title, std::string key) {
  Column column = plain(std::move(title), std::move(key));
  column.is_state = true;
  return column;
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
