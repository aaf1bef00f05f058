// Aligned tables from the API's JSON. Thread-safe: pure functions.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace symnas::vnfsd::ctl {

struct Column {
  std::string title;
  std::function<std::string(const nlohmann::json&)> text;  // of one row
};

// Title line and one line per element of `rows`; columns two blanks apart, no blank at a line's
// end.
std::string render_table(const std::vector<Column>& columns, const nlohmann::json& rows);

// Wall clock, in the local zone, to the second; 0 is "-".
std::string local_time(std::int64_t ns);

// Column makers; a missing or empty value is "-".
Column plain(std::string title, std::string key);       // strings, numbers; lists joined by ","
Column size(std::string title, std::string key);        // bytes as 1.50G
Column exact_size(std::string title, std::string key);  // bytes as 256K

}  // namespace symnas::vnfsd::ctl
