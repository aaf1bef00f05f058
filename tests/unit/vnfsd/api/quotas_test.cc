#include "vnfsd/api/quotas.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace symnas::vnfsd::api {
namespace {

using nlohmann::json;

TEST(QuotaBodies, ALimitHasASubject) {
  const auto r = quota_request(
      json{{"kind", "user"}, {"id", 1000U}, {"bytes_hard", 4096U}, {"inodes_soft", 0U}},
      QuotaBody::kLimits);
  ASSERT_TRUE(r);
  EXPECT_EQ(r->subject, (fs::Subject{fs::SubjectKind::kUser, 1000}));
  EXPECT_EQ(r->edit.bytes_hard, 4096U);
  EXPECT_EQ(r->edit.inodes_soft, 0U);
  EXPECT_FALSE(r->edit.bytes_soft);
}

TEST(QuotaBodies, TheFilesystemHasNoId) {
  EXPECT_TRUE(quota_request(json{{"kind", "filesystem"}, {"bytes_hard", 1U}}, QuotaBody::kLimits));
  EXPECT_FALSE(quota_request(json{{"kind", "filesystem"}, {"id", 1U}, {"bytes_hard", 1U}},
                             QuotaBody::kLimits));
  EXPECT_FALSE(quota_request(json{{"kind", "user"}, {"bytes_hard", 1U}}, QuotaBody::kLimits));
}

TEST(QuotaBodies, WhatMakesNoSenseIsRefused) {
  const auto refused = [](const json& body, QuotaBody what) {
    const auto r = quota_request(body, what);
    return !r && r.error().code == ErrorCode::kInvalidArgument;
  };
  EXPECT_TRUE(refused(json::array(), QuotaBody::kLimits));
  EXPECT_TRUE(refused({{"kind", "user"}, {"id", 1U}}, QuotaBody::kLimits));
  EXPECT_TRUE(refused({{"kind", "dog"}, {"id", 1U}, {"bytes_hard", 1U}}, QuotaBody::kLimits));
  EXPECT_TRUE(refused({{"kind", "user"}, {"id", 1U}, {"bytes_hard", -1}}, QuotaBody::kLimits));
  EXPECT_TRUE(
      refused({{"kind", "user"}, {"id", 1ULL << 32}, {"bytes_hard", 1U}}, QuotaBody::kLimits));
  EXPECT_TRUE(refused({{"kind", "user"}, {"id", 1U}, {"bytes", 1U}}, QuotaBody::kLimits));
  EXPECT_TRUE(refused({{"kind", "user"}, {"id", 1U}, {"bytes_hard", 1U}}, QuotaBody::kSubject));
}

TEST(QuotaBodies, ATreeIsNamedByPathOrNumber) {
  const auto tree = [](json body) {
    body["kind"] = "tree";
    return quota_request(body, QuotaBody::kSubject);
  };
  EXPECT_EQ(tree({{"path", "/a"}})->path, "/a");
  EXPECT_EQ(tree({{"id", 3U}})->subject, (fs::Subject{fs::SubjectKind::kTree, 3}));
  EXPECT_FALSE(tree(json::object()));
  EXPECT_FALSE(tree({{"path", "/a"}, {"id", 3U}}));
  EXPECT_FALSE(tree({{"path", "a"}}));
  EXPECT_FALSE(tree({{"path", ""}}));
  EXPECT_FALSE(tree({{"path", "/" + std::string(4096, 'x')}}));
  EXPECT_FALSE(tree({{"path", 3}}));
  EXPECT_FALSE(quota_request({{"kind", "user"}, {"path", "/a"}}, QuotaBody::kSubject));
  EXPECT_FALSE(quota_request({{"kind", "tree"}, {"path", "/a"}}, QuotaBody::kLimits));
  EXPECT_TRUE(
      quota_request({{"kind", "tree"}, {"path", "/a"}, {"bytes_hard", 1U}}, QuotaBody::kLimits));
}

TEST(QuotaBodies, EachUserAndEachGroupHaveNoId) {
  const auto r = quota_request({{"kind", "each_user"}, {"bytes_hard", 1U}}, QuotaBody::kLimits);
  ASSERT_TRUE(r);
  EXPECT_EQ(r->subject, (fs::Subject{fs::SubjectKind::kEachUser, 0}));
  EXPECT_TRUE(quota_request({{"kind", "each_group"}}, QuotaBody::kSubject));
  EXPECT_FALSE(quota_request({{"kind", "each_user"}, {"id", 1U}}, QuotaBody::kSubject));
  EXPECT_FALSE(quota_request({{"kind", "each_user"}, {"path", "/a"}}, QuotaBody::kSubject));
}

TEST(QuotaBodies, TreesAreAddedByPath) {
  EXPECT_EQ(*quota_tree_path({{"path", "/a"}}), "/a");
  EXPECT_FALSE(quota_tree_path({{"id", 1U}}));
  EXPECT_FALSE(quota_tree_path(json::object()));
  EXPECT_FALSE(quota_tree_path(json::array()));
  EXPECT_EQ(quota_tree_request({{"path", "/a"}})->path, "/a");
  EXPECT_EQ(quota_tree_request({{"id", 1U}})->subject, (fs::Subject{fs::SubjectKind::kTree, 1}));
  EXPECT_FALSE(quota_tree_request({{"kind", "tree"}, {"id", 1U}}));
  EXPECT_FALSE(quota_tree_request(json::object()));
}

TEST(QuotaBodies, ASwitchIsOnOrOff) {
  EXPECT_EQ(*quota_switch({{"state", "on"}}), fs::QuotaSwitch::kOn);
  EXPECT_EQ(*quota_switch({{"state", "off"}}), fs::QuotaSwitch::kOff);
  EXPECT_FALSE(quota_switch({{"state", "counting"}}));
  EXPECT_FALSE(quota_switch({{"state", "on"}, {"more", 1}}));
}

TEST(QuotasDocument, SaysWhatIsUsedAndWhatIsLeftOfAGrace) {
  fs::QuotaReport report;
  report.mode.set_state(fs::records::QuotaMode::ON);
  auto& row = report.rows[{fs::SubjectKind::kUser, 7}];
  row.used = {2, 3};
  row.limit.emplace();
  row.limit->set_bytes_soft(4096);
  row.limit->set_bytes_grace_s(100);
  row.grace.set_bytes_since_ns(1'000'000'000);
  const json document = quotas_document("u04", 4096, report, std::int64_t{41'000'000'000});
  EXPECT_EQ(document["state"], "on");
  const json& one = document["quotas"][0];
  EXPECT_EQ(one["kind"], "user");
  EXPECT_EQ(one["used_bytes"], 8192);
  EXPECT_EQ(one["used_inodes"], 3);
  EXPECT_EQ(one["limit"]["bytes_soft"], 4096U);
  EXPECT_EQ(one["bytes_grace_left_s"], 60);
  EXPECT_FALSE(one.contains("inodes_grace_left_s"));
}

TEST(QuotasDocument, ATreeHasItsPathAndSaysWhetherItIsMarked) {
  fs::QuotaReport report;
  report.rows[{fs::SubjectKind::kTree, 1}];
  report.trees[1].set_path("/a");
  report.rows[{fs::SubjectKind::kTree, 2}];
  report.trees[2].set_path("/b");
  report.trees[2].set_state(fs::records::QuotaTree::READY);
  const json rows = quotas_document("u04", 4096, report, 1)["quotas"];
  EXPECT_EQ(rows[0]["path"], "/a");
  EXPECT_EQ(rows[0]["marking"], true);
  EXPECT_EQ(rows[1]["marking"], false);
}

TEST(QuotasDocument, SaysWhoseLimitIsThatOfEach) {
  fs::QuotaReport report;
  report.rows[{fs::SubjectKind::kUser, 7}].limit.emplace();
  report.rows[{fs::SubjectKind::kUser, 8}] = {{}, fs::records::QuotaLimit(), true, {}};
  const json rows = quotas_document("u04", 4096, report, 1)["quotas"];
  EXPECT_FALSE(rows[0].contains("limit_of_each"));
  EXPECT_EQ(rows[1]["limit_of_each"], true);
}

}  // namespace
}  // namespace symnas::vnfsd::api
