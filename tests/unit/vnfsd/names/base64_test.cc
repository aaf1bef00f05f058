#include "vnfsd/names/base64.h"

#include <gtest/gtest.h>

namespace symnas::vnfsd {
namespace {

// RFC 4648, section 10.
TEST(Base64, TheVectorsOfTheRfc) {
  const std::pair<const char*, const char*> kVectors[] = {{"", ""},
                                                          {"f", "Zg=="},
                                                          {"fo", "Zm8="},
                                                          {"foo", "Zm9v"},
                                                          {"foob", "Zm9vYg=="},
                                                          {"fooba", "Zm9vYmE="},
                                                          {"foobar", "Zm9vYmFy"}};
  for (const auto& [bytes, text] : kVectors) {
    EXPECT_EQ(to_base64(bytes), text);
    EXPECT_EQ(from_base64(text).value_or("?"), bytes);
  }
}

TEST(Base64, EveryByteComesBack) {
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes += static_cast<char>(i);
  for (std::size_t size = 0; size <= bytes.size(); ++size)
    EXPECT_EQ(from_base64(to_base64(bytes.substr(0, size))).value_or("?"), bytes.substr(0, size));
}

TEST(Base64, OtherTextsAreNone) {
  for (const char* text : {"Z", "Zg=", "Zm9v\n", "Zm 9", "====", "Zg==Zg==", "Z=g=", "Zm9-"})
    EXPECT_FALSE(from_base64(text)) << text;
}

}  // namespace
}  // namespace symnas::vnfsd
