#include "ha/detection/probe.h"

#include <utility>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include "common/base/bytes.h"
#include "common/base/check.h"

namespace symnas::ha {
namespace {

constexpr std::string_view kMagic = "SNP1";
constexpr std::string_view kClockMagic = "SNC1";
static_assert(kMagic.size() == kClockMagic.size());
constexpr std::size_t kDigestBytes = 32;

std::string digest(std::string_view text, std::string_view key) {
  unsigned char out[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  CHECK(
      HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
           reinterpret_cast<const unsigned char*>(text.data()), text.size(), out, &size) != nullptr,
      "HMAC-SHA256");
  return std::string(reinterpret_cast<const char*>(out), size);
}

void append_name(std::string& out, const std::string& name) {
  out.push_back(static_cast<char>(name.size()));
  out += name;
}

// Removes a name from the front of `text`.
bool take_name(std::string_view& text, std::string& name) {
  if (text.empty()) return false;
  const std::size_t size = static_cast<unsigned char>(text.front());
  if (text.size() < 1 + size) return false;
  name = text.substr(1, size);
  text.remove_prefix(1 + size);
  return true;
}

// `more`: what stands between sequence and names.
std::string render(std::string_view magic, const Probe& probe, std::string_view more,
                   std::string_view key) {
  std::string out(magic);
  append_be64(out, probe.sequence);
  out += more;
  append_name(out, probe.head);
  append_name(out, probe.incarnation);
  return out + digest(out, key);
}

std::optional<Probe> parse(std::string_view magic, std::string_view datagram, std::size_t more,
                           std::string_view key) {
  if (datagram.size() < magic.size() + 8 + more + kDigestBytes || !datagram.starts_with(magic)) {
    return std::nullopt;
  }
  const std::string_view signed_part = datagram.substr(0, datagram.size() - kDigestBytes);
  const std::string expected = digest(signed_part, key);
  if (CRYPTO_memcmp(expected.data(), datagram.data() + signed_part.size(), kDigestBytes) != 0) {
    return std::nullopt;
  }
  Probe probe;
  probe.sequence = read_be64(std::string(signed_part), magic.size());
  std::string_view names = signed_part.substr(magic.size() + 8 + more);
  if (!take_name(names, probe.head) || !take_name(names, probe.incarnation) || !names.empty()) {
    return std::nullopt;
  }
  return probe;
}

}  // namespace

std::string make_probe_key() {
  unsigned char key[kProbeKeyBytes];
  CHECK(RAND_bytes(key, sizeof key) == 1, "RAND_bytes");
  return std::string(reinterpret_cast<const char*>(key), sizeof key);
}

std::string render_probe(const Probe& probe, std::string_view key) {
  return render(kMagic, probe, "", key);
}

std::optional<Probe> parse_probe(std::string_view datagram, std::string_view key) {
  return parse(kMagic, datagram, 0, key);
}

std::string render_clock(const Probe& probe, std::int64_t wall_ns, std::string_view key) {
  std::string wall;
  append_be64(wall, static_cast<std::uint64_t>(wall_ns));
  return render(kClockMagic, probe, wall, key);
}

std::optional<ClockSaid> parse_clock(std::string_view datagram, std::string_view key) {
  auto probe = parse(kClockMagic, datagram, 8, key);
  if (!probe) return std::nullopt;
  const std::uint64_t wall = read_be64(std::string(datagram), kClockMagic.size() + 8);
  return ClockSaid{std::move(*probe), static_cast<std::int64_t>(wall)};
}

}  // namespace symnas::ha
