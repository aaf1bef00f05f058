#include "tests/sim/moves/checks.h"

#include <string>
#include <utility>

#include "common/base/bytes.h"
#include "common/kv/keys.h"
#include "fsal_cluster/schema/records.pb.h"
#include "fsal_cluster/state/file_locks.h"
#include "fsal_cluster/state/share_table.h"
#include "tests/sim/runtime/simulation.h"
#include "tests/sim/sim_store.h"

namespace symnas::sim {

namespace {

constexpr std::int64_t kNsPerMs = 1'000'000;
constexpr unsigned kProber = 99;
constexpr bool kNeverGone = false;
// An order about a lock is given again after 5 s (kAskAgainNs); this is longer, also on a slow
// clock.
constexpr std::int64_t kPatienceNs = 15'000 * kNsPerMs;

// Two leases on the slowest clock, and some more.
std::int64_t two_leases_ns() {
  return 2 * fs::MountOptions{}.nfs_lease_s * 1000 * kNsPerMs * 10 / 9 + 5'000 * kNsPerMs;
}

LockCall exclusive(std::size_t file, Span span) {
  LockCall call;
  call.owner = {fs::LockProtocol::kNfs4, "prober", "prober"};
  call.file = file;
  call.range = range_of(span, fs::LockMode::kExclusive);
  return call;
}

std::string text_of(std::size_t file, Span span) {
  return "bytes " + std::to_string(span.first) + "-" + std::to_string(span.last) + " of file " +
         std::to_string(file);
}

// A mode that conflicts with `mode`.
fs::ShareMode opposite_of(fs::ShareMode mode) {
  constexpr std::uint8_t kAny = fs::kShareRead | fs::kShareWrite;
  const auto denied = static_cast<std::uint8_t>(mode.deny & kAny);
  if (denied != 0 && below(2) == 0) return {denied, 0};
  return {denied != 0 ? denied : fs::kShareRead, mode.access};
}

}  // namespace

void Checks::run() {
  check_held();
  sleep_ns(two_leases_ns());
  check_free();
  close_all();
  check_records();
}

CallStatus Checks::insist(Server& server, const Life::Body& body) {
  for (;; sleep_ns(100 * kNsPerMs)) {
    const auto reply = server.call(kProber, body, &kNeverGone);
    if (reply->answer != CallStatus::kDelay) return reply->answer;
  }
}

void Checks::eventually(const std::function<std::string()>& left) {
  const std::int64_t until_ns = now_ns() + kPatienceNs;
  for (;; sleep_ns(500 * kNsPerMs)) {
    const std::string why = left();
    if (why.empty()) return;
    if (now_ns() > until_ns) fail(why);
  }
}

// --- what is held

// Checks it again after one more restart.
void Checks::check_held() {
  for (int round = 0; round < 2; ++round) {
    for (unsigned client = 0; client < kProber; ++client) check_locks_held(client);
    for (const auto& client : scene_.nfs4)
      if (!client->dead()) check_opens_held(*client);
    for (std::size_t i = 0; i < scene_.heads.size(); ++i) scene_.heads[i].kill_instance();
    scene_.heads.settle();
  }
}

void Checks::check_locks_held(unsigned client) {
  for (const auto& [key, beliefs] : scene_.arbiter.of_client(client)) {
    for (const auto& [span, mode] : runs(beliefs)) {
      const LockCall call = exclusive(key.first, span);
      const auto body = [call](Life& life) { return life.test(call); };
      if (insist(draw_server(), body) == CallStatus::kDenied) continue;
      // It may have started anew since, and given some of it up.
      if (scene_.arbiter.beliefs(key.first, key.second) != beliefs) continue;
      fail("lost: client " + std::to_string(client) + " holds " + text_of(key.first, span) +
           ", and others could have them");
    }
  }
}

void Checks::check_opens_held(const ModelNfs4Client& client) {
  const unsigned number = client.number();
  for (const auto& [key, mode] : scene_.arbiter.opens_of_client(number)) {
    const std::size_t file = key.first;
    const std::string what = "client " + std::to_string(number) + " has file " +
                             std::to_string(file) + " open to " + text_of(mode);
    const fs::ShareMode other = opposite_of(mode);
    // It may start anew meanwhile, and give it up.
    const auto still_open = [&, opener = key.second, mode = mode] {
      return scene_.arbiter.open_of(file, opener) == mode;
    };
    const auto answer =
        draw_server()
            .call(
                kProber, [file, other](Life& life) { return life.nfs4().try_open(file, other); },
                &kNeverGone)
            ->answer;
    if (answer == CallStatus::kGranted && still_open())
      fail("lost: " + what + ", and others could open it");
    if (mode.deny == 0) continue;
    // Clients that open nothing are denied, too, through the other VNFSs; in its own VNFS ganesha
    // itself knows of the open.
    for (const auto& server : scene_.servers) {
      if (server.get() == &client.server()) continue;
      eventually([&]() -> std::string {
        const auto body = [file, deny = mode.deny](Life& life) {
          return life.mount().is_denied(life.file(file), deny) ? CallStatus::kDenied
                                                               : CallStatus::kOk;
        };
        if (insist(*server, body) == CallStatus::kDenied || !still_open()) return "";
        return "lost: " + what + ", and others could read or write it";
      });
    }
  }
}

// --- what is not

void Checks::check_free() {
  for (const auto& client : scene_.nfs4) {
    // The client may have been told that it holds what was taken from it: nobody can say what it
    // holds.
    if (!client->dead() && scene_.arbiter.has_lost(client->number())) client->close_all();
  }
  for (std::size_t file = 0; file < scene_.files; ++file) {
    for (std::size_t byte = 0; byte < kBytes; ++byte) {
      const std::size_t first = byte;
      while (byte < kBytes && scene_.arbiter.is_free(file, byte)) ++byte;
      if (byte > first) check_bytes_free(file, {first, byte - 1});
    }
    check_open_free(draw_server(), file);
  }
}

bool Checks::is_of_gone_nlm_client(const fs::LockOwner& owner) const {
  const auto who =
      owner.protocol == fs::LockProtocol::kNlm ? fs::parse_nlm_client(owner.client) : std::nullopt;
  for (const auto& client : scene_.nlm)
    if (client->left_locks() && who && who->address == client->address()) return true;
  return false;
}

void Checks::check_bytes_free(std::size_t file, Span span) {
  Server& server = draw_server();
  const LockCall call = exclusive(file, span);
  eventually([&]() -> std::string {
    const auto lock = [call](Life& life) { return life.lock(call); };
    if (insist(server, lock) == CallStatus::kGranted) {
      insist(server, [call](Life& life) { return life.unlock(call); });
      return "";
    }
    fs::LockOwner holder;
    const auto test = [call, &holder](Life& life) { return life.test(call, &holder); };
    if (insist(server, test) == CallStatus::kGranted || is_of_gone_nlm_client(holder)) return "";
    return "stuck: " + text_of(file, span) + " are held by nobody, and denied because of " +
           holder.client + ", " + holder.owner;
  });
}

void Checks::check_open_free(Server& server, std::size_t file) {
  constexpr std::uint8_t kAny = fs::kShareRead | fs::kShareWrite;
  const fs::ShareMode open = scene_.arbiter.all_opens(file);
  const fs::ShareMode mode{static_cast<std::uint8_t>(kAny & ~open.deny),
                           static_cast<std::uint8_t>(kAny & ~open.access)};
  if (mode.access == 0) return;
  eventually([&]() -> std::string {
    const auto reply = server.call(
        kProber, [file, mode](Life& life) { return life.nfs4().try_open(file, mode); },
        &kNeverGone);
    if (reply->answer == CallStatus::kGranted) return "";
    return "stuck: nobody has file " + std::to_string(file) + " open against " + text_of(mode) +
           ", and it is not granted";
  });
}

// --- when all is closed

void Checks::close_all() {
  for (const auto& client : scene_.nlm)
    if (!client->dead()) client->close_all();
  for (const auto& client : scene_.nfs4)
    if (!client->dead()) client->close_all();
  // Locks of clients that are gone are released when somebody wants them.
  for (const auto& server : scene_.servers) {
    for (std::size_t file = 0; file < scene_.files; ++file) {
      const LockCall call = exclusive(file, {0, kBytes - 1});
      insist(*server, [call](Life& life) { return life.lock(call); });
      insist(*server, [call](Life& life) { return life.unlock(call); });
      check_open_free(*server, file);
    }
  }
}

std::string Checks::lock_record_left(const std::string& value) const {
  fs::records::LockRecord record;
  if (!record.ParseFromString(value)) fail("a lock record cannot be parsed");
  if (is_of_gone_nlm_client({fs::LockProtocol::kNlm, record.client(), record.owner()})) return "";
  return "stuck: a lock of " + record.client() + ", owner " + record.owner() + ", NSM state " +
         std::to_string(record.nsm_state()) + ", is recorded, and nobody holds it";
}

void Checks::check_records() {
  bool done = false;
  spawn(people_, "look", [this, &done] {
    SimStore store(people_, scene_.heads.first().server_ptr(), nullptr, 100'000);
    const FsId fs = scene_.heads.first().fs();
    const auto list = [&](const std::string& table) {
      auto found = kv::range_blocking(store, kv::prefix_range(table), 0, 10'000);
      if (!found) fail("no records: " + found.error().message);
      return std::move(found->kvs);
    };
    eventually([&]() -> std::string {
      for (const kv::KeyValue& kv : list(kv::keys::locks(fs)))
        if (std::string why = lock_record_left(kv.value); !why.empty()) return why;
      if (!list(kv::keys::lock_orders(fs)).empty()) return "stuck: an order about a lock stands";
      // Each living mount has one record that says that it may have opens.
      const auto shares = list(kv::keys::shares(fs));
      for (const kv::KeyValue& kv : shares) {
        const std::uint64_t ino = read_be64(kv.key, kv.key.size() - 16);
        if (ino != fs::kNoFile.value())
          return "stuck: opens of inode " + std::to_string(ino) +
                 " are recorded, and there are none";
      }
      if (shares.size() == scene_.servers.size()) return "";
      return "stuck: " + std::to_string(shares.size()) + " mounts may have opens, of " +
             std::to_string(scene_.servers.size()) + " that live";
    });
    done = true;
    wake(&done);
  });
  wait_until(&done, "the records", [&done] { return done; });
}

}  // namespace symnas::sim
