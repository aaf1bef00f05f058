// GatedVolume: a volume behind the gate. I/O is submitted while the mount has proof that it has not
// ended, and otherwise waits for the gate. (I/O that was submitted before is stopped by the fence,
// INV-1.) A READ or WRITE that succeeds is itself a sign of life, for the answer that it belongs to
// and for all that wait.
//
// Thread class: thread-safe. Held I/O is submitted on the thread that calls Gate::prove().
// Errors of all operations, beside the volume's: kShutdown (the gate was shut down).
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "cvm/volume_io.h"
#include "fsal_cluster/state/gate.h"

namespace symnas::fs {

class GatedVolume final : public cvm::VolumeIo {
 public:
  // `gate` outlives it.
  GatedVolume(std::shared_ptr<cvm::VolumeIo> volume, Gate& gate)
      : volume_(std::move(volume)), gate_(gate) {}

  std::uint64_t size_bytes() const override { return volume_->size_bytes(); }
  std::uint32_t logical_block_bytes() const override { return volume_->logical_block_bytes(); }
  std::uint32_t stripe_unit_bytes() const override { return volume_->stripe_unit_bytes(); }
  cvm::Buffer buffer(std::size_t bytes) override { return volume_->buffer(bytes); }
  void read(VolumeOffset offset, std::span<std::byte> into, cvm::IoCallback done) override;
  void write(VolumeOffset offset, std::span<const std::byte> from, cvm::Durability durability,
             cvm::IoCallback done) override;
  void write_edges(VolumeOffset offset, std::span<const std::byte> from, cvm::Durability durability,
                   cvm::IoCallback done) override;
  void flush(cvm::IoCallback done) override;
  std::vector<cvm::LunCounters> counters() const override { return volume_->counters(); }

 private:
  template <class Submit>
  void pass(Submit submit, cvm::IoCallback done);
  cvm::IoCallback confirming(cvm::IoCallback done);

  const std::shared_ptr<cvm::VolumeIo> volume_;
  Gate& gate_;
};

}  // namespace symnas::fs
