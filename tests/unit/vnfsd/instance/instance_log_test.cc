#include "vnfsd/instance/instance_log.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace symnas::vnfsd::instance {
namespace {

std::string content(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

class InstanceLogTest : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
  }
  void TearDown() override { std::filesystem::remove_all(folder); }
  const std::string folder = testing::TempDir() + "instance_log_test";
  const std::string path = folder + "/v.log";
};

TEST_F(InstanceLogTest, AMissingOneAndASmallOneAreLeftAlone) {
  EXPECT_FALSE(*bound_log(path, 10));
  std::ofstream(path) << "0123456789";
  EXPECT_FALSE(*bound_log(path, 10));
  EXPECT_EQ(content(path), "0123456789");
}

TEST_F(InstanceLogTest, ALargeOneIsKeptOnceAndGoesOn) {
  std::ofstream writer(path, std::ios::app);
  writer << "first 0123456789\n" << std::flush;
  EXPECT_TRUE(*bound_log(path, 10));
  EXPECT_EQ(content(path), "");
  EXPECT_EQ(content(former_log(path)), "first 0123456789\n");
  writer << "second 0123456789\n" << std::flush;
  EXPECT_EQ(content(path), "second 0123456789\n");
  EXPECT_TRUE(*bound_log(path, 10));
  EXPECT_EQ(content(former_log(path)), "second 0123456789\n");
}

TEST_F(InstanceLogTest, WhatCannotBeKeptGoes) {
  std::filesystem::create_directories(former_log(path) + "/in the way");
  std::ofstream(path) << "0123456789 and more";
  EXPECT_TRUE(*bound_log(path, 10));
  EXPECT_EQ(content(path), "");
}

}  // namespace
}  // namespace symnas::vnfsd::instance
