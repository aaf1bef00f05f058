// Aligned tables from the API's JSON. Thread-safe: pure functions.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace symnas::vnfsd::ctl {

enum class Paint { kPlain, kColours };

struct Column {
  std::string title;
  std::function<std::string(const nlohmann::json&)> text;  // of one row
  bool is_state = false;                                   // is painted by paint_state()
};

// Title line and one line per element of `rows`; columns two blanks apart, no blank at a line's
// end. Newlines and tabs in a cell are shown as \n and \t.
std::string render_table(const std::vector<Column>& columns, const nlohmann::json& rows,
                         Paint paint = Paint::kPlain);

// The word of a state in its colour: green for what is well, yellow for what is under way or not
// known, red for what needs somebody. Other words stay as they are.
std::string paint_state(std::string_view word, Paint paint);

// Wall clock, in the local zone, to the second; 0 is "-".
std::string local_time(std::int64_t ns);

// Column makers; a missing or empty value is "-".
Column plain(std::string title, std::string key);       // strings, numbers; lists joined by ","
Column state(std::string title, std::string key);       // the word of a state
Column size(std::string title, std::string key);        // bytes as 1.50G
Column exact_size(std::string title, std::string key);  // bytes as 256K

}  // namespace symnas::vnfsd::ctl
