#include "fsal_cluster/nsm/notices.h"

#include <algorithm>

#include "fsal_cluster/nsm/limits.h"
#include "fsal_cluster/nsm/rpc_message.h"
#include "fsal_cluster/nsm/xdr.h"

namespace symnas::nsm {
namespace {

bool is_ipv6(const NoticeTarget& target) { return target.client.find(':') != std::string::npos; }

// The answer of its port mapper; 0: none is registered.
std::uint16_t port_in(std::string_view results, const NoticeTarget& target) {
  XdrReader in(results);
  if (is_ipv6(target)) {
    const std::string_view address = in.string(kNameBytesMax);
    return in.failed() ? 0 : port_of_universal(address).value_or(0);
  }
  const std::uint32_t port = in.u32();
  return in.failed() || port > UINT16_MAX ? 0 : static_cast<std::uint16_t>(port);
}

}  // namespace

Notices::Notices(std::int32_t state, std::string name, std::function<std::uint32_t()> random)
    : state_(state), name_(std::move(name)), random_(std::move(random)) {}

void Notices::add(const NoticeTarget& target, std::int64_t now_ms) {
  for (const Notice& known : notices_)
    if (known.target == target) return;
  Notice notice;
  notice.target = target;
  notice.names = {target.server};
  if (name_ != target.server) notice.names.push_back(name_);
  notice.until_ms = now_ms + kGiveUpMs;
  begin_step(notice, now_ms);
  notices_.push_back(std::move(notice));
}

void Notices::begin_step(Notice& notice, std::int64_t now_ms) {
  notice.xid = random_();
  notice.tries = 0;
  notice.next_ms = now_ms;
}

void Notices::repeat_later(Notice& notice, std::int64_t now_ms) {
  std::int64_t pause_ms = kRepeatMinMs;
  for (int i = 1; i < notice.tries && pause_ms < kRepeatMaxMs; ++i) pause_ms *= 2;
  pause_ms = std::min(pause_ms, kRepeatMaxMs);
  // With many clients the repetitions must not all fall on one moment.
  notice.next_ms = now_ms + pause_ms - static_cast<std::int64_t>(random_() % (pause_ms / 4));
}

Notices::Message Notices::message_of(const Notice& notice) const {
  if (notice.port == 0) {
    const RpcCall lookup = is_ipv6(notice.target) ? rpcbind_lookup(notice.xid, Transport::kUdp)
                                                  : portmap_lookup(notice.xid, Transport::kUdp);
    return {notice.target, kPortmapPort, encode_call(lookup)};
  }
  return {notice.target, notice.port,
          encode_call(sm_notify(notice.xid, notice.names.front(), state_))};
}

std::vector<Notices::Message> Notices::due(std::int64_t now_ms) {
  std::vector<Message> messages;
  for (auto it = notices_.begin(); it != notices_.end();) {
    if (it->next_ms > now_ms) {
      ++it;
      continue;
    }
    if (now_ms >= it->until_ms) {
      ended_.push_back({it->target, End::kGivenUp});
      it = notices_.erase(it);
      continue;
    }
    if (it->port != 0 && it->tries >= kTriesPerPort) {
      it->port = 0;
      it->xid = random_();
    }
    ++it->tries;
    repeat_later(*it, now_ms);
    messages.push_back(message_of(*it));
    ++it;
  }
  return messages;
}

void Notices::unsent(const NoticeTarget& to, std::int64_t now_ms) {
  for (Notice& notice : notices_) {
    if (notice.target != to) continue;
    --notice.tries;
    notice.next_ms = now_ms + kNetworkPollMs;
  }
}

void Notices::received(const std::string& from, std::string_view message, std::int64_t now_ms) {
  const auto reply = decode_reply(message);
  if (!reply) return;
  const auto notice = std::find_if(notices_.begin(), notices_.end(), [&](const Notice& known) {
    return known.target.client == from && known.xid == reply->xid;
  });
  if (notice == notices_.end()) return;
  if (notice->port == 0) {
    const std::uint16_t port = reply->succeeded ? port_in(reply->results, notice->target) : 0;
    // Not registered: its statd may not have been started yet.
    if (port == 0) return;
    notice->port = port;
    begin_step(*notice, now_ms);
    return;
  }
  if (!reply->succeeded) {
    notice->port = 0;  // another program is there now: the next repetition asks for the port again
    notice->xid = random_();
    return;
  }
  notice->names.erase(notice->names.begin());
  if (notice->names.empty()) {
    ended_.push_back({notice->target, End::kTold});
    notices_.erase(notice);
  } else {
    begin_step(*notice, now_ms);
  }
}

std::optional<std::int64_t> Notices::next_ms() const {
  std::optional<std::int64_t> next;
  for (const Notice& notice : notices_)
    if (!next || notice.next_ms < *next) next = notice.next_ms;
  return next;
}

std::vector<Notices::Ended> Notices::ended() { return std::exchange(ended_, {}); }

}  // namespace symnas::nsm
