#include "vnfsd/address/netlink.h"

#include <linux/netlink.h>
#include <linux/rtnetlink.h>

#include <array>
#include <cerrno>
#include <cstring>

#include <fmt/core.h>

namespace symnas::vnfsd::address {
namespace {

constexpr std::size_t kMessageBytes = 8192;  // as MNL_SOCKET_BUFFER_SIZE at its largest

ErrorCode code_of(int error_number) {
  switch (error_number) {
    case EEXIST: return ErrorCode::kAlreadyExists;
    case ENODEV:
    case ENOENT:
    case ESRCH: return ErrorCode::kNotFound;
    case EOPNOTSUPP: return ErrorCode::kNotSupported;
    case EBUSY: return ErrorCode::kBusy;
    case EADDRINUSE: return ErrorCode::kBusy;
    case EPERM: return ErrorCode::kPermission;
    default: return ErrorCode::kIo;
  }
}

// The kernel's explanation in an extended acknowledgement (NLMSGERR_ATTR_MSG), or "".
std::string explanation(const nlmsghdr* header) {
  if ((header->nlmsg_flags & NLM_F_ACK_TLVS) == 0) return "";
  const auto* error = static_cast<const nlmsgerr*>(mnl_nlmsg_get_payload(header));
  std::size_t offset = sizeof *error;
  if ((header->nlmsg_flags & NLM_F_CAPPED) == 0) {
    offset += mnl_nlmsg_get_payload_len(&error->msg);
  }
  const char* const tail = static_cast<const char*>(mnl_nlmsg_get_payload_tail(header));
  const auto* attribute = static_cast<const nlattr*>(mnl_nlmsg_get_payload_offset(header, offset));
  while (
      mnl_attr_ok(attribute, static_cast<int>(tail - reinterpret_cast<const char*>(attribute)))) {
    if (mnl_attr_get_type(attribute) == NLMSGERR_ATTR_MSG) return mnl_attr_get_str(attribute);
    attribute = mnl_attr_next(attribute);
  }
  return "";
}

}  // namespace

Result<Rtnetlink> Rtnetlink::open() {
  mnl_socket* socket = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC);
  if (socket == nullptr || mnl_socket_bind(socket, 0, MNL_SOCKET_AUTOPID) != 0) {
    const int error = errno;
    if (socket != nullptr) mnl_socket_close(socket);
    return fail(ErrorCode::kIo, fmt::format("netlink: cannot open: {}", std::strerror(error)));
  }
  int on = 1;
  mnl_socket_setsockopt(socket, NETLINK_EXT_ACK, &on, sizeof on);  // only improves messages
  return Rtnetlink(socket);
}

Status Rtnetlink::request(std::uint16_t type, std::uint16_t flags, const std::string& what,
                          const std::function<void(nlmsghdr*)>& fill) {
  std::array<char, kMessageBytes> buffer{};
  nlmsghdr* header = mnl_nlmsg_put_header(buffer.data());
  header->nlmsg_type = type;
  header->nlmsg_flags = static_cast<std::uint16_t>(NLM_F_REQUEST | NLM_F_ACK | flags);
  header->nlmsg_seq = ++sequence_;
  fill(header);
  if (mnl_socket_sendto(socket_.get(), header, header->nlmsg_len) < 0) {
    return fail(ErrorCode::kIo, fmt::format("{}: netlink send: {}", what, std::strerror(errno)));
  }
  for (;;) {
    const ssize_t size = mnl_socket_recvfrom(socket_.get(), buffer.data(), buffer.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) {
      return fail(ErrorCode::kIo,
                  fmt::format("{}: netlink receive: {}", what, std::strerror(errno)));
    }
    const auto* answer = reinterpret_cast<const nlmsghdr*>(buffer.data());
    if (size < static_cast<ssize_t>(sizeof(nlmsghdr) + sizeof(nlmsgerr)) ||
        answer->nlmsg_type != NLMSG_ERROR || answer->nlmsg_seq != sequence_) {
      continue;  // not the acknowledgement of this request
    }
    const int error = -static_cast<const nlmsgerr*>(mnl_nlmsg_get_payload(answer))->error;
    if (error == 0) return {};
    const std::string why = explanation(answer);
    return fail(code_of(error), fmt::format("{}: {}{}{}", what, std::strerror(error),
                                            why.empty() ? "" : ": ", why));
  }
}

}  // namespace symnas::vnfsd::address
