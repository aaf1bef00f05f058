// What the kernel tells a FUSE LUN, and what it does when the client dies.
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <future>
#include <memory>

#include "cvm/io/open_volume.h"
#include "cvm/label_io.h"
#include "cvm/ofd_lock.h"
#include "tests/contract/cvm/instance_process.h"
#include "tests/unit/cvm/lun_files.h"

namespace symnas::cvm {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kBlock = 4096;
constexpr auto kDeadline = 10s;

// A running fuse_lun with one LUN and the heads a and b. Ended with the object.
class Server {
 public:
  explicit Server(const LunFiles& files) : files_(files) {
    for (const char* head : {"a", "b"}) std::filesystem::create_directory(files.path(head));
    files.make("backing");
    int ends[2];
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::dup2(ends[1], STDOUT_FILENO);
      ::dup2(ends[1], STDERR_FILENO);
      const std::string a = "a=" + files.path("a");
      const std::string b = "b=" + files.path("b");
      const std::string lun = "LUN0=" + files.path("backing");
      ::execl(SYMNAS_FUSE_LUN, "fuse_lun", "--socket", files.path("s").c_str(), "--view", a.c_str(),
              "--view", b.c_str(), "--lun", lun.c_str(), nullptr);
      ::_exit(127);
    }
    ::close(ends[1]);
    const UniqueFd output(ends[0]);
    char piece[256];
    for (ssize_t got; said_.find('\n') == std::string::npos &&
                      (got = ::read(output.get(), piece, sizeof piece)) > 0;)
      said_.append(piece, static_cast<std::size_t>(got));
  }
  ~Server() {
    if (serves()) say("heal all");
    ::kill(pid_, SIGTERM);
    ::waitpid(pid_, nullptr, 0);
  }

  bool serves() const { return said_ == "serving\n"; }
  const std::string& said() const { return said_; }
  std::string lun(const char* head) const { return files_.path(head) + "/LUN0"; }

  // The answer to one command.
  std::string say(const std::string& command) const {
    const UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    files_.path("s").copy(address.sun_path, sizeof address.sun_path - 1);
    EXPECT_EQ(::connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    const std::string line = command + "\n";
    EXPECT_EQ(::write(fd.get(), line.data(), line.size()), static_cast<ssize_t>(line.size()));
    std::string answer;
    char piece[1024];
    while (answer.find("ok\n") == std::string::npos &&
           answer.find("error: ") == std::string::npos) {
      const ssize_t got = ::read(fd.get(), piece, sizeof piece);
      if (got <= 0) break;
      answer.append(piece, static_cast<std::size_t>(got));
    }
    EXPECT_EQ(answer.find("error: "), std::string::npos) << command << ": " << answer;
    return answer;
  }
  std::uint64_t stat(const std::string& name) const {
    const std::string stats = say("stats LUN0");
    const std::size_t at = stats.find("\"" + name + "\": ");
    return at == std::string::npos ? UINT64_MAX : std::stoull(stats.substr(at + name.size() + 4));
  }
  bool eventually(const std::string& name, std::uint64_t at_least) const {
    const auto end = std::chrono::steady_clock::now() + kDeadline;
    while (std::chrono::steady_clock::now() < end) {
      if (stat(name) >= at_least) return true;
      std::this_thread::sleep_for(2ms);
    }
    return false;
  }

 private:
  const LunFiles& files_;
  pid_t pid_ = -1;
  std::string said_;
};

#define NEED_SERVER(server) \
  if (!(server).serves()) GTEST_SKIP() << "no FUSE LUNs here: " << (server).said()

UniqueFd open_direct(const std::string& path, int more = 0) {
  UniqueFd fd(::open(path.c_str(), O_RDWR | O_DIRECT | O_CLOEXEC | more));
  EXPECT_TRUE(fd.valid()) << path;
  return fd;
}

// Blocks of one letter.
class Blocks {
 public:
  Blocks(char fill, std::size_t bytes)
      : memory_(static_cast<char*>(std::aligned_alloc(kBlock, bytes)), &std::free), bytes_(bytes) {
    std::memset(memory_.get(), fill, bytes);
  }
  ssize_t write(int fd, std::uint64_t offset, int flags = 0) const {
    const struct iovec part { memory_.get(), bytes_ };
    return ::pwritev2(fd, &part, 1, static_cast<off_t>(offset), flags);
  }
  ssize_t read(int fd, std::uint64_t offset) const {
    return ::pread(fd, memory_.get(), bytes_, static_cast<off_t>(offset));
  }
  char first() const { return memory_.get()[0]; }

