#include "vnfsd/plans/keytab.h"

#include <gtest/gtest.h>

#include "vnfsd/plans/limits.h"

namespace symnas::vnfsd {
namespace {

std::string number(std::uint64_t value, int size) {
  std::string out;
  for (int shift = 8 * size - 8; shift >= 0; shift -= 8)
    out += static_cast<char>(value >> shift & 0xff);
  return out;
}

std::string counted(const std::string& text) { return number(text.size(), 2) + text; }

// The bytes of an entry nfs/NAME@REALM, as ktadd writes it.
std::string entry_of(const std::string& name, const std::string& realm, std::uint32_t kvno,
                     std::uint16_t enctype) {
  return number(2, 2) + counted(realm) + counted("nfs") + counted(name) + number(1, 4) +
         number(1'700'000'000, 4) + number(kvno, 1) + number(enctype, 2) +
         counted(std::string(32, 'k')) + number(kvno, 4);
}

std::string file_of(const std::vector<std::string>& entries) {
  std::string file("\x05\x02");
  for (const std::string& entry : entries) file += number(entry.size(), 4) + entry;
  return file;
}

std::vector<KeytabEntry> keys(const std::vector<std::string>& entries) {
  auto parsed = parse_keytab(file_of(entries));
  EXPECT_TRUE(parsed) << parsed.error().message;
  return parsed.value_or(std::vector<KeytabEntry>());
}

TEST(Keytab, IsParsedAndWrittenAgain) {
  const std::string file = file_of({entry_of("vnfs1.example.org", "EXAMPLE.ORG", 300, 18),
                                    entry_of("vnfs1.example.org", "EXAMPLE.ORG", 300, 17)});
  const auto entries = parse_keytab(file);
  ASSERT_TRUE(entries) << entries.error().message;
  ASSERT_EQ(entries->size(), 2U);
  EXPECT_EQ(entries->at(0).principal, "nfs/vnfs1.example.org@EXAMPLE.ORG");
  EXPECT_EQ(entries->at(0).kvno, 300U);
  EXPECT_EQ(entries->at(1).enctype, 17);
  EXPECT_EQ(keytab_file(*entries), file);
}

TEST(Keytab, RemovedEntriesAreSkipped) {
  const std::string file = file_of({entry_of("vnfs1", "R", 2, 18)});
  const std::string hole = number(0xfffffff6, 4) + std::string(10, 'x');
  EXPECT_EQ(parse_keytab(file + hole)->size(), 1U);
}

TEST(Keytab, EveryCutAndOtherFilesAreRefused) {
  const std::string file = file_of({entry_of("vnfs1", "R", 2, 18)});
  for (std::size_t size = 0; size < file.size(); ++size) {
    const auto entries = parse_keytab(file.substr(0, size));
    EXPECT_TRUE(!entries || entries->empty()) << size;
  }
  EXPECT_FALSE(parse_keytab("-----BEGIN PRIVATE KEY-----"));
  EXPECT_FALSE(parse_keytab(std::string("\x05\x01", 2)));
  EXPECT_FALSE(parse_keytab(file_of({entry_of("vnfs1\n", "R", 2, 18)})));
  EXPECT_FALSE(parse_keytab(std::string("\x05\x02", 2) + number(0x80000000, 4)));
  EXPECT_FALSE(parse_keytab(std::string("\x05\x02", 2) + std::string(70'000, 'x')));
  // What it says never holds a key.
  for (std::size_t size = 20; size < file.size(); ++size) {
    const auto entries = parse_keytab(file.substr(0, size));
    const std::string said = entries ? "" : entries.error().message;
    EXPECT_EQ(said.find("kkkk"), std::string::npos);
  }
}

TEST(Keytab, HasToBeOfTheVnfs) {
  EXPECT_TRUE(check_keytab(keys({entry_of("vnfs1", "R", 2, 18)}), "vnfs1"));
  EXPECT_TRUE(check_keytab(keys({entry_of("vnfs1.x.org", "R", 2, 20)}), "vnfs1"));
  EXPECT_FALSE(check_keytab({}, "vnfs1"));
  for (const char* name : {"vnfs10", "vnfs", "vnfs2.x.org", "x.vnfs1"})
    EXPECT_FALSE(check_keytab(keys({entry_of(name, "R", 2, 18)}), "vnfs1")) << name;
  EXPECT_FALSE(
      check_keytab(keys({entry_of("vnfs1", "R", 2, 18), entry_of("vnfs2", "R", 2, 18)}), "vnfs1"));
  EXPECT_FALSE(
      check_keytab(keys({entry_of("vnfs1", "R", 2, 18), entry_of("vnfs1", "Q", 2, 18)}), "vnfs1"));
  EXPECT_FALSE(check_keytab(keys({entry_of("vnfs1", "", 2, 18)}), "vnfs1"));
}

TEST(Keytab, TheNewestKeysHaveToBeStrong) {
  for (const int weak : {1, 3, 16, 23})
    EXPECT_FALSE(check_keytab(keys({entry_of("vnfs1", "R", 2, 18),
                                    entry_of("vnfs1", "R", 3, static_cast<std::uint16_t>(weak))}),
                              "vnfs1"));
  EXPECT_TRUE(
      check_keytab(keys({entry_of("vnfs1", "R", 3, 23), entry_of("vnfs1", "R", 3, 17)}), "vnfs1"));
}

TEST(Keytab, TheFormerKeysCount) {
  const auto many = [](std::uint32_t kvno) {
    return keys(std::vector<std::string>(kKeytabEntriesMax / 2 + 1, entry_of("a", "R", kvno, 18)));
  };
  EXPECT_TRUE(check_size(many(3)));
  const auto all = with_former_keys(many(3), many(2));
  EXPECT_EQ(all.size(), kKeytabEntriesMax + 2);
  EXPECT_EQ(check_size(all).error().code, ErrorCode::kInvalidArgument);
  EXPECT_FALSE(parse_keytab(keytab_file(all)));
}

TEST(Keytab, ADomainOfOwnersIsANameInDns) {
  EXPECT_EQ(parse_owner_domain("Example.COM").value_or("?"), "example.com");
  EXPECT_EQ(parse_owner_domain("").value_or("?"), "");
  for (const char* text : {"a@b", "a b", ".a", "a.", "a..b", "a/b"})
    EXPECT_EQ(parse_owner_domain(text).error().code, ErrorCode::kInvalidArgument) << text;
  EXPECT_FALSE(parse_owner_domain(std::string(256, 'a')));
}

TEST(Keytab, TheFormerKvnoIsKept) {
  const auto kvnos = [](const std::vector<KeytabEntry>& entries) {
    std::string out;
    for (const KeytabEntry& entry : entries) out += std::to_string(entry.kvno) + " ";
    return out;
  };
  const auto before = keys({entry_of("vnfs1", "R", 2, 18), entry_of("vnfs1", "R", 3, 18),
                            entry_of("vnfs1.x", "R", 9, 18)});
  EXPECT_EQ(kvnos(with_former_keys(keys({entry_of("vnfs1", "R", 4, 18)}), before)), "4 3 ");
  // Of the same kvno: another key in its place.
  EXPECT_EQ(kvnos(with_former_keys(keys({entry_of("vnfs1", "R", 3, 18)}), before)), "3 2 ");
  // The new one has a former kvno itself.
  EXPECT_EQ(kvnos(with_former_keys(
                keys({entry_of("vnfs1", "R", 5, 18), entry_of("vnfs1", "R", 4, 18)}), before)),
            "5 4 ");
  EXPECT_EQ(kvnos(with_former_keys(keys({entry_of("vnfs1", "R", 1, 18)}), before)), "1 ");
}

}  // namespace
}  // namespace symnas::vnfsd
