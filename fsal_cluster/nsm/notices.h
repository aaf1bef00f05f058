// Notices: decides which SM_NOTIFY goes to which client and when, after a start. Pure: the caller
// has the clock and the sockets.
//
// Thread class: thread-compatible.
// Invariant: each client is asked until it has acknowledged every name that it may know the server
// by, or until kGiveUpMs have passed. A client that is given up keeps its locks (INV-7); it is only
// not told to reclaim them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace symnas::nsm {

struct NoticeTarget {
  std::string client;  // address
  std::string server;  // our address that it uses: the source of notices, and one of our names
  friend bool operator==(const NoticeTarget&, const NoticeTarget&) = default;
};

class Notices {
 public:
  // `state`: number of this life, odd. `name`: another name that clients may call the server by.
  // `random`: for the ids of calls and the jitter of repetitions.
  Notices(std::int32_t state, std::string name, std::function<std::uint32_t()> random);

  // Adding the same target again has no effect.
  void add(const NoticeTarget& target, std::int64_t now_ms);

  struct Message {
    NoticeTarget to;
    std::uint16_t port = 0;
    std::string bytes;
  };
  // The messages that are to be sent now.
  std::vector<Message> due(std::int64_t now_ms);
  // Tells that a message could not be sent, because there is no network yet.
  void unsent(const NoticeTarget& to, std::int64_t now_ms);
  void received(const std::string& from, std::string_view message, std::int64_t now_ms);
  // When due() has something again; nullopt: every client knows or was given up.
  std::optional<std::int64_t> next_ms() const;
  // The clients that are not asked any more, since the last call.
  enum class End { kTold, kGivenUp };
  struct Ended {
    NoticeTarget target;
    End how = End::kTold;
  };
  std::vector<Ended> ended();

 private:
  struct Notice {
    NoticeTarget target;
    std::vector<std::string> names;  // still to be acknowledged
    std::uint16_t port = 0;          // 0: to be asked for
    std::uint32_t xid = 0;           // of the present step
    int tries = 0;                   // of the present step
    std::int64_t next_ms = 0;
    std::int64_t until_ms = 0;
  };

  void begin_step(Notice& notice, std::int64_t now_ms);
  void repeat_later(Notice& notice, std::int64_t now_ms);
  Message message_of(const Notice& notice) const;

  const std::int32_t state_;
  const std::string name_;
  const std::function<std::uint32_t()> random_;
  std::vector<Notice> notices_;
  std::vector<Ended> ended_;
};

}  // namespace symnas::nsm
