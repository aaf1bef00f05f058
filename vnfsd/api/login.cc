#include "vnfsd/api/login.h"

#include <charconv>
#include <cstdint>
#include <fstream>

namespace symnas::vnfsd::api {
namespace {

constexpr std::uint32_t kNobody = 0xffff'ffff;  // what the kernel shows where nobody logged in

}  // namespace

std::string parse_login_uid(std::string_view text) {
  std::uint32_t uid = kNobody;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), uid);
  const bool whole = end == text.data() + text.size() || *end == '\n';
  return error != std::errc{} || !whole || uid == kNobody ? "" : std::to_string(uid);
}

std::string login_uid_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/loginuid");
  std::string text;
  std::getline(file, text);
  return parse_login_uid(text);
}

}  // namespace symnas::vnfsd::api
