#include "fsal_cluster/schema/name_hash.h"

#include <algorithm>
#include <bit>

namespace symnas::fs {
namespace {

std::uint64_t load_le64(const std::uint8_t* p) {
  std::uint64_t value = 0;
  for (int i = 7; i >= 0; --i) value = value << 8 | p[i];
  return value;
}

struct State {
  std::uint64_t v0, v1, v2, v3;

  void round() {
    v0 += v1;
    v1 = std::rotl(v1, 13) ^ v0;
    v0 = std::rotl(v0, 32);
    v2 += v3;
    v3 = std::rotl(v3, 16) ^ v2;
    v0 += v3;
    v3 = std::rotl(v3, 21) ^ v0;
    v2 += v1;
    v1 = std::rotl(v1, 17) ^ v2;
    v2 = std::rotl(v2, 32);
  }
  void absorb(std::uint64_t word) {
    v3 ^= word;
    round();
    round();
    v0 ^= word;
  }
};

}  // namespace

std::uint64_t siphash24(const std::array<std::uint8_t, 16>& key, std::string_view data) {
  const std::uint64_t k0 = load_le64(key.data());
  const std::uint64_t k1 = load_le64(key.data() + 8);
  State state{k0 ^ 0x736f6d6570736575ULL, k1 ^ 0x646f72616e646f6dULL, k0 ^ 0x6c7967656e657261ULL,
              k1 ^ 0x7465646279746573ULL};
  const auto* p = reinterpret_cast<const std::uint8_t*>(data.data());
  const std::size_t whole = data.size() / 8;
  for (std::size_t i = 0; i < whole; ++i) state.absorb(load_le64(p + 8 * i));
  std::uint64_t last = static_cast<std::uint64_t>(data.size() & 0xff) << 56;
  for (std::size_t i = 8 * whole; i < data.size(); ++i)
    last |= static_cast<std::uint64_t>(p[i]) << (8 * (i % 8));
  state.absorb(last);
  state.v2 ^= 0xff;
  for (int i = 0; i < 4; ++i) state.round();
  return state.v0 ^ state.v1 ^ state.v2 ^ state.v3;
}

Result<NameHasher> NameHasher::create(std::string_view key) {
  NameHasher hasher;
  if (key.size() != hasher.key_.size())
    return fail(ErrorCode::kCorrupt, "filesystem record: name_hash_key has " +
                                         std::to_string(key.size()) + " bytes instead of 16");
  std::copy(key.begin(), key.end(), hasher.key_.begin());
  return hasher;
}

std::uint64_t NameHasher::hash(std::string_view name) const {
  return std::max<std::uint64_t>(1, siphash24(key_, name) >> 10);
}

Result<Cookie> parse_cookie(std::uint64_t value) {
  const Cookie cookie{value >> 8, static_cast<std::uint32_t>(value & 0xff)};
  if (cookie.hash == 0 || cookie.hash >= kNameHashEnd)
    return fail(ErrorCode::kBadCookie, "READDIR cookie " + std::to_string(value) +
                                           ": no entry has it; start again from 0");
  return cookie;
}

}  // namespace symnas::fs
