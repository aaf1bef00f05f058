// The in-memory store and a real etcd, side by side: the same random transactions get the same
// answers, revisions and errors included, and a watch shows the same history. So what holds on
// MemStore also holds on etcd.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "common/kv/etcd/etcd_store.h"
#include "common/kv/mem/mem_store.h"
#include "tests/contract/etcd_cluster.h"
#include "tests/contract/kv_contract.h"
#include "tests/unit/common/kv/mem/txn_tape.h"

namespace symnas::kv::testing {
namespace {

std::vector<std::string> history(Store& store, Revision first) {
  Recorder recorder;
  const auto watch =
      store.watch(KeyRange{std::string(1, '\0'), std::string(1, '\0')}, first, &recorder);
  recorder.wait_key("last");
  std::vector<std::string> out;
  for (const auto& call : recorder.calls()) {
    for (const WatchEvent& event : call.events) out.push_back(text_of(event));
  }
  return out;
}

TEST(KvEquivalence, random_transactions) {
  if (!EtcdCluster::missing().empty()) GTEST_SKIP() << EtcdCluster::missing();
  EtcdCluster cluster({});
  auto opened = EtcdStore::open(cluster.client_options());
  ASSERT_TRUE(opened);
  Store& etcd = **opened;
  ASSERT_TRUE(EtcdCluster::wait_until_serving(etcd, kPatienceMs));
  MemStore mem;

  constexpr int kRounds = 40;
  constexpr std::size_t kTapeBytes = 1500;
  const std::uint64_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  int answered = 0;
  int refused = 0;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<std::uint8_t> bytes(kTapeBytes);
    for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random());
    TxnTape tape(std::move(bytes));
    while (!tape.exhausted()) {
      const Txn txn = tape.txn(mem.server().revision().value());
      const auto expected = txn_blocking(mem, txn, kPatienceMs);
      const auto got = txn_blocking(etcd, txn, kPatienceMs);
      ASSERT_EQ(text_of(got), text_of(expected));
      ++(got ? answered : refused);
    }
  }
  EXPECT_GT(answered, 500);
  EXPECT_GT(refused, 50);
  const Txn last = ops({put("last", "")});
  ASSERT_EQ(text_of(txn_blocking(etcd, last, kPatienceMs)),
            text_of(txn_blocking(mem, last, kPatienceMs)));
  const std::vector<std::string> expected = history(mem, Revision(1));
  EXPECT_GT(expected.size(), 500U);
  EXPECT_EQ(history(etcd, Revision(1)), expected);
}

}  // namespace
}  // namespace symnas::kv::testing
