// ScriptTest: a shell script in place of a program, in a directory that is removed with the test.
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

namespace symnas::ha {

class ScriptTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "symnas-script-XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    directory = pattern;
    program = directory + "/program";
  }
  void TearDown() override { std::filesystem::remove_all(directory); }
  // The script writes down its arguments, one per line, before it runs `body`.
  void script(const std::string& body) {
    std::ofstream(program) << "#!/bin/sh\nprintf '%s\\n' \"$@\" > " << directory << "/arguments\n"
                           << body << "\n";
    ASSERT_EQ(::chmod(program.c_str(), 0755), 0);
  }
  std::string arguments() const {
    std::stringstream text;
    text << std::ifstream(directory + "/arguments").rdbuf();
    return text.str();
  }

  std::string directory;
  std::string program;
};

}  // namespace symnas::ha
