// SimLun: the volume as one simulated process sees it. Its requests outlive the process: a killed
// process's writes may land at any later time, whole, torn or never, until drain() returns (the
// proof that its OFD lock gives).
//   SimArray   the disk with all queues: loses power at once for everybody
//
// Thread class: thread-safe. Callbacks run on a thread of the process.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "cvm/volume_io.h"
#include "tests/sim/inbox.h"
#include "tests/sim/runtime/simulation.h"
#include "tests/support/sim_volume.h"

namespace symnas::sim {

struct LunFaults {
  std::int64_t latency_ns_max = 200'000;
  std::uint64_t slow_ppm = 0;  // a request takes up to slow_ns_max
  std::int64_t slow_ns_max = 0;
  std::uint64_t split_ppm = 0;  // a request of several sectors is executed in two parts
  std::uint64_t error_ppm = 0;  // kIo; any sectors of a write may have landed
  static LunFaults draw();
};

class SimArray {
 public:
  // The volume is the first part of the disk.
  SimArray(std::shared_ptr<test::SimDisk> disk, std::uint64_t volume_bytes)
      : disk_(std::move(disk)), volume_bytes_(volume_bytes) {}
  test::SimDisk& disk() { return *disk_; }
  std::uint64_t volume_bytes() const { return volume_bytes_; }
  // Requests in flight are torn or lost, then the cache is lost.
  void lose_power();

 private:
  friend class SimLun;
  struct Request;
  void forget(const Request* request);
  void land_torn(const Request& request);

  const std::shared_ptr<test::SimDisk> disk_;
  const std::uint64_t volume_bytes_;
  std::vector<std::shared_ptr<Request>> in_flight_;
};

class SimLun final : public cvm::VolumeIo {
 public:
  SimLun(Process& process, std::shared_ptr<SimArray> array, LunFaults faults);

  std::uint64_t size_bytes() const override { return array_->volume_bytes(); }
  std::uint32_t logical_block_bytes() const override { return test::SimDisk::kSector; }
  std::uint32_t stripe_unit_bytes() const override { return 64 << 10; }
  cvm::Buffer buffer(std::size_t bytes) override;
  void read(VolumeOffset offset, std::span<std::byte> into, cvm::IoCallback done) override;
  void write(VolumeOffset offset, std::span<const std::byte> from, cvm::Durability durability,
             cvm::IoCallback done) override;
  void write_edges(VolumeOffset offset, std::span<const std::byte> from, cvm::Durability durability,
                   cvm::IoCallback done) override;
  void flush(cvm::IoCallback done) override;
  std::vector<cvm::LunCounters> counters() const override { return {}; }

  // Returns when no request of the process is on its way to the disk any more.
  void drain();
  // From now on no request reaches the disk.
  enum class Refusal { kNone, kConflict, kNoAnswer };
  void refuse(Refusal refusal) { refusal_ = refusal; }
  // No more errors and delays.
  void calm() { faults_ = {}; }

 private:
  enum class Kind { kRead, kWrite, kEdges, kFlush };
  void submit(Kind kind, std::uint64_t offset, std::span<std::byte> into,
              std::span<const std::byte> from, cvm::Durability durability, cvm::IoCallback done);
  void schedule(const std::shared_ptr<SimArray::Request>& request);
  void execute(const std::shared_ptr<SimArray::Request>& request);
  void read_edges(SimArray::Request& request);
  void answer(const std::shared_ptr<SimArray::Request>& request, Status status);
  friend class SimArray;

  const std::shared_ptr<SimArray> array_;
  const std::shared_ptr<Inbox> inbox_;
  LunFaults faults_;
  Refusal refusal_ = Refusal::kNone;
};

}  // namespace symnas::sim
