// NlmClient: an NFSv3 client that locks. It believes that it holds what it was GRANTED, until it
// unlocks it or boots; it has no lease. It is told of restarts of the server (or not), and
// reclaims. It announces its own boots (late, twice, or after it has locked again already).
//
// Thread class: for simulated threads of the clients.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "fsal_cluster/state/nlm_client.h"
#include "tests/sim/moves/arbiter.h"
#include "tests/sim/moves/server.h"

namespace symnas::sim {

class ModelNlmClient final : public Called {
 public:
  ModelNlmClient(Server& server, Arbiter& arbiter, unsigned number, std::size_t files);

  // Does its operations, one after the other.
  void run(std::size_t operations);
  // Unlocks everything that it has ever locked in this life, as when its processes end. Waits first
  // until its last boot was told to the server.
  void close_all();
  // What is recorded of it stays: it neither answers nor returns, or its boot was never told, or
  // what it freed could not be recorded.
  bool left_locks() const { return left_locks_; }
  bool dead() const { return dead_; }
  const std::string& address() const { return identity_.address; }

  void server_booted() override;
  bool granted(const LockCall& call) override;

 private:
  struct Wait {  // for a GRANTED call
    Arbiter::Holder holder;
    LockCall call;
    std::size_t file = 0;
    Span span;
    fs::LockMode mode = fs::LockMode::kShared;
    bool granted = false;
    bool over = false;
  };

  void one();
  void lock(Arbiter::Holder holder, std::size_t file, Span span, fs::LockMode mode);
  void lock_and_wait(Arbiter::Holder holder, std::size_t file, Span span, fs::LockMode mode);
  void unlock(Arbiter::Holder holder, std::size_t file, Span span);
  void unlock(const LockCall& call);
  void reboot();
  void announce();
  void free_all();
  void reclaim();
  bool granted(const std::shared_ptr<Wait>& wait);
  std::optional<CallStatus> ask_lock(const LockCall& call, const Granted& wait);
  LockCall call_of(Arbiter::Holder holder, std::size_t file, Span span, fs::LockMode mode) const;

  Server& server_;
  Arbiter& arbiter_;
  const unsigned number_;
  const std::size_t files_;
  const fs::NlmClient identity_;
  std::int32_t life_ = 3;                                       // NSM state: odd while it is up
  std::shared_ptr<bool> gone_ = std::make_shared<bool>(false);  // this life is over
  std::set<std::pair<std::size_t, unsigned>> used_;             // (file, owner) of this life
  bool busy_ = false;                                           // with an operation or reclaim
  std::vector<std::shared_ptr<Wait>> waits_;                    // of processes that wait
  bool reclaims_ = false;
  bool told_ = true;  // its last boot has been told
  bool dead_ = false;
  bool left_locks_ = false;
};

}  // namespace symnas::sim
