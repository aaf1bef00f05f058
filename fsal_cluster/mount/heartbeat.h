// Heartbeat: keeps a mount's gate open, and answers going. Once a second, and when an answer wants
// a sign of life, it puts the mount's heartbeat key in a transaction with INV-3's compares. When it
// has succeeded, the mount had not ended when it was sent; when its change has come back through
// the mount's own watch, the cache is no older than that either. While etcd's quota is used up no
// key can be put: then a linearizable read of the mount's records and of the keys that its guards
// compare proves that the mount has not ended, and a barrier after it shows how old the cache can
// be. While etcd does not answer, a block of a LUN is read again and again (Proof::touch): a head
// that was cut off from its LUNs as well finds that out.
//
// Thread class: thread-safe. Owns one thread. While the store is away one heartbeat is under way;
// its late answer proves nothing (the gate counts from its sending), so the next one follows at
// once.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "common/base/ids.h"
#include "common/base/thread_annotations.h"
#include "common/env/clock.h"
#include "common/kv/session.h"
#include "fsal_cluster/schema/records.pb.h"
#include "fsal_cluster/state/gate.h"

namespace symnas::fs {

class Heartbeat {
 public:
  // Fills in what the mount tells the others, before each heartbeat is sent. Called on its thread:
  // must not block.
  using Report = std::function<void(records::HeartbeatRecord&)>;
  // The guards of the mount's session, and whom to tell of a disproof. (The session itself sees a
  // disproof only in keys that it watches, or when it puts something.)
  struct Proof {
    std::vector<kv::Compare> guards;
    std::function<void(Error)> on_ended;
    std::function<void()> touch;  // begins to read a block of a LUN; empty: there is none
  };
  // `session`, `clock`, `gate` and what `report` needs outlive it.
  Heartbeat(kv::Session& session, const env::Clock& clock, Gate& gate, FsId fs, MountId mount,
            Proof proof, Report report);
  // Stops the thread; waits for the store only while a proof is being read.
  ~Heartbeat();
  Heartbeat(const Heartbeat&) = delete;
  Heartbeat& operator=(const Heartbeat&) = delete;

 private:
  // Shared with the callback of a commit, which may come after this object has gone.
  struct State {
    Mutex mutex;
    CondVar changed;
    bool stop GUARDED_BY(mutex) = false;
    std::optional<Result<kv::Committed>> answer GUARDED_BY(mutex);
  };

  void run();
  // False: the mount has ended, or this object is being destroyed.
  bool beat();
  std::optional<Result<kv::Committed>> put_key(std::int64_t sent_ns);
  // kTooLate: the gate's window is over, so this heartbeat proves nothing any more. The watch may
  // have lost its event; only the event of the next heartbeat can show that.
  enum class Applied { kYes, kTooLate, kStopped };
  Applied wait_until_applied(Revision revision, std::int64_t sent_ns);
  // Proves by reads, without a put. Errors: those of Session::range and barrier; kEnded (disproof).
  Status read_proof();
  void prove(std::int64_t sent_ns);
  bool stopped_within(std::int64_t span_ns);
  // As stopped_within(), but returns when an answer wants a sign of life.
  bool stopped_before_wanted(std::int64_t span_ns);
  void touch_if_due(std::int64_t now_ns);

  kv::Session& session_;
  const env::Clock& clock_;
  Gate& gate_;
  const FsId fs_;
  const MountId mount_;
  const Proof proof_;
  const Report report_;
  std::int64_t sent_ns_ = 0;     // the last heartbeat
  bool by_reads_ = false;        // it was proved by reads: etcd has no room
  std::int64_t touched_ns_ = 0;  // of its own thread, as sent_ns_
  const std::shared_ptr<State> state_ = std::make_shared<State>();
  std::thread thread_;
};

}  // namespace symnas::fs
