// Checks: what must hold when the clients have stopped, judged by what they believe (arbiter.h):
//  - what they hold, or have open, is denied to others, also after further restarts;
//  - two leases later, what nobody holds can be had, although the clients keep what they hold;
//  - when everything is closed, nothing stays recorded.
//
// Thread class: for one simulated thread that belongs to no instance.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tests/sim/heads.h"
#include "tests/sim/moves/arbiter.h"
#include "tests/sim/moves/nfs4_client.h"
#include "tests/sim/moves/nlm_client.h"
#include "tests/sim/moves/server.h"

namespace symnas::sim {

struct Scene {
  Heads& heads;
  Arbiter& arbiter;
  const std::vector<std::unique_ptr<Server>>& servers;
  const std::vector<std::unique_ptr<ModelNlmClient>>& nlm;
  const std::vector<std::unique_ptr<ModelNfs4Client>>& nfs4;
  std::size_t files = 0;
};

class Checks {
 public:
  Checks(Process& people, Scene scene) : people_(people), scene_(scene) {}

  // REQUIRES: no client has an operation under way; they renew their leases.
  void run();

 private:
  void check_held();
  void check_locks_held(unsigned client);
  void check_opens_held(const ModelNfs4Client& client);
  void check_free();
  void check_bytes_free(std::size_t file, Span span);
  void check_open_free(Server& server, std::size_t file);
  void close_all();
  // No records are left, except locks of NLM clients that are gone without a word, and those that
  // say who serves.
  void check_records();
  std::string lock_record_left(const std::string& value) const;
  bool is_of_gone_nlm_client(const fs::LockOwner& owner) const;

  Server& draw_server() { return *scene_.servers[below(scene_.servers.size())]; }
  // Repeats the call until the answer is something else than "ask again".
  CallStatus insist(Server& server, const Life::Body& body);
  // Calls `left` again and again; fails with its text unless it soon returns "" (nothing is left).
  void eventually(const std::function<std::string()>& left);

  Process& people_;
  const Scene scene_;
};

}  // namespace symnas::sim
