// Text that comes from elsewhere, made fit for a terminal: what would move the cursor, change the
// terminal or hide text is shown as \xNN or \u{NNNN}. Thread-safe: pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace symnas::vnfsd::ctl {

// Which characters the reader's terminal shows.
enum class Charset { kUtf8, kAscii };

// Control characters (C0 but for newline and tab, DEL, C1), directions of text and bytes that are
// no UTF-8 are replaced; with kAscii everything that is not ASCII.
std::string safe_text(std::string_view text, Charset charset);

// The same of every string of the document, also of names of members.
nlohmann::json safe_document(const nlohmann::json& document, Charset charset);

// Columns that the text takes on a terminal: East Asian characters take two, combining ones none.
std::size_t width_of(std::string_view text);

// The longest beginning of the text that takes at most `columns`; colours (table.h) are kept and
// ended.
std::string cut_to(std::string_view line, std::size_t columns);

}  // namespace symnas::vnfsd::ctl
