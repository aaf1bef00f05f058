// HeadWorld: a head over an in-memory store and a clock moved by hand, and doubles of what the
// agent's components talk to. For tests.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "common/env/clock.h"
#include "common/kv/quota.h"
#include "cvm/volume.h"
#include "fsal_cluster/schema/filesystem.h"
#include "tests/unit/vnfsd/plans/view_builder.h"
#include "vnfsd/daemon/fencing/fence_orders.h"
#include "vnfsd/daemon/follow/cluster_reader.h"
#include "vnfsd/daemon/head/this_head.h"
#include "vnfsd/daemon/instances/instances.h"
#include "vnfsd/daemon/journal/event_writer.h"

namespace symnas::vnfsd::daemon {

inline Config config_of(const std::string& head) {
  Config config;
  config.cluster_name = "lab";
  config.cluster_uuid = *cvm::uuid_from_bytes(std::string(16, 'c'));
  config.head_name = head;
  config.head_address = "10.99.0." + head.substr(3);
  config.daemon.run_dir = ::testing::TempDir() + "symnas-" +
                          ::testing::UnitTest::GetInstance()->current_test_info()->name();
  return config;
}

// Reads the store each time, or shows what a watch that lags behind would.
struct DirectReader final : ClusterReader {
  explicit DirectReader(kv::Store& kv_store) : store(kv_store) {}
  bool is_ready() const override { return ready; }
  Status wait_ready() override {
    return ready ? Status() : fail(ErrorCode::kUnavailable, "not registered");
  }
  std::optional<Result<ClusterView>> shown() const override {
    if (!copy || copy->revision < must_show_) return std::nullopt;
    return Result<ClusterView>(*copy);
  }
  Result<ClusterView> fresh() override { return read_view(store, kTestDeadlineMs); }
  void must_show(Revision revision) override { must_show_ = revision; }
  void look_again() override { ++looks; }

  kv::Store& store;
  bool ready = true;
  std::optional<ClusterView> copy;
  int looks = 0;

 private:
  Revision must_show_;
};

struct FakeInstances final : Instances {
  std::map<std::string, instance::InstanceSnapshot> snapshots() const override { return all; }
  void end_instance(const std::string& vnfs, Epoch epoch, const std::string& why) override {
    ended.push_back(vnfs + " " + std::to_string(epoch.value()) + ": " + why);
  }
  std::map<std::string, instance::InstanceSnapshot> all;
  std::vector<std::string> ended;
};

struct FakeFenceOrders final : FenceOrders {
  std::string why_no_failover() const override { return no_failover; }
  Status check_can_fence(const ClusterView&) const override { return able; }
  bool start_fence(const std::string& head, FenceCause cause) override {
    started.emplace_back(head, std::move(cause));
    return true;
  }
  std::string no_failover;
  Status able;
  std::vector<std::pair<std::string, FenceCause>> started;
};

// c1n3, over records that `builder` makes.
class HeadWorld : public ::testing::Test {
 protected:
  explicit HeadWorld(Config config = config_of("c1n3"))
      : head{builder.store, clock, std::move(config), "boot"} {}
  // The kinds of all events, in the order in which they happened.
  std::vector<std::string> events() {
    std::vector<std::string> kinds;
    const auto page = read_events(builder.store, Revision{}, kTestDeadlineMs);
    EXPECT_TRUE(page);
    for (const StoredEvent& event : page->events) kinds.emplace_back(event.record.kind());
    return kinds;
  }
  // The text of the last event of that kind; "" = there is none.
  std::string event_text(std::string_view kind) {
    std::string text;
    const auto page = read_events(builder.store, Revision{}, kTestDeadlineMs);
    EXPECT_TRUE(page);
    for (const StoredEvent& event : page->events)
      if (event.record.kind() == kind) text = event.record.text();
    return text;
  }
  // A new filesystem u04 on a volume v1.
  Result<fs::records::FilesystemRecord> formatted() {
    for (const char* name : {"LUN0", "LUN1"}) builder.lun(name);
    builder.apply(
        [](const ClusterView& v) { return plan_volume_create(v, ViewBuilder::volume()); });
    fs::FormatOptions options;
    options.name = "u04";
    options.volume = "v1";
    return fs::format_filesystem(builder.store, clock, options);
  }
  // Writes what was told.
  void write_told() {
    while (event_writer.write_one()) {
    }
  }
  void pass_ms(std::int64_t ms) { clock.advance_ns(ms * 1'000'000); }

  std::shared_ptr<kv::ScriptedFaults> faults = std::make_shared<kv::ScriptedFaults>();
  ViewBuilder builder{kv::MemStoreOptions{.faults = faults}};
  env::ManualClock clock{1'000'000'000'000};
  const ThisHead head;
  DirectReader reader{builder.store};
  kv::QuotaGauge quota{0};
  int told = 0;
  EventWriter event_writer{head, quota, [this] { ++told; }};
  const Status resumed = event_writer.resume();
};

}  // namespace symnas::vnfsd::daemon
