// ErrorGuide: what each error code and each exit code of symnas means, and what to do next. The one
// source of `symnas explain`, of the manual pages and of docs/operations/errors.md. Constants.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"

namespace symnas::vnfsd::ctl {

struct CodeGuide {
  ErrorCode code;
  std::string_view meaning;
  std::string_view next;
};

struct ExitGuide {
  int status;
  std::string_view meaning;
  std::string_view next;
};

// A row for every code of common/base/result.h, in its order.
const std::vector<CodeGuide>& code_guides();
// A row for every exit code, ascending from 0.
const std::vector<ExitGuide>& exit_guides();

// Of a code's word ("not_found") or an exit code ("3"), as text of several lines. Errors: kNotFound
// (neither; the message says what is near).
Result<std::string> explain_code(const std::string& word);

// Both tables as in docs/operations/errors.md, from the first to the last line.
std::string guide_as_markdown();

}  // namespace symnas::vnfsd::ctl
