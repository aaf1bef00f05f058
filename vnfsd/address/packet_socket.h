// PacketSocket: an AF_PACKET socket (packet(7)) whose closing nobody waits for. The kernel makes
// the closing of such a socket wait for all processors, tens of milliseconds on a busy head, and a
// VIP on its way would wait, too. Thread-compatible.
#pragma once

#include <system_error>
#include <thread>
#include <utility>

#include "common/base/unique_fd.h"

namespace symnas::vnfsd::address {

class PacketSocket {
 public:
  explicit PacketSocket(UniqueFd fd) : fd_(std::move(fd)) {}
  PacketSocket(PacketSocket&&) = default;
  PacketSocket& operator=(PacketSocket&&) = delete;
  ~PacketSocket() {
    if (!fd_.valid()) return;
    const int fd = fd_.get();
    try {
      std::thread([fd] { const UniqueFd closed(fd); }).detach();
      fd_.release();
    } catch (const std::system_error&) {
      // No thread is to be had: the socket is closed here, and its closing waited for.
    }
  }

  int get() const { return fd_.get(); }
  bool valid() const { return fd_.valid(); }

 private:
  UniqueFd fd_;
};

}  // namespace symnas::vnfsd::address
