#include "fsal_cluster/schema/dirent.h"

#include <gtest/gtest.h>

#include "fsal_cluster/types/limits.h"

namespace symnas::fs {
namespace {

ErrorCode code_of(const Status& status) {
  return status ? ErrorCode::kInternal : status.error().code;
}

TEST(DirentTest, NamesThatMayNotBeCreated) {
  EXPECT_EQ(code_of(check_name("")), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code_of(check_name(".")), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code_of(check_name("..")), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code_of(check_name("a/b")), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code_of(check_name(std::string_view("a\0b", 3))), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code_of(check_name(std::string(256, 'n'))), ErrorCode::kNameTooLong);
}

TEST(DirentTest, NamesThatMayBeCreated) {
  for (const std::string& name :
       {std::string("a"), std::string("..."), std::string("\xff\xfe\n"), std::string(255, 'n')})
    EXPECT_TRUE(check_name(name)) << name;
}

TEST(DirentTest, AFreedSlotIsTakenAgainAndTheOthersStay) {
  records::DirentBucket bucket;
  for (const char* name : {"a", "b", "c"})
    ASSERT_TRUE(add_entry(bucket, name, Ino{20}, FileType::kRegular));
  remove_entry(bucket, "b");
  EXPECT_EQ(find_entry(bucket, "b"), nullptr);
  EXPECT_EQ(find_entry(bucket, "c")->slot(), 2u);
  ASSERT_TRUE(add_entry(bucket, "d", Ino{21}, FileType::kDirectory));
  EXPECT_EQ(find_entry(bucket, "d")->slot(), 1u);
  EXPECT_EQ(find_entry(bucket, "d")->type(), 2u);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(bucket.entries(i).slot(), static_cast<unsigned>(i));
}

TEST(DirentTest, ReplacingKeepsTheSlot) {
  records::DirentBucket bucket;
  ASSERT_TRUE(add_entry(bucket, "a", Ino{20}, FileType::kRegular));
  ASSERT_TRUE(add_entry(bucket, "b", Ino{21}, FileType::kRegular));
  replace_entry(bucket, "b", Ino{30}, FileType::kSymlink);
  EXPECT_EQ(find_entry(bucket, "b")->ino(), 30u);
  EXPECT_EQ(find_entry(bucket, "b")->type(), 3u);
  EXPECT_EQ(find_entry(bucket, "b")->slot(), 1u);
}

TEST(DirentTest, AFullBucketIsRefusedWithAMessage) {
  records::DirentBucket bucket;
  for (std::size_t i = 0; i < kBucketEntriesMax; ++i)
    ASSERT_TRUE(add_entry(bucket, "n" + std::to_string(i), Ino{20 + i}, FileType::kRegular));
  const Status full = add_entry(bucket, "one more", Ino{999}, FileType::kRegular);
  ASSERT_EQ(code_of(full), ErrorCode::kNoSpace);
  EXPECT_NE(full.error().message.find("one more"), std::string::npos);
  EXPECT_EQ(bucket.entries_size(), 256);
}

}  // namespace
}  // namespace symnas::fs
