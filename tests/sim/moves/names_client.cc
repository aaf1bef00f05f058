#include "tests/sim/moves/names_client.h"

#include "tests/sim/runtime/simulation.h"

namespace symnas::sim {

namespace {

constexpr std::int64_t kNsPerMs = 1'000'000;
constexpr bool kNeverGone = false;

std::optional<CallStatus> answer_of(const Error& error) {
  switch (error.code) {
    case ErrorCode::kAlreadyExists: return CallStatus::kExists;
    case ErrorCode::kNotFound: return CallStatus::kNoEntry;
    case ErrorCode::kEnded:
    case ErrorCode::kFenced:
    case ErrorCode::kShutdown: return std::nullopt;
    default: trace("names: %s", error.message.c_str()); return CallStatus::kDelay;
  }
}

template <class T>
std::optional<CallStatus> answer_of(const Result<T>& result) {
  if (result) return CallStatus::kOk;
  return answer_of(result.error());
}

}  // namespace

std::string NamesClient::draw_name() const {
  return "client " + std::to_string(number_) + " name " + std::to_string(below(3));
}

Server::Reply NamesClient::ask(const Life::Body& body) {
  for (;;) {
    const auto reply = server_.call(number_, body, &kNeverGone);
    if (reply->answer != CallStatus::kDelay) return *reply;
    sleep_ns(100 * kNsPerMs);
  }
}

Server::Reply NamesClient::change(
    const std::function<std::optional<CallStatus>(fs::Mount&)>& operation) {
  const fs::Call call{.client = "client " + std::string(8, static_cast<char>('0' + number_)) + " ",
                      .xid = ++last_xid_,
                      .checksum = 1,
                      .operation = 0};
  return ask([call, operation](Life& life) -> std::optional<CallStatus> {
    const auto done = life.mount().done_before(call);
    if (!done) return answer_of(done.error());
    if (*done) return CallStatus::kOk;
    const fs::CallScope scope(call);
    return operation(life.mount());
  });
}

void NamesClient::run(std::size_t operations) {
  for (std::size_t i = 0; i < operations; ++i) {
    const std::string name = draw_name();
    if (below(2) == 0) {
      make(name);
    } else {
      remove(name);
    }
    sleep_ns(static_cast<std::int64_t>(below(200)) * kNsPerMs);
  }
}

void NamesClient::expect(const char* what, const std::string& name, const Server::Reply& reply,
                         CallStatus expected, CallStatus second) {
  if (reply.answer == expected) return;
  if (!kRepliesOutliveInstances && reply.across_crash && reply.answer == second) {
    trace("%s of %s: the second answer", what, name.c_str());
    ++second_answers_;
    return;
  }
  fail(std::string(what) + " of " + name + ": not the first answer, but " +
       std::to_string(static_cast<int>(reply.answer)));
}

void NamesClient::make(const std::string& name) {
  const auto reply = change([this, name](fs::Mount& mount) {
    fs::NewNode node;
    node.attributes.mode = 0755;
    return answer_of(mount.mkdir(fs::Credentials{}, directory_, name, node));
  });
  expect("mkdir", name, reply, there_.contains(name) ? CallStatus::kExists : CallStatus::kOk,
         CallStatus::kExists);
  there_.insert(name);
}

void NamesClient::remove(const std::string& name) {
  const auto reply = change([this, name](fs::Mount& mount) {
    return answer_of(mount.rmdir(fs::Credentials{}, directory_, name));
  });
  expect("rmdir", name, reply, there_.contains(name) ? CallStatus::kOk : CallStatus::kNoEntry,
         CallStatus::kNoEntry);
  there_.erase(name);
}

void NamesClient::check() {
  for (int i = 0; i < 3; ++i) {
    const std::string name = "client " + std::to_string(number_) + " name " + std::to_string(i);
    const auto reply =
        ask([this, name](Life& life) { return answer_of(life.mount().lookup(directory_, name)); });
    const bool exists = reply.answer == CallStatus::kOk;
    if (exists != there_.contains(name))
      fail(name + (exists ? ": is there after its removal" : ": is not there"));
  }
}

}  // namespace symnas::sim
