#include "common/kv/slot.h"

#include <algorithm>
#include <utility>

#include "common/base/bytes.h"
#include "common/base/check.h"

namespace symnas::kv {

std::string slot_key(const SessionOptions& options, int index) {
  std::string key = options.slot_prefix + options.session_id + "/";
  key.push_back(static_cast<char>(index));
  return key;
}

std::vector<Op> arm_slots(const std::string& slot_prefix, const std::string& session_id) {
  SessionOptions options;
  options.slot_prefix = slot_prefix;
  options.session_id = session_id;
  std::vector<Op> puts;
  for (int i = 0; i < kSessionSlots; ++i)
    puts.push_back(put(slot_key(options, i), encode_slot(0, 0)));
  return puts;
}

std::string slot_operation_key(const std::string& slot_key, int operation) {
  std::string key = slot_key;
  key.push_back(static_cast<char>(operation));
  return key;
}

std::string encode_slot(std::uint64_t sequence, std::uint32_t operations) {
  std::string value;
  append_be64(value, sequence);
  append_be32(value, operations);
  return value;
}

std::optional<SlotValue> decode_slot(std::string_view value) {
  if (value.size() != 12) return std::nullopt;
  return SlotValue{read_be64(value, 0), read_be32(value, 8)};
}

// --- Frame

Frame::Frame(const SessionOptions& options) {
  compares_.push_back(create_revision_is(options.mount_key, options.mount_create_revision));
  names_.push_back("the mount record is gone or is another one");
  compares_.push_back(key_absent(options.ended_key));
  names_.push_back("the mount has been ended");
  for (const auto& guard : options.guards) {
    compares_.push_back(guard);
    names_.push_back("guard 0x" + to_hex(guard.range.key) + " does not hold any more");
  }
}

std::vector<Op> Frame::reads(const std::string& slot_key) const {
  std::vector<Op> reads;
  for (const auto& compare : compares_) reads.push_back(get_range(compare.range));
  reads.push_back(get_range(prefix_range(slot_key)));
  return reads;
}

namespace {

bool relation_holds(Compare::Relation relation, int order) {
  switch (relation) {
    case Compare::Relation::kEqual: return order == 0;
    case Compare::Relation::kGreater: return order > 0;
    case Compare::Relation::kLess: return order < 0;
    case Compare::Relation::kNotEqual: break;
  }
  return order != 0;
}

int order_of(std::int64_t a, std::int64_t b) { return a == b ? 0 : (a < b ? -1 : 1); }

bool holds_for(const Compare& compare, const KeyValue& kv) {
  int order = 0;
  switch (compare.target) {
    case Compare::Target::kVersion: order = order_of(kv.version, compare.number); break;
    case Compare::Target::kCreateRevision:
      order = order_of(kv.create_revision.value(), compare.number);
      break;
    case Compare::Target::kModRevision:
      order = order_of(kv.mod_revision.value(), compare.number);
      break;
    case Compare::Target::kValue: order = order_of(kv.value.compare(compare.value), 0); break;
  }
  return relation_holds(compare.relation, order);
}

}  // namespace

// As etcd: every key of the range must pass; an empty range is a key of version 0, which no value
// compare passes.
bool holds(const Compare& compare, const std::vector<KeyValue>& kvs) {
  if (kvs.empty()) {
    return compare.target != Compare::Target::kValue && holds_for(compare, KeyValue{});
  }
  return std::all_of(kvs.begin(), kvs.end(),
                     [&](const KeyValue& kv) { return holds_for(compare, kv); });
}

Result<Frame::Reading> Frame::read(const std::string& slot_key, const TxnResult& outer) const {
  if (outer.results.size() != compares_.size() + 1) {
    return fail(ErrorCode::kInternal, "the store answered a failed transaction with " +
                                          std::to_string(outer.results.size()) + " results");
  }
  Reading reading;
  for (std::size_t i = 0; i < compares_.size() && !reading.disproof; ++i) {
    if (!holds(compares_[i], outer.results[i].kvs)) {
      reading.disproof = Error{ErrorCode::kEnded, "session: " + names_[i]};
    }
  }
  const auto& slot_keys = outer.results.back().kvs;
  for (const auto& kv : slot_keys) {
    if (kv.key != slot_key) continue;
    reading.slot_mod_revision = kv.mod_revision;
    reading.slot = decode_slot(kv.value);
  }
  for (const auto& kv : slot_keys) {
    if (kv.key.size() == slot_key.size() + 1 && kv.mod_revision == reading.slot_mod_revision) {
      reading.succeeded.push_back(static_cast<unsigned char>(kv.key.back()));
    }
  }
  return reading;
}

// --- transactions

Txn arm_txn(const Frame& frame, const SlotUse& use) {
  Txn txn;
  txn.compares = frame.compares();
  txn.compares.push_back(key_absent(use.key));
  txn.success.push_back(put(use.key, encode_slot(use.sequence, 0)));
  txn.failure = frame.reads(use.key);
  return txn;
}

Txn abort_txn(const Frame& frame, const SlotUse& use) {
  Txn txn;
  txn.compares = frame.compares();
  txn.compares.push_back(mod_revision_is(use.key, use.expected));
  txn.success.push_back(erase_range(prefix_range(use.key)));
  txn.failure = frame.reads(use.key);
  return txn;
}

// --- resolutions

namespace {

Resolution resolution_of(Resolution::Kind kind) {
  Resolution resolution;
  resolution.kind = kind;
  return resolution;
}

Resolution ended(std::string why) {
  Resolution resolution = resolution_of(Resolution::Kind::kEnded);
  resolution.error = Error{ErrorCode::kEnded, std::move(why)};
  return resolution;
}

Resolution refused(Error error) {
  Resolution resolution = resolution_of(Resolution::Kind::kRefused);
  resolution.error = std::move(error);
  return resolution;
}

Resolution somebody_elses(const SlotUse& use) {
  return ended("session: slot 0x" + to_hex(use.key) +
               " was changed by another process that uses this session's name");
}

// True when the slot carries this use's own put: the transaction has been executed, once.
bool carries(const Frame::Reading& reading, const SlotUse& use) {
  return reading.slot && reading.slot->sequence == use.sequence &&
         reading.slot->operations == use.operations && use.operations > 0;
}

Resolution executed_by_slot(const Frame::Reading& reading, const SlotUse& use) {
  Resolution resolution = resolution_of(Resolution::Kind::kExecuted);
  resolution.revision = reading.slot_mod_revision;
  resolution.operations_succeeded.assign(use.operations, false);
  for (const int operation : reading.succeeded) {
    if (operation < static_cast<int>(use.operations)) {
      resolution.operations_succeeded[static_cast<std::size_t>(operation)] = true;
    }
  }
  return resolution;
}

Resolution executed_by_answer(const TxnResult& outer, const SlotUse& use) {
  Resolution resolution = resolution_of(Resolution::Kind::kExecuted);
  resolution.answered = true;
  resolution.revision = outer.revision;
  for (const auto& result : outer.results) {
    if (result.kind == Op::Kind::kTxn && result.txn) {
      resolution.operations_succeeded.push_back(result.txn->succeeded);
    }
  }
  CHECK(resolution.operations_succeeded.size() == use.operations,
        "the store answers every nested transaction");
  return resolution;
}

}  // namespace

Resolution judge_batch(const Frame& frame, const SlotUse& use, bool maybe_executed,
                       const Result<TxnResult>& answer) {
  if (!answer) {
    switch (answer.error().code) {
      // etcd executes the transaction that takes it over its quota and then reports this error: it
      // may have been executed.
      case ErrorCode::kNoSpace: return resolution_of(Resolution::Kind::kAbort);
      case ErrorCode::kTooLarge:
      case ErrorCode::kInvalidArgument:
        return maybe_executed ? resolution_of(Resolution::Kind::kAbort) : refused(answer.error());
      default: return resolution_of(Resolution::Kind::kResend);
    }
  }
  if (answer->succeeded) return executed_by_answer(*answer, use);
  const auto reading = frame.read(use.key, *answer);
  if (!reading) return resolution_of(Resolution::Kind::kResend);
  if (reading->disproof) return ended(reading->disproof->message);
  // Nothing differs although a compare failed: the answer contradicts itself, so it proves nothing.
  if (reading->slot_mod_revision == use.expected) return resolution_of(Resolution::Kind::kResend);
  if (carries(*reading, use)) return executed_by_slot(*reading, use);
  return somebody_elses(use);
}

Resolution judge_abort(const Frame& frame, const SlotUse& use, const Result<TxnResult>& answer) {
  if (!answer) return resolution_of(Resolution::Kind::kResend);
  if (answer->succeeded) return resolution_of(Resolution::Kind::kAborted);
  const auto reading = frame.read(use.key, *answer);
  if (!reading) return resolution_of(Resolution::Kind::kResend);
  if (reading->disproof) return ended(reading->disproof->message);
  // An earlier copy of the abort was executed.
  if (reading->slot_mod_revision == Revision(0)) return resolution_of(Resolution::Kind::kAborted);
  if (reading->slot_mod_revision == use.expected) return resolution_of(Resolution::Kind::kResend);
  if (carries(*reading, use)) return executed_by_slot(*reading, use);
  // An earlier copy of the abort was executed, and after it a late copy of the transaction that had
  // armed the slot.
  if (reading->slot && reading->slot->operations == 0)
    return resolution_of(Resolution::Kind::kAborted);
  return somebody_elses(use);
}

Resolution judge_arm(const Frame& frame, const SlotUse& use, const Result<TxnResult>& answer) {
  if (!answer) {
    switch (answer.error().code) {
      case ErrorCode::kNoSpace:
      case ErrorCode::kTooLarge:
      case ErrorCode::kInvalidArgument: return refused(answer.error());
      default: return resolution_of(Resolution::Kind::kResend);
    }
  }
  Resolution armed = resolution_of(Resolution::Kind::kExecuted);
  if (answer->succeeded) {
    armed.answered = true;
    armed.revision = answer->revision;
    return armed;
  }
  const auto reading = frame.read(use.key, *answer);
  if (!reading) return resolution_of(Resolution::Kind::kResend);
  if (reading->disproof) return ended(reading->disproof->message);
  if (reading->slot_mod_revision == Revision(0)) return resolution_of(Resolution::Kind::kResend);
  if (reading->slot && reading->slot->operations == 0 && reading->slot->sequence <= use.sequence) {
    armed.revision = reading->slot_mod_revision;
    return armed;
  }
  return refused(Error{ErrorCode::kInvalidArgument,
                       "session: slot 0x" + to_hex(use.key) +
                           " has been used before; every session needs a name of its own"});
}

// --- SlotTable

SlotTable::SlotTable(const SessionOptions& options) {
  for (int i = 0; i < kSessionSlots; ++i)
    slots_.push_back(Slot{.key = slot_key(options, i), .mod_revision = options.slots_armed_at});
}

SlotUse SlotTable::use_of(int index) const {
  const Slot& slot = slots_[static_cast<std::size_t>(index)];
  return SlotUse{index, slot.key, slot.mod_revision, slot.sequence, 0};
}

std::optional<SlotUse> SlotTable::acquire(std::uint32_t operations) {
  CHECK(operations > 0 && operations <= kBatchOperationsMax);
  for (int i = 0; i < kSessionSlots; ++i) {
    Slot& slot = slots_[static_cast<std::size_t>(i)];
    if (slot.busy || slot.mod_revision == Revision(0)) continue;
    slot.busy = true;
    ++slot.sequence;
    SlotUse use = use_of(i);
    use.operations = operations;
    return use;
  }
  return std::nullopt;
}

bool SlotTable::has_armed() const {
  return std::any_of(slots_.begin(), slots_.end(), [](const Slot& slot) {
    return !slot.busy && slot.mod_revision != Revision(0);
  });
}

std::optional<SlotUse> SlotTable::acquire_for_arming() {
  for (int i = 0; i < kSessionSlots; ++i) {
    Slot& slot = slots_[static_cast<std::size_t>(i)];
    if (slot.busy || slot.mod_revision != Revision(0)) continue;
    slot.busy = true;
    return use_of(i);
  }
  return std::nullopt;
}

void SlotTable::release(const SlotUse& use, Revision mod_revision) {
  Slot& slot = slots_[static_cast<std::size_t>(use.index)];
  CHECK(slot.busy, "a slot is released by the use that owns it");
  slot.busy = false;
  slot.mod_revision = mod_revision;
}

}  // namespace symnas::kv
