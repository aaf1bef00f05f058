// Server-sent events (WHATWG HTML 9.2): what a reader of /v1/events/stream is sent. Thread-safe:
// pure functions.
#pragma once

#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "common/base/ids.h"

namespace symnas::vnfsd::api {

// A page of events (schema Events): each as data; heads that have lost events as "event: lost". The
// id is the revision, and stands at the last event of a revision only: whoever goes on from it has
// missed none. "" = there is none.
std::string sse_of_page(const nlohmann::json& page);
// A comment, which readers ignore: proves that the stream lives, or says why nothing comes.
std::string sse_comment(const std::string& text);
// Of the header Last-Event-ID; nullopt: it is no revision.
std::optional<Revision> parse_event_id(const std::string& text);

}  // namespace symnas::vnfsd::api
