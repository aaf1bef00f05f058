// PageFile: the page of metrics as a file, by which vnfsd hands it to symnas-metrics. Thread-safe:
// functions without state. Invariant: a reader sees a whole page, the last one or the one before.
#pragma once

#include <string>

#include "common/base/result.h"

namespace symnas::vnfsd::metrics {

// Name of the file in its directory.
inline constexpr const char* kPageName = "page";

// Makes the directory, which anybody may enter (what is above it decides who gets so far). Errors:
// kIo.
Status make_page_directory(const std::string& directory);
// Replaces the page. Anybody may read it. Errors: kIo.
Status write_page(const std::string& directory, const std::string& text);

struct PageRead {
  std::string text;
  double age_s = 0;  // since it was written, by the wall clock; never negative
};
// Errors: kNotFound (no page was written yet), kIo.
Result<PageRead> read_page(const std::string& directory);

}  // namespace symnas::vnfsd::metrics
