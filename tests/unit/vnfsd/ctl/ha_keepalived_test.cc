// symnas ha keepalived generate: what is asked, and which head it is for.
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "vnfsd/ctl/exit_code.h"
#include "vnfsd/ctl/run.h"

namespace symnas::vnfsd::ctl {
namespace {

using nlohmann::json;

class FakeClient final : public api::ApiClient {
 public:
  FakeClient() : ApiClient({"/s"}) {}
  Result<json> request(const std::string&, const std::string& path, const json&) override {
    if (path == "/v1/status") return json{{"head", "c1n1"}};
    if (path == "/v1/heads") {
      return json{{"heads",
                   {{{"name", "c1n1"}, {"address", "10.0.0.1"}},
                    {{"name", "c1n2"}, {"address", "10.0.0.2"}}}}};
    }
    const json vnfs1 = {
        {"name", "v1"}, {"vnfs_id", 1}, {"heads", {"c1n1", "c1n2"}}, {"failback", "manual"}};
    return json{{"vnfs", json::array({vnfs1})}};
  }
};

class KeepalivedGenerateTest : public ::testing::Test {
 protected:
  int generate(std::vector<std::string> more) {
    std::vector<std::string> words = {"ha", "keepalived", "generate"};
    words.insert(words.end(), more.begin(), more.end());
    return run_symnas(
        words, [](const std::string&) { return std::make_unique<FakeClient>(); }, out, err);
  }
  static bool says(const std::ostringstream& stream, const std::string& part) {
    return stream.str().find(part) != std::string::npos;
  }
  std::ostringstream out, err;
};

TEST_F(KeepalivedGenerateTest, OfThisHead) {
  EXPECT_EQ(generate({"--interface", "eth1"}), 0) << err.str();
  EXPECT_TRUE(says(out, "  unicast_src_ip 10.0.0.1\n"));
  EXPECT_TRUE(says(out, "  interface eth1\n"));
}

TEST_F(KeepalivedGenerateTest, OfAnotherHead) {
  EXPECT_EQ(generate({"--head", "c1n2", "--interface", "eth1"}), 0) << err.str();
  EXPECT_TRUE(says(out, "  priority 200\n"));
}

TEST_F(KeepalivedGenerateTest, WhatCannotBeIsRefused) {
  EXPECT_EQ(generate({"--head", "c1n9"}), kExitNotFound);
  EXPECT_EQ(generate({"--head", "c1n2"}), kExitNotFound) << "this machine has no such address";
  EXPECT_TRUE(says(err, "--interface"));
  EXPECT_EQ(generate({"--interface", "eth0 }"}), kExitUsage);
}

}  // namespace
}  // namespace symnas::vnfsd::ctl
