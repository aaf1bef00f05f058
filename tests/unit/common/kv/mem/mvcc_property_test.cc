// Random transactions on Mvcc and on a naive model give the same answers, the same history.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "common/kv/mem/mvcc.h"
#include "tests/unit/common/kv/mem/naive_model.h"
#include "tests/unit/common/kv/mem/txn_tape.h"

namespace symnas::kv::testing {
namespace {

Result<TxnResult> run(Mvcc& mvcc, const Txn& txn) {
  SYMNAS_TRY(mvcc.validate(txn));
  return mvcc.apply(txn);
}

std::vector<std::string> texts(const std::vector<WatchEvent>& events) {
  std::vector<std::string> out;
  for (const WatchEvent& event : events) out.push_back(text_of(event));
  return out;
}

std::vector<WatchEvent> history_of(const Mvcc& mvcc, const KeyRange& range, std::int64_t first) {
  std::vector<WatchEvent> out;
  for (const auto& events : mvcc.history(range, Revision(first))) {
    out.insert(out.end(), events.begin(), events.end());
  }
  return out;
}

const KeyRange kEverything{std::string(1, '\0'), std::string(1, '\0')};

// Uniform bytes, up to about 80 transactions.
TxnTape draw_tape() {
  const auto length = *rc::gen::resize(100, rc::gen::inRange<std::size_t>(1, 1500));
  return TxnTape(*rc::gen::resize(100, rc::gen::container<std::vector<std::uint8_t>>(
                                           length, rc::gen::arbitrary<std::uint8_t>())));
}

RC_GTEST_PROP(MvccProperty, answers_as_the_naive_model, ()) {
  TxnTape tape = draw_tape();
  Mvcc mvcc;
  NaiveModel model;
  int valid = 0;
  while (!tape.exhausted()) {
    const Txn txn = tape.txn(model.revision());
    const Result<TxnResult> expected = model.txn(txn);
    RC_ASSERT(text_of(run(mvcc, txn)) == text_of(expected));
    if (expected) ++valid;
  }
  RC_ASSERT(mvcc.revision().value() == model.revision());
  RC_ASSERT(texts(history_of(mvcc, kEverything, 1)) == texts(model.events_since(1)));
  RC_CLASSIFY(valid > 5, "more than 5 valid transactions");
}

RC_GTEST_PROP(MvccProperty, compaction_forgets_exactly_what_lies_before, (std::uint8_t at)) {
  TxnTape tape = draw_tape();
  Mvcc mvcc;
  NaiveModel model;
  while (!tape.exhausted()) {
    const Txn txn = tape.txn(model.revision());
    static_cast<void>(model.txn(txn));
    static_cast<void>(run(mvcc, txn));
  }
  const std::int64_t revision = 1 + at % model.revision();
  const auto keys_before = mvcc.keys().size();
  RC_ASSERT(mvcc.compact(Revision(revision)).has_value());
  RC_ASSERT(mvcc.keys().size() == keys_before);
  RC_ASSERT(texts(history_of(mvcc, kEverything, revision)) == texts(model.events_since(revision)));
  RC_ASSERT(mvcc.compact(Revision(revision)).error().code == ErrorCode::kCompacted);
  RC_ASSERT(mvcc.compact(Revision(model.revision() + 1)).error().code == ErrorCode::kOutOfRange);
}

}  // namespace
}  // namespace symnas::kv::testing
