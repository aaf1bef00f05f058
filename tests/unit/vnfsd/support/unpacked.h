// Reads a gzipped tar file back, for tests.
#pragma once

#include <zlib.h>

#include <map>
#include <string>

namespace symnas::vnfsd::support {

inline std::string gunzipped(const std::string& path) {
  std::string bytes;
  const gzFile file = ::gzopen(path.c_str(), "rb");
  if (file == nullptr) return bytes;
  char piece[4096];
  for (int got = 0; (got = ::gzread(file, piece, sizeof piece)) > 0;)
    bytes.append(piece, static_cast<std::size_t>(got));
  ::gzclose(file);
  return bytes;
}

// {name: content}
inline std::map<std::string, std::string> unpacked(const std::string& path) {
  const std::string tar = gunzipped(path);
  std::map<std::string, std::string> members;
  for (std::size_t at = 0; at + 512 <= tar.size() && tar[at] != '\0';) {
    const std::string name(tar.c_str() + at);
    const std::size_t size = std::stoul(tar.substr(at + 124, 11), nullptr, 8);
    members[name] = tar.substr(at + 512, size);
    at += 512 + (size + 511) / 512 * 512;
  }
  return members;
}

}  // namespace symnas::vnfsd::support
