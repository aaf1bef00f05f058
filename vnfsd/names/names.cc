#include "vnfsd/names/names.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "vnfsd/names/limits.h"

namespace symnas::vnfsd {
namespace {

constexpr std::size_t kDeviceCharsMax = 15;  // IFNAMSIZ - 1

bool is_alnum(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

Status bad(std::string_view kind, std::string_view name, std::string_view why) {
  return fail(ErrorCode::kInvalidArgument, fmt::format("{} '{}': bad name: {}", kind, name, why));
}

Status check(std::string_view kind, std::string_view name, std::string_view others) {
  if (name.empty()) return bad(kind, name, "it is empty");
  if (name.size() > kNameCharsMax) {
    return bad(kind, name, fmt::format("longer than {} characters", kNameCharsMax));
  }
  if (!is_alnum(name.front())) return bad(kind, name, "it must begin with a letter or a digit");
  for (const char c : name) {
    if (!is_alnum(c) && others.find(c) == std::string_view::npos) {
      return bad(kind, name,
                 fmt::format("only letters, digits and {} are allowed", fmt::join(others, " ")));
    }
  }
  return {};
}

}  // namespace

Status check_name(std::string_view kind, std::string_view name) { return check(kind, name, "._-"); }

Status check_host_name(std::string_view kind, std::string_view name) {
  SYMNAS_TRY(check(kind, name, "-"));
  if (name.back() == '-') return bad(kind, name, "a host name cannot end with -");
  return {};
}

Status check_device_name(std::string_view device) {
  if (device.empty() || device.size() > kDeviceCharsMax || device == "." || device == "..") {
    return bad("device", device, fmt::format("1 to {} characters are allowed", kDeviceCharsMax));
  }
  for (const char c : device) {
    if (c <= ' ' || c == '/' || c == ':' || c == 0x7f) {
      return bad("device", device, "no white space, '/' or ':' is allowed");
    }
  }
  return {};
}

Result<std::string> normalise_export_path(std::string_view path) {
  const auto refuse = [&](std::string_view why) -> Result<std::string> {
    return fail(ErrorCode::kInvalidArgument, fmt::format("path '{}': {}", path, why));
  };
  if (path.empty() || path.front() != '/') {
    return refuse("not absolute (give the path inside the filesystem, beginning with /)");
  }
  if (path.size() > kExportPathBytesMax) {
    return refuse(fmt::format("longer than {} bytes", kExportPathBytesMax));
  }
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f || c == '"' || c == '\\' || c == '\'') {
      return refuse("control characters, quotes and backslashes are not allowed");
    }
  }
  std::string normal;
  std::size_t begin = 0;
  while (begin < path.size()) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    const std::string_view component = path.substr(begin, end - begin);
    if (component == "." || component == "..") return refuse("'.' and '..' are not allowed");
    if (!component.empty()) normal.append("/").append(component);
    begin = end + 1;
  }
  return normal.empty() ? "/" : normal;
}

}  // namespace symnas::vnfsd
