#include "vnfsd/api/login.h"

#include <gtest/gtest.h>

namespace symnas::vnfsd::api {
namespace {

TEST(Login, TheKernelsTextIsANumberOrNobody) {
  EXPECT_EQ(parse_login_uid("1000"), "1000");
  EXPECT_EQ(parse_login_uid("0\n"), "0");
  for (const char* text : {"", "4294967295", "4294967296", "-1", "10x", "root"})
    EXPECT_EQ(parse_login_uid(text), "") << text;
}

TEST(Login, AProcessThatIsGoneIsNobody) { EXPECT_EQ(login_uid_of(-1), ""); }

}  // namespace
}  // namespace symnas::vnfsd::api
