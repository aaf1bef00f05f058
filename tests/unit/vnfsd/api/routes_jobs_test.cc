#include <filesystem>
#include <thread>

#include <nlohmann/json.hpp>

#include "tests/unit/vnfsd/api/fake_backends.h"
#include "tests/unit/vnfsd/api/reply_check.h"
#include "vnfsd/api/router.h"
#include "vnfsd/jobs/jobs.h"
#include "vnfsd/jobs/limits.h"

namespace symnas::vnfsd::api {
namespace {

using nlohmann::json;

// A test sets it while a job's thread reads it.
struct SharedClock final : env::Clock {
  std::int64_t mono_ns() const override { return now_ns; }
  std::int64_t wall_ns() const override { return now_ns; }
  std::atomic<std::int64_t> now_ns = 1;
};

class RoutesJobsTest : public ::testing::Test {
 protected:
  RoutesJobsTest() {
    char name[] = "/tmp/routes_jobs_test.XXXXXX";
    directory = ::mkdtemp(name);
    jobs = std::make_unique<Jobs>(directory, env::system_clock());
    router = std::make_unique<Router>(backend.all(), backend.access, jobs.get());
  }
  ~RoutesJobsTest() override {
    jobs.reset();
    std::filesystem::remove_all(directory);
  }
  Result<json> ask(const std::string& method, const std::string& path,
                   const std::multimap<std::string, std::string>& query = {},
                   Role role = Role::kAdmin) {
    auto request = request_of(method, path, "", query);
    request->caller = {"alice", role};
    return router->handle(*request);
  }
  std::string begin(const std::string& path) {
    const auto begun = ask("POST", path, {{"async", "true"}});
    EXPECT_EQ(why_invalid("JobReply", *begun), "");
    return "/v1/jobs/" + (*begun)["job"]["id"].dump();
  }
  // The job when it has ended.
  json ended(const std::string& place) {
    for (;;) {
      const json reply = *ask("GET", place);
      EXPECT_EQ(why_invalid("JobReply", reply), "") << reply;
      if (reply["job"]["state"] != "running") return reply["job"];
      std::this_thread::yield();
    }
  }

  FakeBackends backend;
  std::string directory;
  std::unique_ptr<Jobs> jobs;
  std::unique_ptr<Router> router;
};

TEST_F(RoutesJobsTest, LongWorkBecomesAJobWithTheSameResult) {
  const json job = ended(begin("/v1/filesystems/u04/check"));
  EXPECT_EQ(job["kind"], "checkFilesystem");
  EXPECT_EQ(job["what"], "filesystems/u04/check");
  EXPECT_EQ(job["by"], "alice");
  EXPECT_EQ(job["role"], "operator");
  EXPECT_EQ(job["state"], "done");
  EXPECT_EQ(job["result"], *ask("POST", "/v1/filesystems/u04/check"));
  const json listed = *ask("GET", "/v1/jobs", {}, Role::kViewer);
  EXPECT_EQ(why_invalid("Jobs", listed), "");
  EXPECT_FALSE(listed["jobs"][0].contains("result"));
}

TEST_F(RoutesJobsTest, AreCancelledByThoseWhoMightHaveBegunThem) {
  backend.inspection.is_slow = true;
  const std::string place = begin("/v1/filesystems/u04/check");
  EXPECT_EQ(code_of(ask("GET", place, {}, Role::kViewer)), ErrorCode::kPermission);
  EXPECT_EQ(code_of(ask("POST", place + "/cancel", {}, Role::kViewer)), ErrorCode::kPermission);
  EXPECT_TRUE(ask("POST", place + "/cancel", {}, Role::kOperator));
  const json job = ended(place);
  EXPECT_EQ(job["state"], "cancelled");
  EXPECT_EQ(job["error"]["message"], "fs u04: cancelled");
  EXPECT_EQ(code_of(ask("POST", place + "/cancel")), ErrorCode::kConflict);
}

TEST_F(RoutesJobsTest, AFenceIsForAdminsAndNotCancelledOnceItIsRecorded) {
  const std::string place = begin("/v1/heads/c1n2/fence");
  EXPECT_EQ(ended(place)["kept_by"], "it may be cut off");
  EXPECT_EQ(backend.notes.all.back(), "fence c1n2");
  EXPECT_EQ(code_of(ask("POST", place + "/cancel", {}, Role::kOperator)), ErrorCode::kPermission);
}

TEST_F(RoutesJobsTest, ADrainEndsWhenTheVnfssHaveGone) {
  backend.builder.basics().head("c1n2", "10.99.0.2").vnfs1().owner("vnfs1", "c1n2");
  EXPECT_EQ(ended(begin("/v1/heads/c1n1/drain"))["result"]["done"].back(),
            "head c1n1: has no VNFS any more");
  const std::string stays = begin("/v1/heads/c1n2/drain");
  const auto text = [&] { return (*ask("GET", stays))["job"]["text"].get<std::string>(); };
  while (text().empty()) std::this_thread::yield();
  EXPECT_EQ(text(), "still there: vnfs1");
  ASSERT_TRUE(ask("POST", stays + "/cancel"));
  EXPECT_NE(ended(stays)["error"]["message"].get<std::string>().find("is still being drained"),
            std::string::npos);
}

TEST_F(RoutesJobsTest, OnlyLongWorkAndNoDryRunBecomesAJob) {
  EXPECT_EQ(code_of(ask("POST", "/v1/level", {{"async", "true"}})), ErrorCode::kInvalidArgument);
  EXPECT_TRUE(ask("POST", "/v1/heads/c1n2/fence", {{"async", "true"}, {"dry_run", "true"}})
                  ->contains("done"));
  EXPECT_TRUE(jobs->all().empty());
  for (const char* id : {"7", "x", "-1", "1x"})
    EXPECT_EQ(code_of(ask("GET", std::string("/v1/jobs/") + id)), ErrorCode::kNotFound) << id;
}

TEST_F(RoutesJobsTest, EndWithTheCredentialThatBeganThem) {
  SharedClock clock;
  jobs = std::make_unique<Jobs>(directory, clock);
  router = std::make_unique<Router>(backend.all(), backend.access, jobs.get());
  backend.inspection.is_slow = true;
  auto request = request_of("POST", "/v1/filesystems/u04/check", "", {{"async", "true"}});
  request->caller = {"ops", Role::kAdmin, "10.1.2.3"};
  request->credential = {"revoked", "print", "01"};
  const auto begun = router->handle(*request);
  clock.now_ns += kLeaveLookNs;
  const json job = ended("/v1/jobs/" + (*begun)["job"]["id"].dump());
  EXPECT_EQ(job["state"], "cancelled");
  EXPECT_EQ(job["error"]["message"],
            "fs u04: cancelled: API: the token is not known, or was revoked");
}

TEST_F(RoutesJobsTest, ThoseOfRootsSocketHaveNoCredentialToLookUp) {
  ended(begin("/v1/filesystems/u04/check"));
  EXPECT_EQ(backend.access.lookups, 0);
}

}  // namespace
}  // namespace symnas::vnfsd::api
