#include "vnfsd/jobs/jobs.h"

#include <filesystem>
#include <fstream>
#include <future>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "vnfsd/jobs/limits.h"

namespace symnas::vnfsd {
namespace {

using nlohmann::json;

class JobsTest : public ::testing::Test {
 protected:
  JobsTest() {
    char name[] = "/tmp/jobs_test.XXXXXX";
    directory_ = ::mkdtemp(name);
  }
  ~JobsTest() override { std::filesystem::remove_all(directory_); }

  static JobRecord check() {
    JobRecord job;
    job.kind = "checkFilesystem";
    job.what = "fs u04";
    job.by = "root";
    job.role = "operator";
    return job;
  }
  // The job when it has ended; waits for its thread.
  JobRecord ended(std::uint64_t id) {
    for (;;) {
      const auto job = jobs_->one(id);
      if (!job || job->state != "running") return job.value();
      std::this_thread::yield();
    }
  }
  std::uint64_t start(Work work) { return jobs_->start(check(), std::move(work))->id; }
  // As if vnfsd started anew.
  void restart() {
    jobs_.reset();
    jobs_ = std::make_unique<Jobs>(directory_, env::system_clock());
  }

  std::string directory_;
  std::unique_ptr<Jobs> jobs_;
};

// Ends when it is cancelled.
Result<json> until_cancelled(Progress& progress) {
  while (!progress.is_cancelled()) std::this_thread::yield();
  return cancelled("fs u04");
}

TEST_F(JobsTest, ResultsAndErrorsAreKeptOverARestart) {
  restart();
  const auto good = start([](Progress& progress) -> Result<json> {
    progress.tell(0.5, "half of it");
    return json{{"findings", 0}};
  });
  const auto bad =
      start([](Progress&) -> Result<json> { return fail(ErrorCode::kUnavailable, "etcd: away"); });
  EXPECT_EQ(ended(good).state, "done");
  EXPECT_EQ(ended(bad).state, "failed");
  restart();
  EXPECT_EQ(ended(good).result, (json{{"findings", 0}}));
  EXPECT_EQ(ended(bad).error->code, ErrorCode::kUnavailable);
  EXPECT_EQ(ended(bad).error->message, "etcd: away");
  EXPECT_EQ(jobs_->all().size(), 2u);
  EXPECT_GT(start(until_cancelled), bad);
}

TEST_F(JobsTest, WhatNobodyHasFinishedWasInterrupted) {
  restart();
  const auto id = start([](Progress&) -> Result<json> { return json::object(); });
  JobRecord left = ended(id);
  left.state = "running";
  left.result = nullptr;
  left.ended_ns = 0;
  jobs_.reset();
  std::ofstream(directory_ + "/1.json") << job_document(left, Detail::kWhole);
  std::ofstream(directory_ + "/2.json") << "{ torn";
  restart();
  EXPECT_EQ(ended(id).state, "interrupted");
  EXPECT_NE(ended(id).error->message.find("vnfsd ended in the middle"), std::string::npos);
  EXPECT_EQ(jobs_->all().size(), 1u);
}

TEST_F(JobsTest, WorkIsCancelledOnRequestAndWhenVnfsdEnds) {
  restart();
  const auto asked = start(until_cancelled);
  ASSERT_TRUE(jobs_->cancel(asked));
  EXPECT_EQ(ended(asked).state, "cancelled");
  EXPECT_EQ(jobs_->cancel(asked).error().code, ErrorCode::kConflict);
  EXPECT_EQ(jobs_->cancel(99).error().code, ErrorCode::kNotFound);
  const auto left = start(until_cancelled);
  restart();
  EXPECT_EQ(ended(left).state, "interrupted");
}

TEST_F(JobsTest, WhatIsCommittedIsNotCancelledAndTheOtherWayRound) {
  restart();
  std::promise<void> committed, go;
  const auto id = start([&](Progress& progress) -> Result<json> {
    EXPECT_TRUE(progress.commit("the head may be off already"));
    committed.set_value();
    go.get_future().wait();
    EXPECT_FALSE(progress.is_cancelled());
    return json::object();
  });
  committed.get_future().wait();
  const auto refused = jobs_->cancel(id);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kBusy);
  EXPECT_NE(refused.error().message.find("may be off already"), std::string::npos);
  go.set_value();
  EXPECT_EQ(ended(id).state, "done");
  const auto late = start([](Progress& progress) -> Result<json> {
    while (!progress.is_cancelled()) std::this_thread::yield();
    SYMNAS_TRY(progress.commit("too late"));
    return json::object();
  });
  ASSERT_TRUE(jobs_->cancel(late));
  EXPECT_EQ(ended(late).state, "cancelled");
}

TEST_F(JobsTest, AreBounded) {
  restart();
  for (std::size_t i = 0; i < kJobsRunning; ++i) start(until_cancelled);
  EXPECT_EQ(jobs_->start(check(), until_cancelled).error().code, ErrorCode::kBusy);
  for (const JobRecord& job : jobs_->all()) {
    ASSERT_TRUE(jobs_->cancel(job.id));
    ended(job.id);
  }
  const auto quick = [](Progress&) -> Result<json> { return json::object(); };
  for (std::size_t i = 0; i < kJobsKept; ++i) {
    auto started = jobs_->start(check(), quick);
    while (!started) started = jobs_->start(check(), quick);  // the one before ends just now
    ended(started->id);
  }
  EXPECT_EQ(jobs_->all().size(), kJobsKept);
  EXPECT_EQ(jobs_->one(1).error().code, ErrorCode::kNotFound);
  EXPECT_FALSE(std::filesystem::exists(directory_ + "/1.json"));
}

TEST_F(JobsTest, ADocumentWithoutAMemberIsCorrupt) {
  JobRecord job = check();
  job.share = 0.25;
  json document = job_document(job, Detail::kShort);
  EXPECT_EQ(job_from_document(document)->share, 0.25);
  document.erase("state");
  EXPECT_EQ(job_from_document(document).error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(job_from_document(json::array()).error().code, ErrorCode::kCorrupt);
}

TEST_F(JobsTest, EndWhenTheLeaveOfWhoBeganThemDoes) {
  env::ManualClock clock;
  jobs_ = std::make_unique<Jobs>(directory_, clock);
  std::atomic<int> asked = 0;
  Status answer = fail(ErrorCode::kUnavailable, "etcd: away");
  const auto work = [&](Progress& progress) -> Result<json> {
    EXPECT_FALSE(progress.is_cancelled());
    EXPECT_EQ(asked, 0) << "it was asked for just now";
    clock.advance_ns(kLeaveLookNs);
    EXPECT_FALSE(progress.is_cancelled()) << "that nobody knows is no reason";
    EXPECT_FALSE(progress.is_cancelled());
    EXPECT_EQ(asked, 1) << "only so often";
    answer = fail(ErrorCode::kPermission, "API: the token was revoked");
    clock.advance_ns(kLeaveLookNs);
    EXPECT_TRUE(progress.is_cancelled());
    return cancelled("fs u04");
  };
  const auto begun = jobs_->start(check(), work, [&] {
    ++asked;
    return answer;
  });
  const JobRecord job = ended(begun->id);
  EXPECT_EQ(job.state, "cancelled");
  EXPECT_EQ(job.error->message, "fs u04: cancelled: API: the token was revoked");
  EXPECT_EQ(asked, 2);
}

TEST_F(JobsTest, WhatIsCommittedGoesOnWithoutLeave) {
  env::ManualClock clock;
  jobs_ = std::make_unique<Jobs>(directory_, clock);
  const auto refused = [] { return Status(fail(ErrorCode::kPermission, "revoked")); };
  const auto committed = [&](Progress& progress) -> Result<json> {
    EXPECT_TRUE(progress.commit("the fence is recorded"));
    clock.advance_ns(kLeaveLookNs);
    EXPECT_FALSE(progress.is_cancelled());
    return json::object();
  };
  EXPECT_EQ(ended(jobs_->start(check(), committed, refused)->id).state, "done");
  const auto too_late = [&](Progress& progress) -> Result<json> {
    clock.advance_ns(kLeaveLookNs);
    SYMNAS_TRY(progress.commit("the fence is recorded"));
    return json::object();
  };
  EXPECT_EQ(ended(jobs_->start(check(), too_late, refused)->id).state, "cancelled");
}

}  // namespace
}  // namespace symnas::vnfsd
