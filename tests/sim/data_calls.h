// Asynchronous calls of a mount as blocking calls. For threads of the instance.
#pragma once

#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "fsal_cluster/mount/mount.h"
#include "tests/sim/runtime/simulation.h"

namespace symnas::sim {

template <class T>
class Waiting {
 public:
  std::function<void(Result<T>)> callback() {
    return [this](Result<T> result) {
      answer_ = std::move(result);
      wake(this);
    };
  }
  Result<T> get() {
    wait_until(this, "an answer of the data path", [this] { return answer_.has_value(); });
    return std::move(*answer_);
  }

 private:
  std::optional<Result<T>> answer_;
};

struct Bytes {
  std::string bytes;
  bool end_of_file = false;
};
// `Files` is a Mount or a FileData.
template <class Files>
Result<Bytes> read_bytes(Files& mount, const fs::Handle& handle, std::uint64_t offset,
                         std::size_t bytes) {
  Waiting<fs::ReadResult> waiting;
  mount.read(handle, FileOffset{offset}, bytes, waiting.callback());
  const Result<fs::ReadResult> got = waiting.get();
  if (!got) return tl::unexpected<Error>(got.error());
  Bytes out{std::string(got->bytes, '\0'), got->end_of_file};
  if (got->bytes > 0) {
    std::memcpy(out.bytes.data(), got->buffer.data() + got->offset_bytes, got->bytes);
  }
  return out;
}

}  // namespace symnas::sim
