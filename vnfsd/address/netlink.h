// Rtnetlink: requests to the kernel about links, addresses, routes and rules of one network
// namespace. Thread class: thread-compatible. Belongs to the network namespace that its creating
// thread was in. Sources: rtnetlink(7), netlink(7). The only user of libmnl together with link.cc
// and route.cc.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include <libmnl/libmnl.h>

#include "common/base/result.h"

namespace symnas::vnfsd::address {

class Rtnetlink {
 public:
  // Errors: kIo.
  static Result<Rtnetlink> open();

  // Sends one request and waits for its acknowledgement. `fill` gets the header with type and flags
  // set and appends the rest. `what` begins the message of an error. Errors: kAlreadyExists
  // (EEXIST), kNotFound (ENODEV, ENOENT, ESRCH), kNotSupported (EOPNOTSUPP), kBusy (EBUSY,
  // EADDRINUSE), kPermission (EPERM), else kIo; the kernel's own words are in the message where it
  // gives any.
  Status request(std::uint16_t type, std::uint16_t flags, const std::string& what,
                 const std::function<void(nlmsghdr*)>& fill);

 private:
  struct Closer {
    void operator()(mnl_socket* socket) const { mnl_socket_close(socket); }
  };
  explicit Rtnetlink(mnl_socket* socket) : socket_(socket) {}
  std::unique_ptr<mnl_socket, Closer> socket_;
  std::uint32_t sequence_ = 0;
};

}  // namespace symnas::vnfsd::address
