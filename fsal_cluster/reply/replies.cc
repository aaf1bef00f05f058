#include "fsal_cluster/reply/replies.h"

#include <chrono>
#include <iterator>
#include <utility>
#include <vector>

#include "common/base/log.h"
#include "common/kv/reply_keys.h"
#include "fsal_cluster/reply/limits.h"
#include "fsal_cluster/reply/records.pb.h"

namespace symnas::fs {
namespace {

constexpr std::size_t kClientBytes = 16;

}  // namespace

Replies::Replies(kv::Session& session, const env::Clock& clock, Options options)
    : session_(session),
      clock_(clock),
      options_(options),
      started_ns_(clock.mono_ns()),
      started_time_ns_(session.next_time_ns()) {}

Replies::~Replies() { stop(); }

std::optional<std::uint32_t> Replies::place_for(const std::string& client) {
  const MutexLock lock(mutex_);
  auto ring = rings_.find(client);
  if (ring == rings_.end()) {
    if (rings_.size() >= kReplyClientsMax) return std::nullopt;
    ring = rings_.emplace(client, ReplyRing()).first;
  }
  return ring->second.take(clock_.mono_ns());
}

std::optional<kv::Op> Replies::record(Ino ino, Generation generation) {
  CallInProgress* const now = call_in_progress();
  if (now == nullptr) return std::nullopt;
  const Call& call = now->call;
  if (!now->place) now->place = place_for(call.client);
  if (!now->place) return std::nullopt;
  records::ReplyRecord record;
  record.set_xid(call.xid);
  record.set_checksum(call.checksum);
  record.set_operation(call.operation);
  record.set_time_ns(session_.next_time_ns());
  record.set_ino(ino.value());
  record.set_generation(generation.value());
  return kv::put(
      kv::keys::reply(options_.fs, options_.vnfs, call.client, options_.epoch, *now->place),
      record.SerializeAsString());
}

bool Replies::looks() const { return clock_.mono_ns() - started_ns_ < kReplyLookNs; }

std::shared_ptr<Replies::Client> Replies::client_of(const Call& call) {
  const MutexLock lock(mutex_);
  if (former_.size() >= kReplyClientsMax) former_.clear();  // forgotten clients are read again
  std::shared_ptr<Client>& client = former_[call.client];
  if (!client) client = std::make_shared<Client>();
  return client;
}

Result<std::optional<Done>> Replies::find(const Call& call) {
  if (!looks()) return std::optional<Done>();
  const std::shared_ptr<Client> client = client_of(call);
  const MutexLock lock(client->mutex);
  if (!client->loaded) {
    SYMNAS_ASSIGN(
        const kv::OpResult records,
        session_.range(
            kv::prefix_range(kv::keys::replies_to(options_.fs, options_.vnfs, call.client)), 0));
    client->known = KnownReplies(records.kvs, options_.epoch, started_time_ns_);
    client->loaded = true;
  }
  return client->known.find(call);
}

Status Replies::erase(kv::KeyRange range) {
  kv::Mutation mutation;
  mutation.growth = kv::Growth::kMustGo;
  mutation.writes = {kv::erase_range(std::move(range))};
  const auto done = session_.commit_blocking(std::move(mutation));
  return done ? Status() : Status(tl::unexpected<Error>(done.error()));
}

// Works client by client: each has a few times kRepliesPerClientMax records at the most.
Status Replies::erase_former() {
  const std::string all = kv::keys::replies(options_.fs, options_.vnfs);
  kv::KeyRange rest = kv::prefix_range(all);
  while (rest.key < rest.end) {
    SYMNAS_ASSIGN(const kv::OpResult next, session_.range(rest, 1));
    if (next.kvs.empty()) return {};
    const std::string client = next.kvs.front().key.substr(all.size(), kClientBytes);
    const std::string own =
        kv::keys::replies_of(options_.fs, options_.vnfs, client, options_.epoch);
    SYMNAS_TRY(erase({kv::keys::replies_to(options_.fs, options_.vnfs, client), own}));
    rest.key = kv::prefix_range(kv::keys::replies_to(options_.fs, options_.vnfs, client)).end;
  }
  return {};
}

// A client that comes back at this very moment may lose the record of its first call: then the call
// counts as one that was not recorded.
Status Replies::erase_idle() {
  const std::int64_t since_ns = clock_.mono_ns() - kReplyClientIdleNs;
  std::vector<std::string> idle;
  {
    const MutexLock lock(mutex_);
    for (auto it = rings_.begin(); it != rings_.end();) {
      const bool is_idle = it->second.last_ns() < since_ns;
      if (is_idle) idle.push_back(it->first);
      it = is_idle ? rings_.erase(it) : std::next(it);
    }
  }
  for (const std::string& client : idle) {
    SYMNAS_TRY(erase(kv::prefix_range(
        kv::keys::replies_of(options_.fs, options_.vnfs, client, options_.epoch))));
  }
  return {};
}

Status Replies::sweep() {
  SYMNAS_TRY(erase_idle());
  if (looks()) return {};
  {
    const MutexLock lock(mutex_);
    former_.clear();
  }
  if (former_erased_ || clock_.mono_ns() - started_ns_ < kReplyEraseNs) return {};
  SYMNAS_TRY(erase_former());
  former_erased_ = true;
  return {};
}

void Replies::start_sweep() {
  constexpr std::int64_t kPauseNs = kReplySweepMs * 1'000'000;
  sweeping_.start(kPauseNs, [this] {
    if (const Status swept = sweep(); !swept)
      log::warn("old answers to clients are not erased yet: {}", swept.error().message);
    return kPauseNs;
  });
}

void Replies::stop() { sweeping_.stop(); }

}  // namespace symnas::fs
