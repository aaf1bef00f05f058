// symnas job, events --follow, and what a pipe gets of long work.
#include <deque>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "vnfsd/ctl/progress_bar.h"
#include "vnfsd/ctl/run.h"

namespace symnas::vnfsd::ctl {
namespace {

using nlohmann::json;

// Answers by a script, and has one stream.
class ScriptedClient final : public api::ApiClient {
 public:
  ScriptedClient(std::deque<Result<json>>& answers, std::vector<std::string>& asked,
                 const std::vector<api::ServerEvent>& events, std::ostream& out)
      : ApiClient({""}), answers_(answers), asked_(asked), events_(events), out_(out) {}
  Result<json> request(const std::string& method, const std::string& path, const json&) override {
    asked_.push_back(method + " " + path);
    if (answers_.empty()) return fail(ErrorCode::kInternal, "no more answers");
    Result<json> next = std::move(answers_.front());
    answers_.pop_front();
    return next;
  }
  Status follow(const std::string& path, const api::TakeServerEvent& take) override {
    asked_.push_back("FOLLOW " + path);
    for (const api::ServerEvent& event : events_)
      if (!take(event)) return {};
    out_.setstate(std::ios::failbit);  // as if nobody read on
    return {};
  }

 private:
  std::deque<Result<json>>& answers_;
  std::vector<std::string>& asked_;
  const std::vector<api::ServerEvent>& events_;
  std::ostream& out_;
};

class JobTest : public ::testing::Test {
 protected:
  int run(const std::vector<std::string>& arguments) {
    const auto factory = [&](const std::string&) {
      return std::make_unique<ScriptedClient>(answers, asked, events, out);
    };
    return run_symnas(arguments, factory, out, err);
  }
  static json job(const json& set) {
    json made = {{"id", 3},
                 {"kind", "checkFilesystem"},
                 {"what", "filesystems/u04/check"},
                 {"by", "root"},
                 {"state", "running"},
                 {"text", "9 records read"},
                 {"began_ns", 1000},
                 {"kept_by", ""}};
    made.update(set);
    return {{"job", made}};
  }
  std::deque<Result<json>> answers;
  std::vector<std::string> asked;
  std::vector<api::ServerEvent> events;
  std::ostringstream out, err;
};

TEST_F(JobTest, IsShownWithItsResultOrWhyItFailed) {
  answers = {job({{"state", "done"}, {"share", 1.0}, {"result", {{"done", {"head b: fenced"}}}}})};
  EXPECT_EQ(run({"job", "show", "3"}), 0);
  EXPECT_EQ(asked.at(0), "GET /v1/jobs/3");
  EXPECT_NE(out.str().find("100 %"), std::string::npos) << out.str();
  EXPECT_NE(out.str().find("head b: fenced"), std::string::npos);
  answers = {job({{"kept_by", "it may be off"}, {"share", 0.2}})};
  EXPECT_EQ(run({"job", "show", "3"}), 0);
  EXPECT_NE(out.str().find("cannot be cancelled: it may be off"), std::string::npos);
}

TEST_F(JobTest, WaitsUntilItHasEndedAndFailsAsItDid) {
  answers = {
      job(json::object()), fail(ErrorCode::kShutdown, "vnfsd: away"),
      job({{"state", "failed"}, {"error", {{"code", "unavailable"}, {"message", "etcd: away"}}}})};
  EXPECT_NE(run({"job", "wait", "3"}), 0);
  EXPECT_EQ(asked.size(), 3u);
  EXPECT_EQ(err.str(), "symnas: etcd: away\n");
  answers = {job({{"state", "done"}, {"result", {{"findings_total", 0}}}})};
  EXPECT_EQ(run({"job", "wait", "3", "-o", "json"}), 0);
  EXPECT_EQ(json::parse(out.str())["result"]["findings_total"], 0);
}

TEST_F(JobTest, IsListedAndCancelled) {
  answers = {json{{"jobs", {job({{"share", 0.5}})["job"]}}}};
  EXPECT_EQ(run({"job", "ls"}), 0);
  EXPECT_NE(out.str().find("50 %"), std::string::npos) << out.str();
  answers = {fail(ErrorCode::kBusy, "job 3: cannot be cancelled any more: it may be off")};
  EXPECT_NE(run({"job", "cancel", "3"}), 0);
  EXPECT_EQ(asked.back(), "POST /v1/jobs/3/cancel");
  EXPECT_NE(run({"job", "cancel", "x"}), 0);
}

TEST_F(JobTest, APipeGetsNothingOfABar) {
  answers = {json{{"filesystem", "u04"}, {"findings_total", 0}}};
  EXPECT_EQ(run({"fs", "check", "u04"}), 0);
  EXPECT_EQ(asked, std::vector<std::string>{"POST /v1/filesystems/u04/check"});
  EXPECT_EQ(out.str().find('\x1b'), std::string::npos);
}

TEST_F(JobTest, EventsAreFollowedFromWhereTheListEnded) {
  answers = {json{{"revision", 4}, {"events", json::array()}}};
  events = {{"", "", R"({"revision": 7, "kind": "a", "text": "first"})"},
            {"7", "", R"({"revision": 7, "kind": "b", "text": "second", "vnfs": "v1"})"},
            {"", "lost", R"({"heads": ["c1n2"]})"}};
  EXPECT_EQ(run({"events", "--follow"}), 1);  // nobody reads on
  EXPECT_EQ(asked, (std::vector<std::string>{"GET /v1/events?after=0",
                                             "FOLLOW /v1/events/stream?after=4"}));
  EXPECT_NE(out.str().find("first"), std::string::npos) << out.str();
  EXPECT_LT(out.str().find("first"), out.str().find("second"));
  EXPECT_NE(out.str().find("head c1n2: older events may be missing"), std::string::npos);
}

TEST(ProgressBar, IsOneLineOfKnownWidth) {
  EXPECT_EQ(bar_line(0.5, "9 records read", 79), "[##########----------]  50 %  9 records read");
  EXPECT_EQ(bar_line(std::nullopt, "a\nb\x1b[2J", 79), "[--------------------]    ?  a?b?[2J");
  EXPECT_EQ(bar_line(7.0, "", 79), "[####################] 100 %  ");
  EXPECT_EQ(bar_line(0.0, std::string(200, 'x'), 79).size(), 79u);
}

}  // namespace
}  // namespace symnas::vnfsd::ctl
