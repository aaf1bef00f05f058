// INV-1 on a real kernel: an instance is killed with a write in flight. Its OFD byte must stay held
// until that write has reached the medium, however soon the process is reaped.
#include <signal.h>
#include <sys/wait.h>

#include <chrono>
#include <cstring>
#include <thread>

#include "cvm/io/open_volume.h"
#include "cvm/ofd_lock.h"
#include "tests/contract/cvm/held_file.h"
#include "tests/contract/cvm/loop_device.h"
#include "tests/unit/cvm/lun_files.h"

namespace symnas::cvm {
namespace {

constexpr std::uint32_t kByte = 7;
constexpr int kDeadlineMs = 10'000;

// A child process that opens the volume and writes when told, so that it is forked before this
// process has threads.
class Instance {
 public:
  explicit Instance(EngineChoice engine) {
    int ends[2];
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::close(ends[1]);
      run(ends[0], engine);
    }
    ::close(ends[0]);
    orders_ = UniqueFd(ends[1]);
  }
  ~Instance() {
    kill();
    wait_for_reap(kDeadlineMs);
  }

  void start(const std::string& lun_path, const Uuid& lun, const records::VolumeRecord& record) {
    std::string orders = lun_path + '\n' + lun.to_string() + '\n' + record.SerializeAsString();
    EXPECT_EQ(::write(orders_.get(), orders.data(), orders.size()),
              static_cast<ssize_t>(orders.size()));
    orders_.reset();
  }
  void kill() {
    if (pid_ > 0) ::kill(pid_, SIGKILL);
  }
  // Whether the process has been reaped within the time. io_uring: at once; POSIX: when its write
  // has ended.
  bool wait_for_reap(int timeout_ms) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout_ms);
    while (pid_ > 0) {
      if (::waitpid(pid_, nullptr, WNOHANG) == pid_)
        pid_ = -1;
      else if (std::chrono::steady_clock::now() > deadline)
        return false;
      else
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return true;
  }

 private:
  [[noreturn]] static void run(int orders_fd, EngineChoice engine) {
    std::string orders;
    char piece[4096];
    for (ssize_t got; (got = ::read(orders_fd, piece, sizeof piece)) > 0;)
      orders.append(piece, static_cast<std::size_t>(got));
    const std::size_t path_end = orders.find('\n');
    const std::size_t uuid_end = orders.find('\n', path_end + 1);
    if (uuid_end == std::string::npos) ::_exit(1);
    records::VolumeRecord record;
    record.ParseFromString(orders.substr(uuid_end + 1));
    const LunPath lun{"LUN0", *Uuid::parse(orders.substr(path_end + 1, uuid_end - path_end - 1)),
                      orders.substr(0, path_end)};
    const auto volume =
        open_volume(record, std::span(&lun, 1), {.ofd_byte = kByte, .engine = engine});
    if (!volume) {
      std::fprintf(stderr, "instance: %s\n", volume.error().message.c_str());
      ::_exit(2);
    }
    const Buffer data = (*volume)->buffer(64 * kKiB);
    std::memset(data.data(), 'W', data.size_bytes());
    (*volume)->write(VolumeOffset(0), data.span(), Durability::kStable, [](Status) {});
    for (;;) ::pause();
  }

  pid_t pid_ = -1;
  UniqueFd orders_;
};

class EndOfInstance : public ::testing::TestWithParam<EngineChoice> {};

TEST_P(EndOfInstance, ByteIsHeldUntilTheLastWriteHasLanded) {
  Instance instance(GetParam());
  const LunFiles files;
  const std::string mount_point = files.path("mnt");
  std::filesystem::create_directory(mount_point);
  auto medium = HeldFile::mount(mount_point, kLunBytesMin);
  if (!medium) GTEST_SKIP() << medium.error().message;
  auto loop = LoopDevice::attach((*medium)->path());
  if (!loop) GTEST_SKIP() << loop.error().message;
  const auto lun = import_lun({.cluster = kCluster, .name = "LUN0", .path = loop->path()});
  ASSERT_TRUE(lun) << lun.error().message;
  const auto record = *create_volume("v1", test_uuid(0xaa), std::span(&*lun, 1), kMiB);
  // As vnfsd keeps it.
  const auto daemon = LunDevice::open(loop->path(), Access::kWrite);
  ASSERT_TRUE(daemon) << daemon.error().message;
  ASSERT_TRUE(obtain_ofd_byte(daemon->fd(), kByte, 0));

  (*medium)->hold();
  instance.start(loop->path(), *uuid_from_bytes(lun->uuid()), record);
  ASSERT_TRUE((*medium)->wait_for_held(kDeadlineMs)) << "the instance has not written";
  EXPECT_EQ(obtain_ofd_byte(daemon->fd(), kByte, 0).error().code, ErrorCode::kBusy);

  instance.kill();
  const bool reaped_early = instance.wait_for_reap(300);
  RecordProperty("reaped_before_the_write_landed", reaped_early ? "yes" : "no");
  EXPECT_EQ((*medium)->content(kReservedBytes, 4), std::string(4, '\0'));
  const Status early = obtain_ofd_byte(daemon->fd(), kByte, 50);
  ASSERT_FALSE(early) << "the proof was given with a write in flight";
  EXPECT_EQ(early.error().code, ErrorCode::kBusy);
  EXPECT_TRUE(obtain_ofd_byte(daemon->fd(), kByte + 1, 0)) << "other instances are not concerned";

  (*medium)->let_go();
  const Status proof = obtain_ofd_byte(daemon->fd(), kByte, kDeadlineMs);
  ASSERT_TRUE(proof) << proof.error().message;
  EXPECT_EQ((*medium)->content(kReservedBytes, 4), "WWWW") << "nothing may land after the proof";
  EXPECT_TRUE(instance.wait_for_reap(kDeadlineMs));
}

INSTANTIATE_TEST_SUITE_P(Engines, EndOfInstance,
                         ::testing::Values(EngineChoice::kUring, EngineChoice::kPosix),
                         [](const auto& engine) {
                           return engine.param == EngineChoice::kUring ? "Uring" : "Posix";
                         });

}  // namespace
}  // namespace symnas::cvm
