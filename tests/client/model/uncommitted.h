// Uncommitted: the data of a file that its server may lose: UNSTABLE writes that no COMMIT has
// covered yet (RFC 1813 3.3.7, 3.3.21).
//
// Between two COMMITs it holds the guaranteed file (all stable operations, without the UNSTABLE
// writes) and the UNSTABLE writes in their order. When the server has lost its memory, each byte
// may be the guaranteed one or that of any of these writes, independently of the other bytes.
//
// Thread class: thread-compatible.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/client/model/file_bytes.h"

namespace symnas::model {

class Uncommitted {
 public:
  bool empty() const { return writes_.empty(); }
  std::uint64_t verifier() const { return verifier_; }

  // `before`: the file without this write.
  void unstable_write(const FileBytes& before, std::uint64_t offset, std::string_view data,
                      std::uint64_t verifier);
  void stable_write(std::uint64_t offset, std::string_view data);
  void resize(std::uint64_t size);
  // To be called after a COMMIT of the whole file, or when everything was sent again.
  void committed();

  // REQUIRES (all below): not empty().
  const FileBytes& guaranteed() const { return *guaranteed_; }
  std::uint64_t size_min() const { return guaranteed_->size(); }
  std::uint64_t size_max() const { return size_max_; }
  // The offset of the first byte of `got` (read at `offset`) that no possible loss explains.
  std::optional<std::uint64_t> impossible(std::uint64_t offset, std::string_view got) const;
  // Offset and length of each UNSTABLE write.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges() const;

 private:
  struct Write {
    std::uint64_t offset;
    std::string data;
  };
  bool may_show(std::uint64_t at, char byte) const;

  std::optional<FileBytes> guaranteed_;  // set while there are UNSTABLE writes
  std::vector<Write> writes_;
  std::uint64_t size_max_ = 0;
  std::uint64_t verifier_ = 0;
};

}  // namespace symnas::model
