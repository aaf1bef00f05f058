// A directory that a test may fill; the destructor removes it.
#pragma once

#include <filesystem>
#include <string>

#include <gtest/gtest.h>

namespace symnas::ha {

struct TemporaryDirectory {
  TemporaryDirectory() {
    std::string pattern = ::testing::TempDir() + "symnas-reservation-XXXXXX";
    path = ::mkdtemp(pattern.data());
  }
  ~TemporaryDirectory() { std::filesystem::remove_all(path); }
  std::string path;
};

}  // namespace symnas::ha
