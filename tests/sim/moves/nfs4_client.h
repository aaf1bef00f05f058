// ModelNfs4Client: an NFSv4.0 or v4.1 client that opens files, denying something or not, and locks
// ranges of them. It has an owner string for ever, a verifier for a life, and a lease. When an
// instance says that it does not know the client (another instance than before), the client
// establishes itself and reclaims what it holds, or only a part of it: it gives up what processes
// had that have ended meanwhile. The client asks for blocked locks again and again by itself.
// Replays of one call at one instance (v4.0 seqid, v4.1 slot) are answered from memory:
// Life::serve.
//
// Thread class: for simulated threads of the clients.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/sim/moves/arbiter.h"
#include "tests/sim/moves/nfs4_clients.h"
#include "tests/sim/moves/server.h"

namespace symnas::sim {

class ModelNfs4Client {
 public:
  ModelNfs4Client(Server& server, Arbiter& arbiter, unsigned number, std::size_t files);

  void run(std::size_t operations);
  void close_all();
  bool dead() const { return dead_; }
  unsigned number() const { return number_; }
  const Server& server() const { return server_; }

 private:
  static constexpr unsigned kOpeners = 2;
  static constexpr unsigned kLockersOfOpener = 2;
  enum class Version { kV40, kV41 };
  using Holder = Arbiter::Holder;
  using Key = std::pair<std::size_t, Holder>;  // a file, and an open owner or a lock owner
  // Makes the call to send, again for each instance; nullopt: there is nothing to ask any more.
  using Request = std::function<std::optional<Life::Body>()>;
  // The stateid that an OPEN was given, by the epoch of the instance.
  using Given = std::map<std::uint64_t, Stateid>;

  // --- its life
  [[noreturn]] void renew();
  void reboot();
  void die();
  bool lease_is_over() const;
  Nfs4Clients::Who who() const { return {name_, verifier_}; }
  // Repeats the request until an instance that knows this client has answered. nullopt: this life
  // is over, or there is nothing to ask any more.
  std::optional<Server::Reply> ask(const Request& request);
  // False: this life is over.
  bool establish();

  // --- reclaim. False: the instance is gone, or this life is over.
  bool reclaim();
  void give_up_some();
  bool reclaim_opens();
  bool reclaim_locks();
  bool reclaim_lock(const Key& key, Span span, fs::LockMode mode);
  bool complete_reclaim();
  // Repeats the call until the answer is something else than "ask again".
  std::optional<Server::Reply> insist(const Life::Body& body);
  // What the client holds by its own records; during a change without an answer, what it held
  // before it.
  std::map<Key, Beliefs> books() const;
  bool weakened(const Key& key, Span span) const;
  void lose_open(const Key& opener);

  // --- operations: nfs4_operations.cc
  class PowerButton;
  void one();
  void open(const Key& opener, fs::ShareMode mode);
  void downgrade(const Key& opener);
  void close(const Key& opener);
  void close_beside_open(const Key& opener, fs::ShareMode mode);
  void lock(const Key& locker, Span span, fs::LockMode mode);
  void unlock(const Key& locker, Span span);
  // REQUIRES for all of them: the client's turn.
  std::optional<CallStatus> open_now(const Key& opener, fs::ShareMode mode, fs::ShareMode before);
  void close_now(const Key& opener);
  std::optional<CallStatus> lock_now(const Key& locker, Span span, fs::LockMode mode);
  void unlock_now(const Key& locker, Span span);
  void unlock_under(const Key& opener);
  Life::Body open_body(const Key& opener, fs::ShareMode mode, bool reclaim,
                       const std::shared_ptr<Given>& given) const;
  void expect_open(const Key& opener, const std::optional<Server::Reply>& reply) const;

  LockCall call_of(const Key& locker, Span span, fs::LockMode mode) const;
  Key draw_opener() const;
  static Key opener_of(const Key& locker);
  static Key locker_of(const Key& opener, unsigned which);

  Server& server_;
  Arbiter& arbiter_;
  const unsigned number_;
  const std::size_t files_;
  const Version version_;
  const std::string name_;  // co_ownerid
  std::uint64_t verifier_ = 1;
  std::shared_ptr<bool> gone_ = std::make_shared<bool>(false);  // this life is over
  std::map<Key, Stateid> stateids_;                             // by opener; of this instance
  // Given up since it last told an instance that it reclaims no more.
  std::vector<std::pair<Key, Span>> given_up_;
  // While it asks for a lock: the place, and what it held there before.
  struct Change {
    Key where;
    Beliefs before;
  };
  std::optional<Change> change_;
  std::int64_t contact_ns_ = 0;  // when the request was sent that was answered last
  bool busy_ = false;            // an operation or a reclaim is under way
  bool renews_ = false;
  bool dead_ = false;
};

}  // namespace symnas::sim
