// SseReader: takes server-sent events (WHATWG HTML 9.2) out of the bytes of a reply, in whatever
// pieces these come. Thread-compatible.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace symnas::vnfsd::api {

struct ServerEvent {
  std::string id;    // "" = it has none
  std::string name;  // "" = a usual one
  std::string data;
};

// False: no more is wanted.
using TakeServerEvent = std::function<bool(const ServerEvent&)>;

class SseReader {
 public:
  explicit SseReader(TakeServerEvent take) : take_(std::move(take)) {}
  // False: no more is wanted, or a line has more than kStreamLineBytesMax.
  bool feed(std::string_view bytes);

 private:
  bool take_line(std::string_view line);

  const TakeServerEvent take_;
  std::string line_;  // its beginning
  ServerEvent event_;
};

}  // namespace symnas::vnfsd::api
