// ModelNfs4Client: an NFSv4.0 or v4.1 client that opens files, denying something or not, and locks
// ranges of them: an owner string for ever, a verifier for a life, a lease. An instance that does
// not know it (another one than it has talked to) says so; then it establishes itself and reclaims
// what it holds, or only a part of that: what its processes had is given up that have ended
// meanwhile. Blocked locks are asked for again and again by the client itself. Replays of one call
// at one instance (v4.0 seqid, v4.1 slot) are answered from memory: Life::serve.
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
  // What is sent, made anew for each instance; nullopt: there is nothing to ask any more.
  using Request = std::function<std::optional<Life::Body>()>;
  // What an OPEN was given, by the epoch of the instance.
  using Given = std::map<std::uint64_t, Stateid>;

  // --- its life
  [[noreturn]] void renew();
  void reboot();
  void die();
  bool lease_is_over() const;
  Nfs4Clients::Who who() const { return {name_, verifier_}; }
  // As often as it takes until an instance knows this client. nullopt: its life is over, or there
  // is nothing to ask any more.
  std::optional<Server::Reply> ask(const Request& request);
  // False: its life is over.
  bool establish();

  // --- reclaim. False: the instance is gone, or its life is over.
  bool reclaim();
  void give_up_some();
  bool reclaim_opens();
  bool reclaim_locks();
  bool reclaim_lock(const Key& key, Span span, fs::LockMode mode);
  bool complete_reclaim();
  // Until it is answered with something else than "ask again".
  std::optional<Server::Reply> insist(const Life::Body& body);
  // What it holds by its own books, those of before a change that is not answered yet.
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
  // REQUIRES for all: its turn.
  std::optional<Answer> open_now(const Key& opener, fs::ShareMode mode, fs::ShareMode before);
  void close_now(const Key& opener);
  std::optional<Answer> lock_now(const Key& locker, Span span, fs::LockMode mode);
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
  std::shared_ptr<bool> gone_ = std::make_shared<bool>(false);  // this life of it
  std::map<Key, Stateid> stateids_;                             // by opener; of the instance of now
  // Given up since an instance was told that it reclaims no more.
  std::vector<std::pair<Key, Span>> given_up_;
  // While it asks for a lock: where, and what it held there before.
  struct Change {
    Key where;
    Beliefs before;
  };
  std::optional<Change> change_;
  std::int64_t contact_ns_ = 0;  // what was answered last was sent then
  bool busy_ = false;            // an operation, or who reclaims
  bool renews_ = false;
  bool dead_ = false;
};

}  // namespace symnas::sim
