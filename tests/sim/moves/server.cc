#include "tests/sim/moves/server.h"

#include <memory>
#include <utility>

#include "fsal_cluster/state/nlm_client.h"
#include "tests/sim/moves/turn.h"
#include "tests/sim/runtime/simulation.h"

namespace symnas::sim {

namespace {

constexpr std::int64_t kNsPerMs = 1'000'000;
constexpr std::int64_t kPollNs = 1'000 * kNsPerMs;  // Blocked_Lock_Poller_Interval

}  // namespace

// The outcome of one try of a call.
struct Server::Sent {
  std::optional<CallStatus> answer;
};

void Server::start(std::vector<fs::Handle> files) {
  files_ = std::move(files);
  world_.on_serving([this](std::uint64_t epoch, fs::Mount& mount) {
    life_ = new Life(world_, epoch, mount, files_);
  });
  spawn(new_process("server"), "by itself", [this] { serve_by_itself(); });
}

std::optional<Server::Reply> Server::call(unsigned client, const Life::Body& body,
                                          const bool* gone) {
  const Life::Key key{client, ++last_xid_};
  Reply reply;
  std::uint64_t asked = 0;  // the instance that has the call
  std::shared_ptr<Sent> sent;
  for (;; sleep_ns((5 + static_cast<std::int64_t>(below(30))) * kNsPerMs)) {
    if (*gone) return std::nullopt;
    Life* const life = life_;
    if (life == nullptr || !world_.lives(life->epoch())) continue;
    if (asked != life->epoch()) sent = std::make_shared<Sent>();
    if (!send(*life, key, body, sent)) continue;
    reply.across_crash = reply.across_crash || (asked != 0 && asked != life->epoch());
    asked = reply.epoch = life->epoch();
    reply.sent_ns = now_ns();
    const bool connected = wait_for(*sent, asked, gone);
    if (connected && sent->answer) {
      reply.answer = *sent->answer;
      return reply;
    }
    if (sent->answer) sent = std::make_shared<Sent>();  // the answer was lost with the connection
  }
}

bool Server::send(Life& life, const Life::Key& key, const Life::Body& body,
                  const std::shared_ptr<Sent>& sent) {
  // What was sent before the end may be answered late: it was true when it was asked for.
  const bool too_late = world_.fenced(life.epoch()) && !world_.retired(life.epoch());
  return world_.send(life.epoch(), [&life, key, body, sent, too_late](fs::Mount&) {
    life.serve(key, body, [sent, too_late](CallStatus answer) {
      if (too_late) fail("an answer of an instance that has ended");
      sent->answer = answer;
    });
  });
}

// Waits until the answer has come or cannot come any more. False: the connection broke.
bool Server::wait_for(const Sent& sent, std::uint64_t epoch, const bool* gone) {
  const std::int64_t breaks_ns = now_ns() + (below(8) == 0 ? up_to_ms(400) : INT64_MAX / 4);
  for (std::int64_t pause_ns = kNsPerMs / 4; !sent.answer && !*gone;
       pause_ns = std::min(2 * pause_ns, 20 * kNsPerMs)) {
    sleep_ns(pause_ns);
    if (now_ns() > breaks_ns) return false;
    if (sent.answer) return true;
    if (world_.retired(epoch)) fail("a planned move swallowed a request");
    if (!world_.lives(epoch) && world_.fenced(epoch)) return true;
  }
  return true;
}

void Server::deliver_late(const Life::Body& body) {
  Life* const life = life_;
  if (life == nullptr) return;
  spawn(current_process(), "late request", [this, life, body] {
    sleep_ns(up_to_ms(6'000));
    if (!world_.lives(life->epoch())) return;
    world_.send(life->epoch(), [life, body](fs::Mount&) { static_cast<void>(body(*life)); });
  });
}

bool Server::sm_notify(const std::string& address, std::int32_t state) {
  Life* const life = life_;
  if (life == nullptr || !world_.lives(life->epoch())) return false;
  auto sent = std::make_shared<Sent>();
  const bool begun = world_.send(life->epoch(), [life, address, state, sent](fs::Mount&) {
    life->sm_notify(address, state, [sent] { sent->answer = CallStatus::kOk; });
  });
  if (!begun) return false;
  const std::int64_t until_ns = now_ns() + 1'000 * kNsPerMs;
  while (!sent->answer && now_ns() < until_ns) sleep_ns(10 * kNsPerMs);
  return sent->answer.has_value() && below(4) != 0;  // the answer may be lost
}

// --- what an instance does by itself

void Server::serve_by_itself() {
  for (std::int64_t polled_ns = 0;; sleep_ns(100 * kNsPerMs)) {
    Life* const life = life_;
    if (life == nullptr || !world_.lives(life->epoch())) continue;
    begin(*life);
    if (now_ns() - polled_ns < kPollNs) continue;
    polled_ns = now_ns();
    poll_waiters(*life);
    if (!life->nfs4().knows_any_of(nfs4_dead_)) continue;
    world_.send(life->epoch(), [this, life](fs::Mount&) { life->nfs4().reap(nfs4_dead_); });
  }
}

void Server::poll_waiters(Life& life) {
  if (!life.anybody_waits()) return;
  world_.send(life.epoch(), [&life](fs::Mount&) {
    for (std::size_t index = 0; life.poll(index); ++index) preemption_point();
  });
}

// What an instance does once, when its VIPs are up.
void Server::begin(Life& life) {
  if (life.epoch() == begun_epoch_) return;
  begun_epoch_ = life.epoch();
  world_.send(life.epoch(), [this, &life](fs::Mount&) {
    life.bring_back_waiters([this](const LockCall& call) -> Granted {
      const auto client = called_.find(fs::parse_nlm_client(call.owner.client)->address);
      return [client = client->second, call] { return client->granted(call); };
    });
  });
  for (const auto& [address, client] : called_) {
    if (below(2) == 0) continue;
    spawn(current_process(), "notice", [client = client] {
      sleep_ns(up_to_ms(300));
      client->server_booted();
    });
  }
}

}  // namespace symnas::sim