 private:
  std::unique_ptr<char, decltype(&std::free)> memory_;
  std::size_t bytes_;
};

TEST(FuseLun, SystemCallsArriveAsTheyWereMeant) {
  const LunFiles files;
  const Server server(files);
  NEED_SERVER(server);
  const UniqueFd fd = open_direct(server.lun("a"));
  const Blocks block('x', kBlock);
  ASSERT_EQ(block.write(fd.get(), 0), static_cast<ssize_t>(kBlock));
  EXPECT_EQ(server.stat("stable_writes"), 0u);
  EXPECT_EQ(server.stat("volatile_sectors"), 8u);
  ASSERT_EQ(block.write(fd.get(), 1 << 20, RWF_DSYNC), static_cast<ssize_t>(kBlock));
  EXPECT_EQ(server.stat("stable_writes"), 1u);
  EXPECT_EQ(server.stat("volatile_sectors"), 8u);
  EXPECT_EQ(server.stat("flushes"), 0u) << "FUA, not a flush";
  const UniqueFd dsync = open_direct(server.lun("a"), O_DSYNC);
  ASSERT_EQ(block.write(dsync.get(), 2 << 20), static_cast<ssize_t>(kBlock));
  EXPECT_EQ(server.stat("stable_writes"), 2u);
  const Blocks large('y', 3 << 20);
  ASSERT_EQ(large.write(fd.get(), 0, RWF_DSYNC), 3 << 20);
  EXPECT_EQ(server.stat("stable_writes"), 5u) << "every piece of a large write";
  EXPECT_EQ(server.stat("volatile_sectors"), 0u);
  ASSERT_EQ(::fdatasync(fd.get()), 0);
  EXPECT_EQ(server.stat("flushes"), 1u);
}

class EngineOnFuse : public ::testing::TestWithParam<EngineChoice> {};

TEST_P(EngineOnFuse, APowerLossTakesWhatIsNeitherStableNorFlushed) {
  const LunFiles files;
  const Server server(files);
  NEED_SERVER(server);
  const auto lun = import_lun({.cluster = kCluster, .name = "LUN0", .path = server.lun("a")});
  ASSERT_TRUE(lun) << lun.error().message;
  const LunPath path{"LUN0", *uuid_from_bytes(lun->uuid()), server.lun("a")};
  const auto record = *create_volume("v1", test_uuid(0xaa), std::span(&*lun, 1), kMiB);
  const auto volume = *open_volume(record, std::span(&path, 1), {.engine = GetParam()});
  server.say("power-loss all");
  const auto device = LunDevice::open(server.lun("a"), Access::kRead);
  ASSERT_TRUE(device) << device.error().message;
  const auto label = read_label(*device);
  ASSERT_TRUE(label) << "the import is lost: " << label.error().message;
  EXPECT_FALSE(label->first_needs_repair || label->second_needs_repair);

  const auto wait_for = [](auto start) {
    std::promise<Status> promise;
    start([&](Status status) { promise.set_value(std::move(status)); });
    const Status status = promise.get_future().get();
    ASSERT_TRUE(status) << status.error().message;
  };
  const Buffer data = volume->buffer(kBlock);
  const auto write = [&](std::uint64_t block, char fill, Durability durability) {
    std::memset(data.data(), fill, kBlock);
    wait_for([&](IoCallback done) {
      volume->write(VolumeOffset(block * kBlock), data.span().first(kBlock), durability,
                    std::move(done));
    });
  };
  const auto write_edges = [&](std::uint64_t block, char fill, Durability durability) {
    std::memset(data.data(), fill, kBlock);
    wait_for([&](IoCallback done) {
      volume->write_edges(VolumeOffset(block * kBlock), data.span().first(1000), durability,
                          std::move(done));
    });
  };
  const auto flush = [&] { wait_for([&](IoCallback done) { volume->flush(std::move(done)); }); };
  write(0, 'f', Durability::kVolatile);
  flush();
  EXPECT_EQ(server.stat("flushes"), 1u);
  {
    const MayWaitForIo may_wait;
    write(1, 'F', Durability::kVolatile);
    write_edges(2, 'E', Durability::kVolatile);
    flush();
    write(3, 'S', Durability::kStable);
    write_edges(4, 'T', Durability::kStable);
  }
  EXPECT_EQ(server.stat("flushes"), 2u);
  write(5, 's', Durability::kStable);
  write_edges(6, 't', Durability::kStable);
  EXPECT_EQ(server.stat("volatile_sectors"), 0u);
  write(7, 'v', Durability::kVolatile);
  EXPECT_EQ(server.stat("volatile_sectors"), 8u);
  server.say("power-loss all");
  std::string left;
  for (std::uint64_t block = 0; block < 8; ++block) {
    wait_for([&](IoCallback done) {
      volume->read(VolumeOffset(block * kBlock), data.span().first(kBlock), std::move(done));
    });
    left += static_cast<char>(*data.data());
  }
  EXPECT_EQ(left, std::string("fFESTst\0", 8));
}

TEST_P(EngineOnFuse, AKilledClientsByteIsHeldUntilItsWriteHasLanded) {
  InstanceProcess instance(GetParam());
  const LunFiles files;
  const Server server(files);
  NEED_SERVER(server);
  const auto lun = import_lun({.cluster = kCluster, .name = "LUN0", .path = server.lun("a")});
  ASSERT_TRUE(lun) << lun.error().message;
  const auto record = *create_volume("v1", test_uuid(0xaa), std::span(&*lun, 1), kMiB);
  const auto daemon = LunDevice::open(server.lun("a"), Access::kWrite);
  ASSERT_TRUE(daemon) << daemon.error().message;

  const auto medium = [&] { return read_file_bytes(files.path("backing"), kReservedBytes, 4); };
  const std::uint64_t before = server.stat("stable_writes");
  instance.start(server.lun("a"), *uuid_from_bytes(lun->uuid()), record);
  ASSERT_TRUE(server.eventually("stable_writes", before + 1));
  EXPECT_EQ(medium(), "WWWW");
  EXPECT_EQ(obtain_ofd_byte(daemon->fd(), kInstanceByte, 0).error().code, ErrorCode::kBusy);
  instance.kill();
  ASSERT_TRUE(instance.wait_for_reap(kInstanceDeadlineMs));
  ASSERT_TRUE(obtain_ofd_byte(daemon->fd(), kInstanceByte, kInstanceDeadlineMs));
}

TEST_P(EngineOnFuse, AQueuedWriteOutlivesItsClientWithTheByte) {
  InstanceProcess instance(GetParam());
  const LunFiles files;
  const Server server(files);
  NEED_SERVER(server);
  const auto lun = import_lun({.cluster = kCluster, .name = "LUN0", .path = server.lun("a")});
  ASSERT_TRUE(lun) << lun.error().message;
  const auto record = *create_volume("v1", test_uuid(0xaa), std::span(&*lun, 1), kMiB);
  const auto daemon = LunDevice::open(server.lun("a"), Access::kWrite);
  ASSERT_TRUE(daemon) << daemon.error().message;
  const auto medium = [&] { return read_file_bytes(files.path("backing"), kReservedBytes, 4); };

  server.say("hang all 1");  // opening only reads
  instance.start(server.lun("a"), *uuid_from_bytes(lun->uuid()), record);
  ASSERT_TRUE(server.eventually("queued", 1)) << "the instance does not write";
  const std::uint64_t stable = server.stat("stable_writes");
  instance.kill();
  const bool reaped_early = instance.wait_for_reap(300);
  RecordProperty("reaped_before_the_write_landed", reaped_early ? "yes" : "no");
  ASSERT_EQ(server.stat("stable_writes"), stable);
  EXPECT_EQ(medium(), std::string(4, '\0'));
  EXPECT_FALSE(obtain_ofd_byte(daemon->fd(), kInstanceByte, 50)) << "a write is in flight";
  EXPECT_TRUE(obtain_ofd_byte(daemon->fd(), kInstanceByte + 1, 0)) << "others are not concerned";
  server.say("heal all");
  const Status proof = obtain_ofd_byte(daemon->fd(), kInstanceByte, kInstanceDeadlineMs);
  ASSERT_TRUE(proof) << proof.error().message;
  EXPECT_EQ(medium(), "WWWW") << "nothing may land after the proof";
  EXPECT_TRUE(instance.wait_for_reap(kInstanceDeadlineMs));
}

INSTANTIATE_TEST_SUITE_P(Engines, EngineOnFuse,
                         ::testing::Values(EngineChoice::kUring, EngineChoice::kPosix),
                         [](const auto& engine) {
                           return engine.param == EngineChoice::kUring ? "Uring" : "Posix";
                         });

TEST(FuseLun, HeadsShareBytesButNotLocks) {
  const LunFiles files;
  const Server server(files);
  NEED_SERVER(server);
  const UniqueFd a = open_direct(server.lun("a"));
  const UniqueFd b = open_direct(server.lun("b"));
  ASSERT_TRUE(hold_ofd_byte(a.get(), 3));
  EXPECT_FALSE(hold_ofd_byte(open_direct(server.lun("a")).get(), 3)) << "one head, one lock";
  EXPECT_TRUE(hold_ofd_byte(b.get(), 3)) << "as two hosts of one array";
  const Blocks written('x', kBlock);
  const Blocks seen('.', kBlock);
  ASSERT_EQ(written.write(a.get(), 0), static_cast<ssize_t>(kBlock));
  ASSERT_EQ(seen.read(b.get(), 0), static_cast<ssize_t>(kBlock));
  EXPECT_EQ(seen.first(), 'x');
}

TEST(FuseLun, AFenceIsOfOneHead) {
  const LunFiles files;
  const Server server(files);
  NEED_SERVER(server);
  const UniqueFd a = open_direct(server.lun("a"));
  const UniqueFd b = open_direct(server.lun("b"));
  const Blocks block('x', kBlock);
  server.say("fence LUN0 a");
  EXPECT_EQ(block.write(a.get(), 0), -1);
  EXPECT_EQ(errno, EBADE);
  EXPECT_EQ(block.read(a.get(), 0), -1) << "reads, too";
  EXPECT_EQ(errno, EBADE);
  EXPECT_EQ(block.write(b.get(), 0), static_cast<ssize_t>(kBlock));
  server.say("unfence LUN0 a");
  EXPECT_EQ(block.read(a.get(), 0), static_cast<ssize_t>(kBlock));
}

TEST(FuseLun, AVanishedLunComesBackToOpenDescriptors) {
  const LunFiles files;
  const Server server(files);
  NEED_SERVER(server);
  const UniqueFd fd = open_direct(server.lun("a"));
  const Blocks block('x', kBlock);
  server.say("vanish LUN0");
  EXPECT_EQ(block.read(fd.get(), 0), -1);
  EXPECT_EQ(errno, EIO);
  EXPECT_FALSE(std::filesystem::exists(server.lun("a")));
  server.say("appear LUN0");
  EXPECT_TRUE(std::filesystem::exists(server.lun("a")));
  EXPECT_EQ(block.read(fd.get(), 0), static_cast<ssize_t>(kBlock));
}

}  // namespace
}  // namespace symnas::cvm
