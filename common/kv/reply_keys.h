// Keys of the answers that the instances of a VNFS have given (docs/formats/keys.md): table 'A' of
// a filesystem's unwatched area (keys.h).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/bytes.h"
#include "common/base/ids.h"
#include "common/kv/keys.h"

namespace symnas::kv::keys {

inline std::string replies(FsId fs, VnfsId vnfs) {
  std::string key = table(fs, 'u', 'A');
  append_be32(key, vnfs.value());
  return key;
}
// `client`: the client's address, 16 bytes.
inline std::string replies_to(FsId fs, VnfsId vnfs, std::string_view client) {
  return replies(fs, vnfs).append(client);
}
inline std::string replies_of(FsId fs, VnfsId vnfs, std::string_view client, Epoch epoch) {
  std::string key = replies_to(fs, vnfs, client);
  append_be64(key, epoch.value());
  return key;
}
inline std::string reply(FsId fs, VnfsId vnfs, std::string_view client, Epoch epoch,
                         std::uint32_t place) {
  std::string key = replies_of(fs, vnfs, client, epoch);
  append_be32(key, place);
  return key;
}

}  // namespace symnas::kv::keys
