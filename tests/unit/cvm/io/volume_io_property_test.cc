// Random I/O over several LUNs and a grown segment, through both engines, compared with a model in
// memory.
#include <cstring>

#include <gtest/gtest.h>

#include <rapidcheck/gtest.h>

#include "tests/unit/cvm/io/waiting.h"
#include "tests/unit/cvm/lun_files.h"

namespace symnas::cvm {
namespace {

constexpr std::uint32_t kUnit = 64 * kKiB;
constexpr std::size_t kRunBytesMax = 5 * kUnit;

// One open volume and its expected contents.
class Twin {
 public:
  explicit Twin(EngineChoice engine) : options_{.ofd_byte = 1, .engine = engine, .queue_depth = 8} {
    luns_ = {files_.import("A"), files_.import("B"), files_.import("C")};
    record_ = *create_volume("v1", test_uuid(0xaa), luns_, kUnit);
    volume_ = *open_volume(record_, files_.paths(luns_), options_);
    // Windows around the interesting places; between them the volume stays empty.
    windows_ = {0, 31 * kUnit, volume_->size_bytes() - kWindowBytes};
    model_.assign(windows_.size(), std::string(kWindowBytes, '\0'));
  }
  void grow() {
    const records::LunRecord added[] = {files_.import("D"), files_.import("E")};
    const std::uint64_t seam = volume_->size_bytes();
    record_ = *grow_volume(record_, luns_, added);
    ASSERT_TRUE(volume_->grow(record_, files_.paths({added[0], added[1]})));
    windows_.push_back(volume_->size_bytes() - kWindowBytes);
    model_.emplace_back(kWindowBytes, '\0');
    // The old last window now ends at the seam; a new one begins there.
    windows_.push_back(seam);
    model_.emplace_back(kWindowBytes, '\0');
  }

  std::size_t windows() const { return windows_.size(); }
  static constexpr std::size_t kWindowBytes = 12 * kUnit;

  void write(std::size_t window, std::size_t at, const std::string& data, Durability durability) {
    const Buffer buffer = volume_->buffer(data.size());
    std::memcpy(buffer.data(), data.data(), data.size());
    RC_ASSERT(
        write_now(*volume_, windows_[window] + at, buffer.span().first(data.size()), durability)
            .has_value());
    model_[window].replace(at, data.size(), data);
  }
  void write_edges(std::size_t window, std::size_t at, const std::string& data) {
    RC_ASSERT(write_edges_now(*volume_, windows_[window] + at, std::as_bytes(std::span(data)))
                  .has_value());
    model_[window].replace(at, data.size(), data);
  }
  void check(std::size_t window, std::size_t at, std::size_t length) {
    const Buffer buffer = volume_->buffer(length);
    RC_ASSERT(read_now(*volume_, windows_[window] + at, buffer.span().first(length)).has_value());
    RC_ASSERT(std::memcmp(buffer.data(), model_[window].data() + at, length) == 0);
  }
  void flush() { RC_ASSERT(flush_now(*volume_).has_value()); }
  void reopen() {
    volume_.reset();
    auto all = luns_;
    for (const char* name : {"D", "E"})
      if (std::filesystem::exists(files_.path(name)))
        all.push_back(*import_lun({.cluster = kCluster, .name = name, .path = files_.path(name)}));
    volume_ = *open_volume(record_, files_.paths(all), options_);
  }

 private:
  LunFiles files_;
  OpenOptions options_;
  std::vector<records::LunRecord> luns_;
  records::VolumeRecord record_;
  std::shared_ptr<OpenVolume> volume_;
  std::vector<std::uint64_t> windows_;  // volume offsets
  std::vector<std::string> model_;
};

std::string any_data(std::size_t bytes) {
  std::string data(bytes, '\0');
  std::uint64_t state = *rc::gen::arbitrary<std::uint64_t>() | 1;
  for (char& c : data) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    c = static_cast<char>(state >> 56);
  }
  return data;
}

void random_io(Twin& twin) {
  const int steps = *rc::gen::inRange(1, 40);
  for (int i = 0; i < steps; ++i) {
    const auto window = *rc::gen::inRange<std::size_t>(0, twin.windows());
    const std::size_t block = 512;
    const auto at = *rc::gen::inRange<std::size_t>(0, Twin::kWindowBytes / block) * block;
    const std::size_t room = std::min(Twin::kWindowBytes - at, kRunBytesMax);
    const auto length = *rc::gen::inRange<std::size_t>(1, room / block + 1) * block;
    switch (*rc::gen::inRange(0, 6)) {
      case 0: twin.write(window, at, any_data(length), Durability::kVolatile); break;
      case 1: twin.write(window, at, any_data(length), Durability::kStable); break;
      case 2: {
        const auto odd_at = at + *rc::gen::inRange<std::size_t>(0, block);
        const auto odd_length = *rc::gen::inRange<std::size_t>(
            1, std::min(kRunBytesMax, Twin::kWindowBytes - odd_at) + 1);
        twin.write_edges(window, odd_at, any_data(odd_length));
        break;
      }
      case 3:
      case 4: twin.check(window, at, length); break;
      case 5: twin.flush(); break;
    }
  }
  for (std::size_t window = 0; window < twin.windows(); ++window)
    twin.check(window, 0, Twin::kWindowBytes);
}

void run(EngineChoice engine) {
  Twin twin(engine);
  twin.grow();
  ASSERT_TRUE(rc::check([&] { random_io(twin); }));
  twin.reopen();
  ASSERT_TRUE(rc::check([&] { random_io(twin); }));
}

TEST(VolumeIoProperty, UringAgreesWithTheModel) { run(EngineChoice::kUring); }
TEST(VolumeIoProperty, PosixAgreesWithTheModel) { run(EngineChoice::kPosix); }

}  // namespace
}  // namespace symnas::cvm
