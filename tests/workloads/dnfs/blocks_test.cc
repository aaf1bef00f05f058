// Blocks, what a process knows of them, issuers, jobs: what is wrong is found, what is right
// passes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/workloads/dnfs/issuer.h"

namespace symnas::dnfs {
namespace {

using ::testing::HasSubstr;

constexpr std::uint32_t kUnit = 512;
using Bytes = std::vector<char>;

class FileBlocksTest : public ::testing::Test {
 protected:
  FileBlocks blocks_of(std::uint64_t run, std::vector<std::uint32_t>& numbers) {
    return FileBlocks("/v/f", kUnit, run, numbers);
  }
  // Writes unit 2, and acknowledges it.
  Bytes write(FileBlocks& blocks, bool acknowledged = true) {
    Bytes data(kUnit);
    blocks.begin_write(2, data, 1);
    blocks.end_write(2, 1, acknowledged);
    return data;
  }
  Verdict judge(FileBlocks& blocks, const Bytes& data, std::uint64_t unit = 2) {
    return blocks.judge(unit, data, blocks.floor(unit));
  }

  std::vector<std::uint32_t> numbers_ = std::vector<std::uint32_t>(8);
  FileBlocks blocks_ = blocks_of(77, numbers_);
};

TEST_F(FileBlocksTest, WhatWasWrittenLastIsRightAndWhatWasBeforeIsLost) {
  const Bytes first = write(blocks_);
  EXPECT_EQ(judge(blocks_, first), Verdict::kRight);
  const Bytes second = write(blocks_);
  EXPECT_EQ(judge(blocks_, second), Verdict::kRight);
  EXPECT_EQ(judge(blocks_, first), Verdict::kLost);
  EXPECT_EQ(judge(blocks_, Bytes(kUnit)), Verdict::kLost) << "zeroes";
  EXPECT_EQ(judge(blocks_, {}), Verdict::kLost) << "the file is too short";
}

TEST_F(FileBlocksTest, AWriteUnderWayMayBeSeenOrNotButNotUnseenAgain) {
  const Bytes first = write(blocks_);
  Bytes second(kUnit);
  blocks_.begin_write(2, second, 1);
  EXPECT_TRUE(blocks_.writing(1, 2));
  EXPECT_EQ(judge(blocks_, first), Verdict::kRight);
  EXPECT_EQ(judge(blocks_, second), Verdict::kRight);
  EXPECT_EQ(judge(blocks_, first), Verdict::kLost);
  blocks_.end_write(2, 1, false);
  EXPECT_FALSE(blocks_.writing(0, 8));
}

TEST_F(FileBlocksTest, FindsOtherPlacesOtherProcessesAndTornBlocks) {
  Bytes data = write(blocks_);
  Bytes elsewhere = data;
  EXPECT_EQ(judge(blocks_, elsewhere, 3), Verdict::kMisplaced);
  std::vector<std::uint32_t> others(8);
  FileBlocks other = blocks_of(78, others);
  EXPECT_EQ(judge(blocks_, write(other)), Verdict::kForeign);
  EXPECT_EQ(judge(other, data), Verdict::kForeign);
  for (const std::size_t at : {std::size_t{0}, std::size_t{45}, std::size_t{kUnit - 1}}) {
    Bytes broken = data;
    broken[at] = static_cast<char>(broken[at] ^ 1);
    EXPECT_EQ(judge(blocks_, broken), Verdict::kTorn) << "byte " << at;
  }
}

TEST_F(FileBlocksTest, WhatThisProcessNeverWroteMayBeAnything) {
  std::vector<std::uint32_t> others(8);
  FileBlocks other = blocks_of(78, others);
  EXPECT_EQ(judge(blocks_, Bytes(kUnit)), Verdict::kRight);
  EXPECT_EQ(judge(blocks_, write(other)), Verdict::kRight);
  EXPECT_EQ(judge(blocks_, write(other)), Verdict::kRight);
  EXPECT_EQ(judge(blocks_, Bytes(kUnit, 'x')), Verdict::kRight) << "no block of ours at all";
  EXPECT_EQ(numbers_, std::vector<std::uint32_t>(8));
  Bytes torn = write(other);
  torn.back() = static_cast<char>(torn.back() ^ 1);
  EXPECT_EQ(judge(blocks_, torn), Verdict::kTorn) << "a block of somebody, but not whole";
}

TEST_F(FileBlocksTest, AGenerationThatWasNeverWrittenIsFound) {
  std::vector<std::uint32_t> others(8);
  FileBlocks twin = blocks_of(77, others);
  write(twin);
  const Bytes third = (write(twin), write(twin));
  write(blocks_);
  EXPECT_EQ(judge(blocks_, third), Verdict::kFuture);
}

TEST(JobTest, SaysWhatIsWrong) {
  const auto problem = [](const char* text) {
    const auto job = parse_job(text, "");
    return job ? std::string("accepted") : job.error().message;
  };
  EXPECT_THAT(problem("{"), HasSubstr("no JSON"));
  EXPECT_THAT(problem("{}"), HasSubstr("\"threads\""));
  EXPECT_THAT(problem(R"({"threads":[{"file":"/f"}]})"), HasSubstr("size_bytes is less"));
  EXPECT_THAT(problem(R"({"threads":[{"size_bytes":8192}]})"), HasSubstr("no file"));
  EXPECT_THAT(problem(R"({"threads":[{"file":"/f","size_bytes":8192,"dept":1}]})"),
              HasSubstr("unknown member \"dept\""));
  EXPECT_THAT(problem(R"({"threads":[{"file":"/f","size_bytes":8192,"block_bytes":2097152}]})"),
              HasSubstr("from 512 to 1048576"));
  EXPECT_THAT(problem(R"({"threads":[{"file":"/f","size_bytes":8192,"mode":"wrong"}]})"),
              HasSubstr("mode is \"wrong\""));
  EXPECT_THAT(problem(R"({"threads":[{"file":"/f","size_bytes":8192,"writers":2,"writer":2}]})"),
              HasSubstr("writer is not below writers"));
  EXPECT_EQ(problem(R"({"seconds":3,"threads":[{"file":"/f","size_bytes":8192}]})"), "accepted");
}

ThreadJob thread(Mode mode, std::uint64_t blocks, int depth) {
  ThreadJob job{.name = "t", .file = "/v/f", .mode = mode};
  job.block_bytes = 2 * kUnit;
  job.size_bytes = blocks * job.block_bytes;
  job.depth = depth;
  return job;
}

TEST(IssuerTest, WritesOnlyItsOwnBlocksAndEachOnceAtATime) {
  std::vector<std::uint32_t> numbers(32);
  FileBlocks blocks("/v/f", kUnit, 1, numbers);
  ThreadJob job = thread(Mode::kWrite, 16, 8);
  job.writers = 4;
  job.writer = 3;
  Issuer issuer(job, blocks);
  std::vector<std::uint64_t> seen;
  for (int i = 0; i < 200; ++i)
    if (const auto operation = issuer.next(1)) seen.push_back(operation->offset / 1024);
  EXPECT_THAT(seen, ::testing::UnorderedElementsAre(3, 7, 11, 15)) << "depth 8, four blocks";
}

TEST(IssuerTest, CreateEndsAfterEveryBlockAndVerifyReadsThemBack) {
  std::vector<std::uint32_t> numbers(8);
  FileBlocks blocks("/v/f", kUnit, 1, numbers);
  std::map<std::uint64_t, Bytes> file;
  Issuer create(thread(Mode::kCreate, 4, 2), blocks);
  while (const auto operation = create.next(5)) {
    file[operation->offset] = Bytes(operation->data.begin(), operation->data.end());
    EXPECT_FALSE(create.finish(operation->slot, 5, 100, ""));
  }
  EXPECT_TRUE(create.over());
  EXPECT_EQ(file.size(), 4u);
  EXPECT_EQ(create.counters().bytes, 4096u);
  file[1024] = file[2048];
  Issuer verify(thread(Mode::kVerify, 4, 2), blocks);
  while (const auto operation = verify.next(5)) {
    verify.take(operation->slot, file[operation->offset]);
    EXPECT_FALSE(verify.finish(operation->slot, 5, 100, ""));
  }
  EXPECT_TRUE(verify.over());
  EXPECT_EQ(verify.counters().corrupt, 2u) << "two units of a block";
  EXPECT_THAT(verify.counters().texts.at(0), HasSubstr("misplaced at 1024 of /v/f"));
}

TEST(IssuerTest, ATornBlockIsReadAgainThenItIsCorrupt) {
  std::vector<std::uint32_t> numbers(2);
  FileBlocks blocks("/v/f", kUnit, 1, numbers);
  Issuer issuer(thread(Mode::kSeqRead, 1, 1), blocks);
  auto operation = issuer.next(1);
  int reads = 0;
  Bytes torn(2 * kUnit);
  for (const std::size_t unit : {0, 1}) {
    const std::span<char> half = std::span(torn).subspan(unit * kUnit, kUnit);
    fill_block(half, {.file = file_id("/v/f"), .block = unit, .run = 2, .generation = 1});
    half.back() = static_cast<char>(half.back() ^ 1);
  }
  while (operation) {
    ++reads;
    issuer.take(operation->slot, torn);
    operation = issuer.finish(operation->slot, 2, 100, "");
  }
  EXPECT_EQ(reads, kReadAgainMax + 1);
  EXPECT_EQ(issuer.counters().corrupt, 2u);
  EXPECT_EQ(issuer.counters().ops, 1u);
}

TEST(IssuerTest, KeepsToItsRateAndItsPauses) {
  std::vector<std::uint32_t> numbers(32);
  FileBlocks blocks("/v/f", kUnit, 1, numbers);
  ThreadJob job = thread(Mode::kRead, 16, 1);
  job.rate_bytes_s = 10 * job.block_bytes;
  Issuer issuer(job, blocks);
  int begun = 0;
  for (std::int64_t now = 0; now < 3'000'000; now += 1000) {
    if (const auto operation = issuer.next(now)) {
      ++begun;
      issuer.finish(operation->slot, now, 100, "");
    }
  }
  EXPECT_NEAR(begun, 30, 1);
}

TEST(BlockStatesTest, AStateFileGoesOnWhereItWasAndKnowsItsJob) {
  char name[] = "/tmp/dnfs_state_XXXXXX";
  ASSERT_NE(::mkdtemp(name), nullptr);
  const std::string folder = name;
  Job job;
  job.threads.push_back(thread(Mode::kWrite, 4, 1));
  Bytes data(2 * kUnit);
  {
    const auto states = BlockStates::open(job, folder + "/state");
    ASSERT_TRUE(states) << states.error().message;
    EXPECT_FALSE((*states)->has_past(0));
    (*states)->file(0).begin_write(1, data, 1);
    (*states)->file(0).end_write(1, 1, true);
  }
  {
    const auto states = BlockStates::open(job, folder + "/state");
    ASSERT_TRUE(states) << states.error().message;
    EXPECT_TRUE((*states)->has_past(0));
    FileBlocks& file = (*states)->file(0);
    EXPECT_EQ(file.floor(1), 1u);
    EXPECT_EQ(file.judge(1, data, file.floor(1)), Verdict::kRight);
    EXPECT_EQ(file.judge(1, Bytes(2 * kUnit), file.floor(1)), Verdict::kLost);
  }
  job.threads[0].size_bytes *= 2;
  const auto other = BlockStates::open(job, folder + "/state");
  ASSERT_FALSE(other);
  EXPECT_THAT(other.error().message, HasSubstr("is of another job"));
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace symnas::dnfs
