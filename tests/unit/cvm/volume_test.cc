#include "cvm/volume.h"

#include <gmock/gmock.h>

#include "common/base/bytes.h"
#include "tests/unit/cvm/lun_files.h"

namespace symnas::cvm {
namespace {

using records::LunRecord;
using records::VolumeRecord;
using ::testing::HasSubstr;

LunRecord lun(std::uint8_t id, std::uint64_t bytes = kLunBytesMin, std::uint32_t block = 512) {
  LunRecord record;
  record.set_name("LUN" + std::to_string(id));
  record.set_uuid(uuid_to_bytes(test_uuid(id)));
  record.set_size_bytes(bytes);
  record.set_logical_block_bytes(block);
  return record;
}

VolumeRecord two_luns() {
  const LunRecord luns[] = {lun(1), lun(2, kLunBytesMin + kMiB)};
  auto volume = create_volume("v1", test_uuid(0xaa), luns, kMiB);
  EXPECT_TRUE(volume) << volume.error().message;
  return *volume;
}

ErrorCode code(const Result<VolumeRecord>& result) {
  return result ? ErrorCode::kInternal : result.error().code;
}

TEST(Volume, EncodingIsFixed) {
  // docs/formats/volume_record.md shows these bytes.
  EXPECT_EQ(to_hex(two_luns().SerializeAsString()),
            "0a02763112"
            "10aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
            "18808040"
            "2229"
            "0a1001010101010101010101010101010101"
            "0a1002020202020202020202020202020202"
            "108080801f"
            "2801");
}

TEST(Volume, SmallestLunDecides) {
  const VolumeRecord volume = two_luns();
  EXPECT_EQ(volume.version(), 1u);
  EXPECT_EQ(volume.segments(0).bytes_per_lun(), kLunBytesMin - 2 * kReservedBytes);
  EXPECT_EQ(volume_size_bytes(volume), 2 * (kLunBytesMin - 2 * kReservedBytes));
  EXPECT_EQ(luns_of(volume), (std::vector{test_uuid(1), test_uuid(2)}));
}

TEST(Volume, DataAreaIsBetweenTheReservedEndsInWholeUnits) {
  EXPECT_EQ(data_bytes_of_lun(64 * kMiB, kMiB), 62 * kMiB);
  EXPECT_EQ(data_bytes_of_lun(64 * kMiB, 16 * kMiB), 48 * kMiB);
  EXPECT_EQ(data_bytes_of_lun(64 * kMiB + 4096, kMiB), 62 * kMiB);
  EXPECT_EQ(data_bytes_of_lun(3 * kMiB - 1, kMiB), 0u);
  EXPECT_EQ(data_bytes_of_lun(100, kMiB), 0u);
}

TEST(Volume, CreateRefusesBadInput) {
  const Uuid id = test_uuid(0xaa);
  const LunRecord twice[] = {lun(1), lun(1)};
  const LunRecord one[] = {lun(1)};
  EXPECT_EQ(code(create_volume("v/1", id, one, kMiB)), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code(create_volume("v1", id, {}, kMiB)), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code(create_volume("v1", id, twice, kMiB)), ErrorCode::kInvalidArgument);
  for (const std::uint32_t unit : {0u, 4096u, 100000u, 3u << 20, 32u << 20})
    EXPECT_EQ(code(create_volume("v1", id, one, unit)), ErrorCode::kInvalidArgument) << unit;
  std::vector<LunRecord> many;
  for (int i = 0; i < 257; ++i) {
    many.push_back(lun(1));
    many.back().mutable_uuid()->at(0) = static_cast<char>(i);
    many.back().mutable_uuid()->at(1) = static_cast<char>(i >> 8);
  }
  EXPECT_EQ(code(create_volume("v1", id, many, kMiB)), ErrorCode::kInvalidArgument);
  many.pop_back();
  EXPECT_TRUE(create_volume("v1", id, many, kMiB));
}

TEST(Volume, CreateRefusesAUsedLunNamingBoth) {
  LunRecord used[] = {lun(1)};
  used[0].set_volume("v0");
  const auto refused = create_volume("v1", test_uuid(0xaa), used, kMiB);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kBusy);
  EXPECT_THAT(refused.error().message, HasSubstr("LUN1"));
  EXPECT_THAT(refused.error().message, HasSubstr("v0"));
}

TEST(Volume, GrowAppendsASegment) {
  const VolumeRecord before = two_luns();
  const LunRecord present[] = {lun(2), lun(1)};
  const LunRecord added[] = {lun(3), lun(4)};
  const auto grown = grow_volume(before, present, added);
  ASSERT_TRUE(grown) << grown.error().message;
  EXPECT_EQ(grown->version(), 2u);
  ASSERT_EQ(grown->segments_size(), 2);
  EXPECT_EQ(grown->segments(0).SerializeAsString(), before.segments(0).SerializeAsString());
  EXPECT_EQ(grown->segments(1).begin(), volume_size_bytes(before));
  EXPECT_TRUE(validate_volume(*grown));
}

TEST(Volume, GrowRefusesBadInput) {
  const VolumeRecord before = two_luns();
  const LunRecord present[] = {lun(1), lun(2)};
  const LunRecord own[] = {lun(2)};
  const LunRecord coarse[] = {lun(3, kLunBytesMin, 4096)};
  const LunRecord fine[] = {lun(3)};
  EXPECT_EQ(code(grow_volume(before, present, own)), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code(grow_volume(before, present, coarse)), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code(grow_volume(before, own, fine)), ErrorCode::kNotFound);
  EXPECT_EQ(code(grow_volume(before, present, {})), ErrorCode::kInvalidArgument);
}

TEST(Volume, DamagedRecordsAreCorrupt) {
  const auto corrupt = [](auto damage) {
    VolumeRecord record = two_luns();
    damage(record);
    const Status status = validate_volume(record);
    return !status && status.error().code == ErrorCode::kCorrupt;
  };
  EXPECT_FALSE(corrupt([](VolumeRecord&) {}));
  EXPECT_TRUE(corrupt([](VolumeRecord& r) { r.set_name(""); }));
  EXPECT_TRUE(corrupt([](VolumeRecord& r) { r.set_uuid("short"); }));
  EXPECT_TRUE(corrupt([](VolumeRecord& r) { r.set_version(0); }));
  EXPECT_TRUE(corrupt([](VolumeRecord& r) { r.set_stripe_unit_bytes(12345); }));
  EXPECT_TRUE(corrupt([](VolumeRecord& r) { r.clear_segments(); }));
  EXPECT_TRUE(corrupt([](VolumeRecord& r) { r.mutable_segments(0)->set_begin(4096); }));
  EXPECT_TRUE(corrupt([](VolumeRecord& r) { r.mutable_segments(0)->set_bytes_per_lun(4096); }));
  EXPECT_TRUE(corrupt([](VolumeRecord& r) { r.mutable_segments(0)->clear_lun_uuids(); }));
  EXPECT_TRUE(corrupt([](VolumeRecord& r) { r.mutable_segments(0)->set_lun_uuids(0, "x"); }));
  EXPECT_TRUE(corrupt([](VolumeRecord& r) {
    r.mutable_segments(0)->set_lun_uuids(0, r.segments(0).lun_uuids(1));
  }));
}

}  // namespace
}  // namespace symnas::cvm
