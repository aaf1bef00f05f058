#include "ha/detection/probe.h"

#include <gtest/gtest.h>

namespace symnas::ha {
namespace {

const std::string kKey(kProbeKeyBytes, 'k');
const Probe kProbe{0x0102030405060708, "c1n1", "11b4c9f2-0000-4000-8000-000000000001"};

TEST(Probe, ThereAndBack) {
  const std::string datagram = render_probe(kProbe, kKey);
  EXPECT_LE(datagram.size(), kProbeBytesMax);
  EXPECT_EQ(parse_probe(datagram, kKey), kProbe);
}

TEST(Probe, AnotherClustersIsNotOurs) {
  EXPECT_FALSE(parse_probe(render_probe(kProbe, std::string(kProbeKeyBytes, 'x')), kKey));
}

TEST(Probe, EveryDamageIsSeen) {
  const std::string datagram = render_probe(kProbe, kKey);
  for (std::size_t i = 0; i < datagram.size(); ++i) {
    std::string damaged = datagram;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    EXPECT_FALSE(parse_probe(damaged, kKey)) << i;
    EXPECT_FALSE(parse_probe(std::string_view(datagram).substr(0, i), kKey)) << i;
  }
  EXPECT_FALSE(parse_probe(datagram + "x", kKey));
}

TEST(Probe, OfAClockIsAnotherKind) {
  const std::string datagram = render_clock(kProbe, 1'700'000'000'123'456'789, kKey);
  EXPECT_LE(datagram.size(), kProbeBytesMax);
  const auto said = parse_clock(datagram, kKey);
  ASSERT_TRUE(said);
  EXPECT_EQ(said->probe, kProbe);
  EXPECT_EQ(said->wall_ns, 1'700'000'000'123'456'789);
  EXPECT_FALSE(parse_probe(datagram, kKey));
  EXPECT_FALSE(parse_clock(render_probe(kProbe, kKey), kKey));
  EXPECT_FALSE(parse_clock(datagram.substr(0, datagram.size() - 1), kKey));
}

}  // namespace
}  // namespace symnas::ha
