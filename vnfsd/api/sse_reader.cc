#include "vnfsd/api/sse_reader.h"

#include "vnfsd/api/limits.h"

namespace symnas::vnfsd::api {

bool SseReader::feed(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    line_ += bytes.substr(0, end);
    if (line_.size() > kStreamLineBytesMax) return false;
    if (end == std::string_view::npos) return true;
    bytes.remove_prefix(end + 1);
    if (line_.ends_with('\r')) line_.pop_back();
    const std::string line = std::move(line_);
    line_.clear();
    if (!take_line(line)) return false;
  }
  return true;
}

bool SseReader::take_line(std::string_view line) {
  if (line.empty()) {
    const ServerEvent event = std::move(event_);
    event_ = {};
    return event.data.empty() || take_(event);
  }
  const std::size_t colon = line.find(':');
  const std::string_view name = line.substr(0, colon);
  std::string_view value = colon == std::string_view::npos ? "" : line.substr(colon + 1);
  if (value.starts_with(' ')) value.remove_prefix(1);
  if (name == "id") event_.id = value;
  if (name == "event") event_.name = value;
  if (name == "data") event_.data += (event_.data.empty() ? "" : "\n") + std::string(value);
  return event_.data.size() <= kStreamLineBytesMax;
}

}  // namespace symnas::vnfsd::api
