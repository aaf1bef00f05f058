#include "fsal_cluster/schema/handle.h"

#include <gtest/gtest.h>

#include "common/base/bytes.h"
#include "common/env/random.h"

namespace symnas::fs {
namespace {

const Handle kHandle{FsId{7}, Ino{0x1234}, Generation{42}};

// The example of docs/formats/handle.md.
TEST(HandleTest, EncodesAsDocumented) {
  EXPECT_EQ(to_hex(encode_handle(kHandle)),
            "0101000000070000000000001234000000000000002a"
            "ed440103");
}

TEST(HandleTest, DecodesWhatItEncoded) {
  const auto decoded = decode_handle(encode_handle(kHandle), FsId{7});
  ASSERT_TRUE(decoded) << decoded.error().message;
  EXPECT_EQ(*decoded, kHandle);
}

TEST(HandleTest, EveryFlippedBitIsRefused) {
  const std::string wire = encode_handle(kHandle);
  for (std::size_t bit = 0; bit < wire.size() * 8; ++bit) {
    std::string bad = wire;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << (bit % 8)));
    const auto decoded = decode_handle(bad, FsId{7});
    ASSERT_FALSE(decoded) << "bit " << bit;
    EXPECT_EQ(decoded.error().code, ErrorCode::kBadHandle) << "bit " << bit;
  }
}

TEST(HandleTest, RandomBytesOfAnyLengthAreBadHandles) {
  env::SeededRandom random(1);
  for (std::size_t size = 0; size <= 64; ++size) {
    std::string bytes;
    for (std::size_t i = 0; i < size; ++i) bytes.push_back(static_cast<char>(random.next()));
    const auto decoded = decode_handle(bytes, FsId{7});
    ASSERT_FALSE(decoded);
    EXPECT_EQ(decoded.error().code, ErrorCode::kBadHandle);
  }
}

TEST(HandleTest, AnotherFilesystemIsStale) {
  const auto decoded = decode_handle(encode_handle(kHandle), FsId{8});
  ASSERT_FALSE(decoded);
  EXPECT_EQ(decoded.error().code, ErrorCode::kStale);
}

TEST(HandleTest, InodeNumberZeroIsNeverOurs) {
  const auto decoded =
      decode_handle(encode_handle(Handle{FsId{7}, Ino{0}, Generation{1}}), FsId{7});
  ASSERT_FALSE(decoded);
  EXPECT_EQ(decoded.error().code, ErrorCode::kBadHandle);
}

}  // namespace
}  // namespace symnas::fs
