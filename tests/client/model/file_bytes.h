// FileBytes: a file's bytes, holes included. Thread class: thread-compatible.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace symnas::model {

class FileBytes {
 public:
  std::uint64_t size() const { return size_; }
  void resize(std::uint64_t size);
  void write(std::uint64_t offset, std::string_view data);
  std::string read(std::uint64_t offset, std::uint64_t count) const;
  // Offsets of the blocks that hold written bytes.
  std::vector<std::uint64_t> written_blocks() const;

  static constexpr std::uint64_t kBlockBytes = 4096;

 private:
  std::map<std::uint64_t, std::string> blocks_;
  std::uint64_t size_ = 0;
};

}  // namespace symnas::model
