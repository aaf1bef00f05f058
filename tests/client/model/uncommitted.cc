#include "tests/client/model/uncommitted.h"

#include <algorithm>

namespace symnas::model {

void Uncommitted::unstable_write(const FileBytes& before, std::uint64_t offset,
                                 std::string_view data, std::uint64_t verifier) {
  if (writes_.empty()) {
    guaranteed_ = before;
    size_max_ = before.size();
  }
  writes_.push_back({offset, std::string(data)});
  size_max_ = std::max(size_max_, offset + data.size());
  verifier_ = verifier;
}

void Uncommitted::stable_write(std::uint64_t offset, std::string_view data) {
  if (writes_.empty()) return;
  guaranteed_->write(offset, data);
  size_max_ = std::max(size_max_, offset + data.size());
  // Older data, acknowledged before, cannot come back in its place.
  for (Write& write : writes_) {
    const std::uint64_t begin = std::max(offset, write.offset);
    const std::uint64_t end = std::min(offset + data.size(), write.offset + write.data.size());
    if (begin < end)
      write.data.replace(begin - write.offset, end - begin,
                         data.substr(begin - offset, end - begin));
  }
}

void Uncommitted::resize(std::uint64_t size) {
  if (writes_.empty()) return;
  guaranteed_->resize(size);
  size_max_ = size;
  // Nothing that was truncated comes back.
  for (Write& write : writes_)
    write.data.resize(
        std::min<std::uint64_t>(write.data.size(), size > write.offset ? size - write.offset : 0));
  std::erase_if(writes_, [](const Write& write) { return write.data.empty(); });
  if (writes_.empty()) committed();
}

void Uncommitted::committed() {
  guaranteed_.reset();
  writes_.clear();
}

bool Uncommitted::may_show(std::uint64_t at, char byte) const {
  return std::any_of(writes_.begin(), writes_.end(), [&](const Write& write) {
    return at >= write.offset && at < write.offset + write.data.size() &&
           write.data[at - write.offset] == byte;
  });
}

std::optional<std::uint64_t> Uncommitted::impossible(std::uint64_t offset,
                                                     std::string_view got) const {
  std::string sure = guaranteed_->read(offset, got.size());
  sure.resize(got.size(), '\0');  // beyond its end: a hole
  for (std::size_t i = 0; i < got.size(); ++i)
    if (got[i] != sure[i] && !may_show(offset + i, got[i])) return offset + i;
  return std::nullopt;
}

std::vector<std::pair<std::uint64_t, std::uint64_t>> Uncommitted::ranges() const {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges;
  for (const Write& write : writes_) ranges.emplace_back(write.offset, write.data.size());
  return ranges;
}

}  // namespace symnas::model
