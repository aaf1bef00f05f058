// Synchronous calls on a VolumeIo, for tests.
#pragma once

#include <future>
#include <span>

#include "cvm/volume_io.h"

namespace symnas::cvm {

template <class Start>
Status wait_for(Start&& start) {
  std::promise<Status> promise;
  start([&promise](Status status) { promise.set_value(std::move(status)); });
  return promise.get_future().get();
}

inline Status read_now(VolumeIo& io, std::uint64_t offset, std::span<std::byte> into) {
  return wait_for([&](IoCallback done) { io.read(VolumeOffset(offset), into, std::move(done)); });
}
inline Status write_now(VolumeIo& io, std::uint64_t offset, std::span<const std::byte> from,
                        Durability durability = Durability::kVolatile) {
  return wait_for(
      [&](IoCallback done) { io.write(VolumeOffset(offset), from, durability, std::move(done)); });
}
inline Status write_edges_now(VolumeIo& io, std::uint64_t offset, std::span<const std::byte> from,
                              Durability durability = Durability::kVolatile) {
  return wait_for([&](IoCallback done) {
    io.write_edges(VolumeOffset(offset), from, durability, std::move(done));
  });
}
inline Status flush_now(VolumeIo& io) {
  return wait_for([&](IoCallback done) { io.flush(std::move(done)); });
}

}  // namespace symnas::cvm
