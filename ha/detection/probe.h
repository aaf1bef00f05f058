// Probe: the datagram by which a head shows the other heads that it is alive. Pure functions.
//
// "SNP1", be64 sequence, then head and boot (a length byte and as many characters each), then
// HMAC-SHA256 (RFC 2104) of all that with the cluster's key. The content is not secret. "SNC1",
// the sequence and be64 of the wall clock, names and HMAC as before: what the head's clock shows.
// Earlier versions do not know it, and leave it alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace symnas::ha {

inline constexpr std::size_t kProbeKeyBytes = 32;
inline constexpr std::size_t kProbeBytesMax = 4 + 8 + 8 + 2 * 256 + 32;

struct Probe {
  std::uint64_t sequence = 0;  // grows with every probe of a boot: a late one is not new
  std::string head;
  std::string incarnation;
  friend bool operator==(const Probe&, const Probe&) = default;
};

// A new key; one is made per cluster.
std::string make_probe_key();

// REQUIRES: names of at most 255 characters.
std::string render_probe(const Probe& probe, std::string_view key);
// A probe that says what the head's wall clock shows (nanoseconds since 1970-01-01 UTC).
struct ClockSaid {
  Probe probe;
  std::int64_t wall_ns = 0;
};
std::string render_clock(const Probe& probe, std::int64_t wall_ns, std::string_view key);
// nullopt: it is not that, not of this cluster, or damaged.
std::optional<ClockSaid> parse_clock(std::string_view datagram, std::string_view key);
// nullopt: not a probe of this cluster, or damaged.
std::optional<Probe> parse_probe(std::string_view datagram, std::string_view key);

}  // namespace symnas::ha
