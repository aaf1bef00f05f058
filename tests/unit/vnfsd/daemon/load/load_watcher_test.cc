#include "vnfsd/daemon/load/load_watcher.h"

#include "common/kv/load_keys.h"
#include "tests/unit/vnfsd/daemon/head_world.h"
#include "vnfsd/daemon/load/limits.h"

namespace symnas::vnfsd::daemon {
namespace {

// c1n3 serves vnfs1, c1n1 serves nothing.
class LoadWatcherTest : public HeadWorld {
 protected:
  void SetUp() override {
    builder.basics().vnfs1().owner("vnfs1", "c1n3");
    instance::InstanceSnapshot& serving = instances.all["vnfs1"];
    serving.phase = instance::Phase::kServing;
    serving.epoch = builder.view().owners.at("vnfs1").record.epoch();
    watcher.look();  // opens the watch
  }
  Result<fs::LoadReport> read() {
    ++reads;
    if (!answers) return fail(ErrorCode::kUnavailable, "no answer after 1000 ms");
    counted += 100;
    fs::LoadReport report;
    report.rows.push_back(
        {"10.0.0.7", 1, 1, {{{fs::NfsProtocol::kNfs3, 6}, {counted, 0, 0, 0, 0, 0}}}});
    return report;
  }
  // What the loop of the watcher and those of other heads do meanwhile.
  void pause(std::int64_t ms) {
    pass_ms(ms);
    waited_ms += ms;
    if (waited_ms % kLoadLookMs == 0) watcher.look();
  }
  std::size_t keys() {
    const auto found =
        kv::range_blocking(builder.store, kv::prefix_range(kv::keys::kLoad), 0, kTestDeadlineMs);
    EXPECT_TRUE(found);
    return found->kvs.size();
  }
  void tell_as(const std::string& other) {
    builder.put(kv::keys::kLoadTables + other, records::LoadRecord().SerializeAsString());
  }

  FakeInstances instances;
  int reads = 0;
  bool answers = true;
  std::uint64_t counted = 0;
  std::int64_t waited_ms = 0;
  std::stop_source end;
  LoadWatcher watcher{
      head,
      reader,
      instances,
      {[this](const std::string&) { return read(); }, [this](std::int64_t ms) { pause(ms); }},
      end.get_token()};
};

TEST_F(LoadWatcherTest, NothingIsReadOrWrittenWhenNobodyAsks) {
  for (int i = 0; i < 10; ++i) {
    pass_ms(kLoadLookMs);
    watcher.look();
  }
  EXPECT_EQ(reads, 0);
  EXPECT_EQ(keys(), 0u);
}

TEST_F(LoadWatcherTest, AnotherHeadsQuestionIsAnsweredForAWhile) {
  builder.put(kv::keys::kLoadWanted, "c1n1");
  watcher.look();
  pass_ms(kLoadLookMs);
  watcher.look();
  EXPECT_EQ(keys(), 2u);
  pass_ms(kLoadWantedMs);
  watcher.look();
  EXPECT_EQ(keys(), 0u);
  const int before = reads;
  watcher.look();
  EXPECT_EQ(reads, before);
}

TEST_F(LoadWatcherTest, TellsItsOwnLoad) {
  watcher.look();
  const api::ClusterLoad load = watcher.told(builder.view());
  EXPECT_TRUE(load.silent.empty());
  ASSERT_TRUE(load.told.contains("c1n3"));
  const records::LoadVnfs& vnfs = load.told.at("c1n3").vnfses(0);
  EXPECT_EQ(vnfs.vnfs(), "vnfs1");
  EXPECT_EQ(vnfs.clients(0).operations(0).requests(), 100u);
  EXPECT_LE(waited_ms, kLoadAnswerMs);
}

TEST_F(LoadWatcherTest, AHeadThatTellsNothingIsNamed) {
  builder.three_heads().owner("vnfs1", "c1n2");
  instances.all.clear();
  const api::ClusterLoad load = watcher.told(builder.view());
  ASSERT_TRUE(load.silent.contains("c1n2"));
  EXPECT_GE(waited_ms, kLoadAnswerMs);
}

TEST_F(LoadWatcherTest, WhatWasToldLongAgoDoesNotCount) {
  builder.three_heads().owner("vnfs1", "c1n2");
  instances.all.clear();
  tell_as("c1n2");  // by a head that crashed then
  EXPECT_TRUE(watcher.told(builder.view()).silent.contains("c1n2"));
}

TEST_F(LoadWatcherTest, AnInstanceThatDoesNotAnswerSaysWhy) {
  answers = false;
  const api::ClusterLoad load = watcher.told(builder.view());
  EXPECT_EQ(load.told.at("c1n3").vnfses(0).error(), "no answer after 1000 ms");
}

TEST_F(LoadWatcherTest, QuestionsAreBounded) {
  (void)watcher.told(builder.view());
  const Revision before = builder.view().revision;
  (void)watcher.told(builder.view());  // within kLoadAskMs: nothing is written
  EXPECT_EQ(builder.view().revision, before);
}

}  // namespace
}  // namespace symnas::vnfsd::daemon
