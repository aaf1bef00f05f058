// SlotTable: the session's bounded table of slots, and the rules by which an answer (or its
// absence) is understood. A batch owns one slot while it is under way. Its transaction compares the
// slot's mod_revision and puts the slot, whatever its operations do: so it is executed at most
// once, however often it arrives. docs/architecture/kv_session.md has the protocol,
// docs/formats/kv_slots.md the keys.
//
// Thread class: thread-compatible. Pure: no clock, thread or store.
// Invariants: the slot of a transaction stays busy until one of two things is certain: the
// transaction has been executed, or its compare fails for ever. So every transaction that may be
// executed later is known.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/kv/limits.h"
#include "common/kv/session.h"
#include "common/kv/store.h"

namespace symnas::kv {

// --- names and values (docs/formats/kv_slots.md)
std::string slot_key(const SessionOptions& options, int index);
std::string slot_operation_key(const std::string& slot_key, int operation);
std::string encode_slot(std::uint64_t sequence, std::uint32_t operations);
struct SlotValue {
  std::uint64_t sequence = 0;
  std::uint32_t operations = 0;  // 0: armed, no batch yet
};
std::optional<SlotValue> decode_slot(std::string_view value);

// Whether a compare holds for the keys that its range has now, as etcd judges it.
bool holds(const Compare& compare, const std::vector<KeyValue>& kvs);

// --- the compares that a session adds to every transaction: INV-3
class Frame {
 public:
  explicit Frame(const SessionOptions& options);
  const std::vector<Compare>& compares() const { return compares_; }
  // The reads of the failure branch: what the compares looked at, then the slot with its
  // operations.
  std::vector<Op> reads(const std::string& slot_key) const;

  // The failure branch's answer. `disproof` is set when the mount, its end record or a guard
  // differs.
  struct Reading {
    std::optional<Error> disproof;
    Revision slot_mod_revision;     // 0: absent
    std::optional<SlotValue> slot;  // absent or not decodable: nullopt
    std::vector<int> succeeded;     // operations whose key carries the slot's mod_revision
  };
  Result<Reading> read(const std::string& slot_key, const TxnResult& outer) const;

 private:
  std::vector<Compare> compares_;
  std::vector<std::string> names_;  // one per compare, for messages
};

// --- one use of a slot
struct SlotUse {
  int index = 0;
  std::string key;
  Revision expected;  // mod_revision that the transaction compares
  std::uint64_t sequence = 0;
  std::uint32_t operations = 0;
};

// What to do next with a transaction that owns a slot.
struct Resolution {
  enum class Kind {
    kExecuted,  // `revision`, `operations_succeeded`; `answered` says whether the reply itself is
                // the proof
    kResend,    // not known, or certainly not executed and worth another try: the same transaction
                // again
    kRefused,   // not executed and never will be: `error`; the slot is as it was
    kAbort,     // may have been executed and cannot be sent again: write the abort
    kAborted,   // not executed and never will be; the slot is gone and must be armed again
    kEnded,     // disproof: `error`
  };
  Kind kind = Kind::kResend;
  bool answered = false;
  Revision revision;
  std::vector<bool> operations_succeeded;
  Error error;
};

// --- transactions of the slot itself
// Creates the slot, so that an abort has something to delete.
Txn arm_txn(const Frame& frame, const SlotUse& use);
// Makes `use` impossible for ever by deleting the slot it compares: etcd executes deletes even when
// its quota is used up.
Txn abort_txn(const Frame& frame, const SlotUse& use);

// What the answer to a try means. `maybe_executed`: an earlier try has no known outcome.
Resolution judge_batch(const Frame& frame, const SlotUse& use, bool maybe_executed,
                       const Result<TxnResult>& answer);
Resolution judge_abort(const Frame& frame, const SlotUse& use, const Result<TxnResult>& answer);
// kExecuted: armed at `revision`. kRefused: kNoSpace (still not armed), or kInvalidArgument: a slot
// of this name has been used before.
Resolution judge_arm(const Frame& frame, const SlotUse& use, const Result<TxnResult>& answer);

// --- the table
class SlotTable {
 public:
  explicit SlotTable(const SessionOptions& options);

  // A use of a free, armed slot with the next sequence number; nullopt when all are busy or not
  // armed.
  std::optional<SlotUse> acquire(std::uint32_t operations);
  bool has_armed() const;  // acquire() would return a slot
  // A use that arms a free slot; nullopt when none needs it.
  std::optional<SlotUse> acquire_for_arming();
  // The use is over, and the slot now has this mod_revision (0: it does not exist and must be
  // armed).
  void release(const SlotUse& use, Revision mod_revision);

 private:
  struct Slot {
    std::string key;
    Revision mod_revision;
    std::uint64_t sequence = 0;
    bool busy = false;
  };
  SlotUse use_of(int index) const;
  std::vector<Slot> slots_;
};

}  // namespace symnas::kv
