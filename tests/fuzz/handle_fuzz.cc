// File handles and READDIR cookies as clients send them.
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "fsal_cluster/schema/handle.h"
#include "fsal_cluster/schema/name_hash.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace symnas;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto handle = fs::decode_handle(bytes, FsId{1});
  if (handle && fs::encode_handle(*handle) != bytes) std::abort();
  std::uint64_t number = 0;
  if (size < sizeof number) return 0;
  std::memcpy(&number, data, sizeof number);
  static_cast<void>(fs::parse_cookie(number));
  // The checksum makes most inputs no handles: so a handle of these numbers is tried, too.
  const fs::Handle made{FsId{1}, Ino{number}, Generation{number >> 7}};
  const auto again = fs::decode_handle(fs::encode_handle(made), FsId{1});
  if (again && *again != made) std::abort();
  return 0;
}
