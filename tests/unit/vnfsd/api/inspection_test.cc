#include "vnfsd/api/inspection.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace symnas::vnfsd::api {
namespace {

using nlohmann::json;

TEST(Inspection, CheckTellsObjectAndPathOfAFinding) {
  fs::check::Report report;
  report.filesystem = "u04";
  report.revision = Revision{9};
  report.block_bytes = 4096;
  report.summary.used_blocks = 3;
  report.total = 2;
  report.findings = {{fs::check::Kind::kLinks, Ino{17}, "nlink is 2, 1 name leads to it"},
                     {fs::check::Kind::kStamp, Ino{0}, "there is no stamp"}};
  report.paths[17] = "/a";
  const json document = check_document(report, 12);
  EXPECT_EQ(document["findings"][0],
            (json{{"kind", "links"},
                  {"ino", 17},
                  {"path", "/a"},
                  {"text", "/a (inode 17): nlink is 2, 1 name leads to it"}}));
  EXPECT_EQ(document["findings"][1], (json{{"kind", "stamp"}, {"text", "there is no stamp"}}));
  EXPECT_EQ(document["bytes_used"], 12288);
  EXPECT_EQ(document["took_ms"], 12);
}

TEST(Inspection, DumpTellsWhereOnWhichLun) {
  fs::check::InodeDump dump;
  dump.ino = Ino{17};
  dump.block_bytes = 4096;
  dump.inode.set_type(1);
  fs::check::DumpedExtent extent;
  extent.file_block = 2;
  extent.volume_block = 100;
  extent.blocks = 2;
  extent.written_blocks = 1;
  extent.pieces = {
      {cvm::LunPosition{LunIndex{1}, LunOffset{1 << 20}}, VolumeOffset{100 * 4096}, 4096},
      {cvm::LunPosition{LunIndex{0}, LunOffset{2 << 20}}, VolumeOffset{101 * 4096}, 4096}};
  dump.extents.push_back(extent);
  const json document = dump_document(dump, {{"LUN0", "/dev/sda"}, {"LUN1", ""}});
  const json& pieces = document["extents"][0]["pieces"];
  EXPECT_EQ(pieces[0]["lun"], "LUN1");
  EXPECT_EQ(pieces[0]["lun_byte"], 1 << 20);
  EXPECT_EQ(pieces[0]["file_byte"], 8192);
  EXPECT_EQ(pieces[1]["lun_path"], "/dev/sda");
  EXPECT_EQ(pieces[1]["file_byte"], 12288);
}

CapacityFacts facts_of(std::uint64_t files) {
  CapacityFacts facts;
  FilesystemUse use;
  use.name = "u04";
  use.bytes_total = 1 << 30;
  use.block_bytes = 4096;
  use.summary.files = files;
  use.summary.bytes = files * 400;
  use.summary.used_blocks = 1024;
  facts.filesystems.push_back(use);
  kv::MemberStatus member;
  member.reachable = true;
  member.db_size_bytes = std::int64_t{1} << 30;
  member.db_in_use_bytes = static_cast<std::int64_t>(files) * 1000;
  facts.members.push_back(member);
  facts.quota_bytes = std::uint64_t{8} << 30;
  facts.instances.push_back({"vnfs1", 42, 50 << 20});
  return facts;
}

TEST(Inspection, CapacityJudgesByTheFilesThereAre) {
  const json document = capacity_document(facts_of(100'000));
  const json& use = document["filesystems"][0];
  EXPECT_EQ(use["bytes_used"], 1024 * 4096);
  EXPECT_EQ(use["bytes_free"], (1 << 30) - 1024 * 4096);
  EXPECT_EQ(use["etcd_bytes_per_file"], 400);
  EXPECT_EQ(use["etcd_db_bytes_per_file"], 1000);
  EXPECT_EQ(use["files_fit"], ((std::uint64_t{8} << 30) - 100'000'000) / 1000);
  EXPECT_NEAR(document["etcd"]["share_used"].get<double>(), 0.125, 0.001);
  EXPECT_EQ(document["instances"][0]["resident_bytes"], 50 << 20);
}

TEST(Inspection, CapacityTellsWhatACachedInodeCosts) {
  CapacityFacts facts = facts_of(3);
  facts.instances[0].idle_resident_bytes = 30 << 20;
  facts.instances[0].cached_inodes = 100;
  EXPECT_FALSE(capacity_document(facts)["instances"][0].contains("bytes_per_cached_inode"));
  facts.instances[0].cached_inodes = 20480;
  EXPECT_EQ(capacity_document(facts)["instances"][0]["bytes_per_cached_inode"], 1024);
}

TEST(Inspection, CapacityOfAnAlmostEmptyFilesystemUsesTheUsualCost) {
  const json document = capacity_document(facts_of(3));
  EXPECT_GT(document["filesystems"][0]["files_fit"].get<std::uint64_t>(), 4'000'000u);
  EXPECT_LT(document["filesystems"][0]["files_fit"].get<std::uint64_t>(), 9'000'000u);
}

}  // namespace
}  // namespace symnas::vnfsd::api
