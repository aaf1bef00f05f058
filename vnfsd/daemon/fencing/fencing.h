// Fencing: fences other heads. Order (INV-8): fence record -> proof -> owner records disproved ->
// end records -> owner records and the fence done. Whatever is interrupted in between, a repetition
// goes on from there. Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <future>
#include <map>
#include <set>
#include <string>

#include "common/base/thread_annotations.h"
#include "fsal_cluster/state/life_signs.h"
#include "fsal_cluster/state/mount_end.h"
#include "vnfsd/daemon/fencing/fence_means.h"
#include "vnfsd/daemon/fencing/fence_orders.h"
#include "vnfsd/daemon/fencing/limits.h"
#include "vnfsd/daemon/follow/cluster_reader.h"
#include "vnfsd/daemon/head/this_head.h"
#include "vnfsd/daemon/journal/event_writer.h"
#include "vnfsd/daemon/journal/history_writer.h"
#include "vnfsd/names/mode.h"
#include "vnfsd/plans/fences.h"
#include "vnfsd/probe/prober.h"

namespace symnas::vnfsd::daemon {

// What a fence is about to do.
enum class FenceStep { kBegins, kCutsOff, kEnds };
// An error at kBegins ends the fence with that error: nothing was begun. Later ones are ignored.
using FenceTold = std::function<Status(FenceStep)>;

// The parts of the agent that Fencing uses.
struct FencingParts {
  const ThisHead& head;
  ClusterReader& reader;
  EventWriter& events;
  HistoryWriter& history;
  FenceMeans& means;
  const probe::HeadSights* prober = nullptr;      // null: nobody is heard
  std::int64_t last_answers_ms = kLastAnswersMs;  // shorter in unit tests only
};

class Fencing final : public FenceOrders {
 public:
  explicit Fencing(const FencingParts& parts);
  // Waits for a fence that start_fence() has begun.
  ~Fencing() override;

  // Fences a head for an administrator: has it cut off, then ends its mounts. Errors: kNotSupported
  // (no means), kUnavailable (nothing is proved: nothing is ended), kConflict.
  Result<std::string> fence_head(const std::string& name, Mode mode, const FenceTold& told = {});
  // fence_head() without an administrator's order. Errors also: kConflict when the cause does not
  // hold any more, kBusy when another head is being fenced from here; then nothing was begun.
  Result<std::string> fence_silent_head(const std::string& name, const FenceCause& cause);
  // Gives up a fence of which nothing is proven, whose fencer has gone and whose head is heard.
  void give_up_fence(const ClusterView& view, const std::string& head);
  // Whether a head is being fenced from here just now.
  bool is_under_way() const { return under_way_; }
  bool can_fence() const { return means_.can_fence(); }
  std::set<std::string> heard_heads(const ClusterView& view) const;  // now, by their last boots
  // Waits for a fence that start_fence() has begun. REQUIRES: start_fence() is not called any more.
  void wait();

  // --- FenceOrders
  std::string why_no_failover() const override { return means_.why_no_failover(); }
  Status check_can_fence(const ClusterView& view) const override {
    return means_.check_can_fence(view);
  }
  bool start_fence(const std::string& head, FenceCause cause) override;

 private:
  // The steps of fence_head(). Errors: kConflict (the head came back, or another one fences it),
  // those of the store.
  // `cause`: null when an administrator asks for it.
  Result<std::string> fence_locked(const std::string& head, const FenceCause* cause, Mode mode,
                                   const FenceTold& told) REQUIRES(fence_mutex_);
  // Returns the fence of that boot: a running one, or the record as it is when it has been proven
  // before.
  Result<records::FenceRecord> begin_fence(const Victim& victim, const FenceCause* cause);
  Status check_still_fenced(const Victim& victim);
  void note_failed_fence(const Victim& victim, const Error& error);
  // Errors also: kConflict (the cluster has other LUNs now than those that the proof is about).
  Status note_proof(const Victim& victim, const CutOff& done);
  // `before`: as wait_for_last_answers().
  Result<std::string> finish_fence(const Victim& victim, const fs::LifeSigns* before);
  // What finish_fence() has ended.
  struct EndedMounts {
    std::size_t count = 0;
    std::map<std::string, std::uint64_t> epochs;  // by VNFS
  };
  // Puts the end records of the mounts of these VNFSs. Errors: those of fs::end_mounts_of.
  Status end_mounts(const std::string& head, const Owned& owned, const fs::EndProof& proof,
                    EndedMounts& ended);
  void note_fenced(const records::FenceRecord& fence, const EndedMounts& ended);
  // Waits until nothing of the head answers from memory any more. `before`: what its mounts showed
  // when the fence began; null when this head has not looked. REQUIRES: its proof is written.
  // Errors: kUnavailable (etcd does not answer for too long).
  Status wait_for_last_answers(const std::string& head, const fs::LifeSigns* before) const;
  Result<fs::LifeSigns> life_signs(const ClusterView& view, const std::string& head) const;
  // kUnclear: etcd has not told the outcome. After kUnclear, and after kConflict, the records tell:
  // the fence may have been put all the same.
  enum class PutFence { kDone, kConflict, kUnclear };
  PutFence put_fence(const records::FenceRecord& record, kv::Txn txn);

  const ThisHead& head_;
  ClusterReader& reader_;
  EventWriter& events_;
  HistoryWriter& history_;
  FenceMeans& means_;
  const probe::HeadSights* const prober_;
  const std::int64_t last_answers_ms_;
  Mutex fence_mutex_;  // one fence at a time
  std::atomic<bool> under_way_ = false;
  Mutex fence_start_mutex_;  // leaf
  std::map<std::string, std::int64_t> fence_tried_ms_ GUARDED_BY(fence_start_mutex_);
  // The last fence that start_fence() has begun.
  std::future<void> fencing_ GUARDED_BY(fence_start_mutex_);
};

}  // namespace symnas::vnfsd::daemon
