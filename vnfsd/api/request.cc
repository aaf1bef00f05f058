#include "vnfsd/api/request.h"

#include <charconv>
#include <optional>
#include <string_view>

#include <fmt/core.h>

#include "fsal_cluster/check/finding.h"

namespace symnas::vnfsd::api {
namespace {

tl::unexpected<Error> bad_value(std::string_view name, std::string_view wanted) {
  return fail(ErrorCode::kInvalidArgument,
              fmt::format("API: the parameter {} must be {}", name, wanted));
}

Result<bool> flag_of(const std::string& name, const std::string& value) {
  if (value == "true") return true;
  if (value == "false") return false;
  return bad_value(name, "true or false");
}

Result<Revision> revision_of(const std::string& value) {
  std::int64_t number = 0;
  const auto read = std::from_chars(value.data(), value.data() + value.size(), number);
  if (read.ec != std::errc() || read.ptr != value.data() + value.size() || number < 0)
    return bad_value("after", "a whole number from 0 on");
  return Revision(number);
}

}  // namespace

Result<ApiRequest> request_of(std::string method, std::string path, std::string body,
                              const std::multimap<std::string, std::string>& parameters) {
  ApiRequest request{std::move(method), std::move(path), std::move(body)};
  for (const auto& [name, value] : parameters) {
    if (!request.query.emplace(name, value).second) {
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("API: the parameter {} is given twice", fs::check::printable(name)));
    }
    if (name == "dry_run") {
      SYMNAS_ASSIGN(const bool is_dry, flag_of(name, value));
      if (is_dry) request.mode = Mode::kDryRun;
    } else if (name == "yes") {
      SYMNAS_ASSIGN(const bool agrees, flag_of(name, value));
      if (agrees) request.consent = Consent::kYes;
    } else if (name == "forget" || name == "async") {
      SYMNAS_TRY(flag_of(name, value));
    } else if (name == "after") {
      SYMNAS_ASSIGN(request.after, revision_of(value));
    }
  }
  return request;
}

}  // namespace symnas::vnfsd::api
