#include "vnfsd/ctl/clean_client.h"

#include <nlohmann/json.hpp>

namespace symnas::vnfsd::ctl {

Result<nlohmann::json> CleanClient::request(const std::string& method, const std::string& path,
                                            const nlohmann::json& body) {
  auto answer = inner_.request(method, path, body);
  if (answer) return safe_document(*answer, charset_);
  return fail(answer.error().code, safe_text(answer.error().message, charset_));
}

Status CleanClient::follow(const std::string& path, const api::TakeServerEvent& take) {
  const Status done = inner_.follow(path, [&](const api::ServerEvent& event) {
    api::ServerEvent clean = event;
    clean.name = safe_text(event.name, charset_);
    // The data has escapes of its own: it is cleaned as the document that it is.
    const auto document = nlohmann::json::parse(event.data, nullptr, false);
    clean.data = document.is_discarded() ? safe_text(event.data, charset_)
                                         : safe_document(document, charset_).dump();
    return take(clean);
  });
  if (done) return done;
  return fail(done.error().code, safe_text(done.error().message, charset_));
}

Result<std::string> CleanClient::text(const std::string& path) {
  auto answer = inner_.text(path);
  if (answer) return safe_text(*answer, charset_);
  return fail(answer.error().code, safe_text(answer.error().message, charset_));
}

}  // namespace symnas::vnfsd::ctl
