// ModelNfs4Client: an NFSv4.0 or v4.1 client that locks, as far as locks show them apart from
// others: an owner string for ever, a verifier for a life, a lease. An instance that does not know
// it (another one than it has talked to) says so; then it establishes itself and reclaims all that
// it holds. Blocked locks are asked for again and again by the client itself. Replays of one call
// at one instance (v4.0 seqid, v4.1 slot) are answered from memory: Life::serve.
//
// Thread class: for simulated threads of the clients.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "tests/sim/moves/arbiter.h"
#include "tests/sim/moves/server.h"

namespace symnas::sim {

class ModelNfs4Client {
 public:
  ModelNfs4Client(Server& server, Arbiter& arbiter, unsigned number, std::size_t files);

  void run(std::size_t operations);
  void close_all();
  bool dead() const { return dead_; }

 private:
  using Operation = std::function<std::optional<Answer>(Life&)>;

  [[noreturn]] void renew();
  void one();
  void lock(Arbiter::Holder holder, std::size_t file, Span span, fs::LockMode mode);
  void unlock(Arbiter::Holder holder, std::size_t file, Span span);
  void reboot();
  void die();
  // As often as it takes until an instance knows this client. nullopt: its life is over.
  std::optional<Answer> ask(const Operation& operation);
  // False: its life is over.
  bool establish();
  void reclaim();
  LockCall call_of(Arbiter::Holder holder, std::size_t file, Span span, fs::LockMode mode) const;
  bool lease_is_over() const;
  // What it holds by its own books, those of before a change that is not answered yet.
  std::map<std::pair<std::size_t, Arbiter::Holder>, Beliefs> books() const;
  bool weakened(std::size_t file, Arbiter::Holder holder, Span span) const;

  Server& server_;
  Arbiter& arbiter_;
  const unsigned number_;
  const std::size_t files_;
  const std::string name_;  // co_ownerid
  std::uint64_t verifier_ = 1;
  std::shared_ptr<bool> gone_ = std::make_shared<bool>(false);  // this life of it
  std::set<std::pair<std::size_t, unsigned>> used_;
  // While it asks for a lock: where, and what it held there before.
  struct Change {
    std::pair<std::size_t, Arbiter::Holder> where;
    Beliefs before;
  };
  std::optional<Change> change_;
  std::int64_t contact_ns_ = 0;  // what was answered last was sent then
  bool busy_ = false;            // an operation, or who reclaims
  bool dead_ = false;
};

}  // namespace symnas::sim
