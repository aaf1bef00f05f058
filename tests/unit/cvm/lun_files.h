// LUN files for tests: a directory on a filesystem with O_DIRECT, sparse files in it, imported LUNs
// and volumes over them. Thread-compatible. The destructor removes everything.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "common/base/unique_fd.h"
#include "common/base/uuid.h"
#include "cvm/io/open_volume.h"
#include "cvm/limits.h"
#include "cvm/lun.h"
#include "cvm/volume.h"

namespace symnas::cvm {

inline Uuid test_uuid(std::uint8_t fill) {
  Uuid uuid;
  uuid.bytes.fill(fill);
  return uuid;
}
inline const Uuid kCluster = test_uuid(0xc1);

class LunFiles {
 public:
  LunFiles() {
    const char* base = std::getenv("TEST_TMPDIR");
    std::string pattern = std::string(base != nullptr ? base : "/var/tmp") + "/symnas-lun-XXXXXX";
    EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
    directory_ = pattern;
  }
  ~LunFiles() {
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
  }
  LunFiles(const LunFiles&) = delete;
  LunFiles& operator=(const LunFiles&) = delete;

  const std::string& directory() const { return directory_; }
  std::string path(const std::string& name) const { return directory_ + "/" + name; }

  // A sparse file.
  std::string make(const std::string& name, std::uint64_t bytes = kLunBytesMin) const {
    const std::string file = path(name);
    const UniqueFd fd(::open(file.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    EXPECT_TRUE(fd.valid());
    EXPECT_EQ(::ftruncate(fd.get(), static_cast<off_t>(bytes)), 0);
    return file;
  }

  // An imported LUN called `name` in a file of that name.
  records::LunRecord import(const std::string& name, std::uint64_t bytes = kLunBytesMin) const {
    const auto record = import_lun({.cluster = kCluster, .name = name, .path = make(name, bytes)});
    EXPECT_TRUE(record) << record.error().message;
    return record.value_or(records::LunRecord());
  }

  // The paths of LUNs that import() made.
  std::vector<LunPath> paths(const std::vector<records::LunRecord>& luns) const {
    std::vector<LunPath> all;
    for (const auto& lun : luns)
      all.push_back({lun.name(), *uuid_from_bytes(lun.uuid()), path(lun.name())});
    return all;
  }

 private:
  std::string directory_;
};

inline std::string patch_file(const std::string& path, std::uint64_t offset,
                              std::string_view bytes) {
  const UniqueFd fd(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  EXPECT_EQ(::pwrite(fd.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset)),
            static_cast<ssize_t>(bytes.size()));
  return path;
}

inline std::string read_file_bytes(const std::string& path, std::uint64_t offset,
                                   std::size_t bytes) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string data(bytes, '\0');
  EXPECT_EQ(::pread(fd.get(), data.data(), bytes, static_cast<off_t>(offset)),
            static_cast<ssize_t>(bytes));
  return data;
}

}  // namespace symnas::cvm
