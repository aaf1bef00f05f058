#include "fsal_cluster/mount/gated_volume.h"

namespace symnas::fs {

template <class Submit>
void GatedVolume::pass(Submit submit, cvm::IoCallback done) {
  if (gate_.is_open()) {
    submit(std::move(done));
    return;
  }
  gate_.pass([submit, done = std::move(done)](Gate::Passage passage) mutable {
    if (passage == Gate::Passage::kOpen) {
      submit(std::move(done));
    } else {
      done(fail(ErrorCode::kShutdown, "the mount is being closed: the I/O was not begun"));
    }
  });
}

// A fence from the LUNs that came before would have refused what was submitted now.
cvm::IoCallback GatedVolume::confirming(cvm::IoCallback done) {
  return [this, begun_ns = gate_.now_ns(), done = std::move(done)](Status status) {
    if (status) gate_.confirm(begun_ns, Gate::Seen::kByUs);
    done(std::move(status));
  };
}

void GatedVolume::read(VolumeOffset offset, std::span<std::byte> into, cvm::IoCallback done) {
  pass([this, offset,
        into](cvm::IoCallback then) { volume_->read(offset, into, confirming(std::move(then))); },
       std::move(done));
}

void GatedVolume::write(VolumeOffset offset, std::span<const std::byte> from,
                        cvm::Durability durability, cvm::IoCallback done) {
  pass(
      [this, offset, from, durability](cvm::IoCallback then) {
        volume_->write(offset, from, durability, confirming(std::move(then)));
      },
      std::move(done));
}

void GatedVolume::write_edges(VolumeOffset offset, std::span<const std::byte> from,
                              cvm::Durability durability, cvm::IoCallback done) {
  pass(
      [this, offset, from, durability](cvm::IoCallback then) {
        volume_->write_edges(offset, from, durability, confirming(std::move(then)));
      },
      std::move(done));
}

// No sign of life: one that has nothing to do answers without asking a LUN.
void GatedVolume::flush(cvm::IoCallback done) {
  pass([this](cvm::IoCallback then) { volume_->flush(std::move(then)); }, std::move(done));
}

}  // namespace symnas::fs
