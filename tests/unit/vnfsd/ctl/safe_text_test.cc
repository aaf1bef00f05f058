#include "vnfsd/ctl/safe_text.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace symnas::vnfsd::ctl {
namespace {

std::string safe(std::string_view text) { return safe_text(text, Charset::kUtf8); }

TEST(SafeText, LeavesTextAsItIs) {
  EXPECT_EQ(safe("plain, G\xc3\xb6ttingen\n\t\xe6\x97\xa5\xe6\x9c\xac \xf0\x9f\x98\x80"),
            "plain, G\xc3\xb6ttingen\n\t\xe6\x97\xa5\xe6\x9c\xac \xf0\x9f\x98\x80");
}

TEST(SafeText, ShowsWhatATerminalWouldObey) {
  EXPECT_EQ(safe("\x1b[2J\x1b]0;title\x07"), "\\x1b[2J\\x1b]0;title\\x07");
  EXPECT_EQ(safe("a\rb\x08\x7f"),
            "a\\x0d"
            "b\\x08\\x7f");
  EXPECT_EQ(safe("\xc2\x9b"
                 "31m"),
            "\\x9b"
            "31m");  // CSI as one character (C1)
  EXPECT_EQ(safe(std::string_view("\0", 1)), "\\x00");
  EXPECT_EQ(safe("\xe2\x80\xae"
                 "cod"),
            "\\u{202e}cod");  // right to left
}

TEST(SafeText, ShowsBytesThatAreNoUtf8) {
  EXPECT_EQ(safe("caf\xe9"), "caf\\xe9");
  EXPECT_EQ(safe("\xc0\x9b"), "\\xc0\\x9b");           // overlong
  EXPECT_EQ(safe("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // a surrogate
  EXPECT_EQ(safe("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");
  EXPECT_EQ(safe("cut \xe6\x97"), "cut \\xe6\\x97");
}

TEST(SafeText, WithoutUtf8OnlyAsciiIsShown) {
  EXPECT_EQ(safe_text("G\xc3\xb6ttingen", Charset::kAscii), "G\\u{00f6}ttingen");
}

TEST(SafeText, CleansWholeDocuments) {
  const nlohmann::json document = {{"a\x1b", {"\x1b", {{"b", "\x9b"}}}}, {"n", 5}};
  EXPECT_EQ(safe_document(document, Charset::kUtf8),
            (nlohmann::json{{"a\\x1b", {"\\x1b", {{"b", "\\x9b"}}}}, {"n", 5}}));
}

TEST(SafeText, KnowsTheWidthOfCharacters) {
  EXPECT_EQ(width_of("abc"), 3u);
  EXPECT_EQ(width_of("\xc3\xb6"), 1u);
  EXPECT_EQ(width_of("\xe6\x97\xa5"), 2u);
  EXPECT_EQ(width_of("e\xcc\x81"), 1u);  // a combining accent
}

TEST(SafeText, CutsAtColumnsAndEndsColours) {
  EXPECT_EQ(cut_to("abcdef", 3), "abc");
  EXPECT_EQ(cut_to("\xe6\x97\xa5\xe6\x9c\xac", 3), "\xe6\x97\xa5");
  EXPECT_EQ(cut_to("\x1b[32mserving\x1b[0m x", 4), "\x1b[32mserv\x1b[0m");
  EXPECT_EQ(cut_to("\x1b[32mab\x1b[0m", 4), "\x1b[32mab\x1b[0m");
}

}  // namespace
}  // namespace symnas::vnfsd::ctl
