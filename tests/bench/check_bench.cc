// How long a check of a filesystem takes: writes the records of so many files straight into a real
// etcd (three keys each: inode with one extent, name, reverse map), then checks and counts them.
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <span>
#include <string>

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include "common/base/check.h"
#include "common/base/uuid.h"
#include "common/kv/etcd/etcd_store.h"
#include "common/kv/keys.h"
#include "cvm/volume.h"
#include "fsal_cluster/check/check.h"
#include "fsal_cluster/check/usage.h"
#include "fsal_cluster/check/view.h"
#include "fsal_cluster/schema/filesystem.h"
#include "fsal_cluster/schema/name_hash.h"
#include "fsal_cluster/schema/stamp.h"
#include "tests/contract/etcd_cluster.h"

namespace symnas::fs {
namespace {

constexpr std::uint64_t kFilesPerDirectory = 1000;
constexpr std::uint64_t kFilesPerTxn = 200;
constexpr std::uint32_t kBlocksPerFile = 4;
constexpr std::int64_t kDeadlineMs = 60'000;

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

std::int64_t peak_resident_mib() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss / 1024;
}

template <class T>
T must(Result<T> result) {
  CHECK(result.has_value(), result ? "" : result.error().message);
  return std::move(*result);
}

class Generator {
 public:
  Generator(kv::Store& store, std::uint64_t files) : store_(store), files_(files) {}

  void run() {
    make_volume();
    FormatOptions options;
    options.name = "u04";
    options.volume = "v1";
    record_ = must(format_filesystem(store_, env::system_clock(), options));
    fs_ = FsId{record_.fsid()};
    hasher_ = must(NameHasher::create(record_.name_hash_key()));
    now_ns_ = env::system_clock().wall_ns();
    add_op(kv::put(kv::keys::kMountIdCounter, "2"));
    add_op(kv::put(kv::keys::next_ino(fs_), std::to_string(16 + 2 * files_)));
    claim_groups();
    for (std::uint64_t i = 0; i < files_; ++i) add_file(i);
    send();
  }

 private:
  void make_volume() {
    cvm::records::LunRecord lun;
    lun.set_name("LUN0");
    lun.set_uuid(cvm::uuid_to_bytes(Uuid::generate()));
    lun.set_logical_block_bytes(512);
    lun.set_size_bytes((files_ * kBlocksPerFile * 4096 + (std::uint64_t{1} << 30)) >> 20 << 20);
    const auto volume =
        must(cvm::create_volume("v1", Uuid::generate(), std::span(&lun, 1), 1 << 20));
    add_op(kv::put(kv::keys::kVolumes + "v1", volume.SerializeAsString()));
    send();
  }
  void claim_groups() {
    records::MountRecord mount;
    mount.set_head("c1n1");
    add_op(kv::put(kv::keys::mount(fs_, MountId{1}), mount.SerializeAsString()));
    add_op(kv::put(kv::keys::mount_claim(fs_), "1"));
    records::GroupOwner owner;
    owner.set_mount(1);
    const std::uint64_t blocks = files_ * kBlocksPerFile;
    for (std::uint32_t group = 0; group <= blocks / record_.group_blocks(); ++group)
      add_op(kv::put(kv::keys::group_owner(fs_, group), owner.SerializeAsString()));
  }
  records::Inode new_inode(FileType type) const {
    records::Inode inode;
    inode.set_type(static_cast<std::uint32_t>(type));
    inode.set_mode(0644);
    inode.set_uid(1000);
    inode.set_gid(1000);
    inode.set_nlink(1);
    inode.set_generation(1);
    inode.set_atime_ns(now_ns_);
    inode.set_mtime_ns(now_ns_);
    inode.set_ctime_ns(now_ns_);
    return inode;
  }
  void add_name(Ino dir, const std::string& name, Ino target, FileType type) {
    records::DirentBucket bucket;
    records::Dirent& entry = *bucket.add_entries();
    entry.set_name(name);
    entry.set_ino(target.value());
    entry.set_type(static_cast<std::uint32_t>(type));
    add_op(kv::put(kv::keys::dirent_bucket(fs_, dir, hasher_->hash(name)),
                   bucket.SerializeAsString()));
  }
  void add_file(std::uint64_t i) {
    if (i % kFilesPerDirectory == 0) {
      directory_ = Ino{next_ino_++};
      records::Inode inode = new_inode(FileType::kDirectory);
      inode.set_parent(kRootIno.value());
      add_op(kv::put(kv::keys::inode(fs_, directory_), inode.SerializeAsString()));
      add_name(kRootIno, fmt::format("directory{:06}", i), directory_, FileType::kDirectory);
    }
    const Ino ino{next_ino_++};
    const std::uint64_t block = i * kBlocksPerFile;
    records::Inode inode = new_inode(FileType::kRegular);
    inode.set_size_bytes(std::uint64_t{kBlocksPerFile} * 4096 - 100);
    inode.set_used_blocks(kBlocksPerFile);
    records::Extent& extent = *inode.add_extents();
    extent.set_volume_block(block);
    extent.set_blocks(kBlocksPerFile);
    add_op(kv::put(kv::keys::inode(fs_, ino), inode.SerializeAsString()));
    add_name(directory_, fmt::format("a_file_of_some_length_{:08}.dat", i), ino,
             FileType::kRegular);
    records::ReverseMap reverse;
    reverse.set_ino(ino.value());
    reverse.set_blocks(kBlocksPerFile);
    const auto group = static_cast<std::uint32_t>(block / record_.group_blocks());
    add_op(kv::put(kv::keys::reverse_map(fs_, group, block), reverse.SerializeAsString()));
    if (i % kFilesPerTxn == kFilesPerTxn - 1) send();
  }
  void add_op(kv::Op op) { txn_.success.push_back(std::move(op)); }
  void send() {
    if (fs_ != FsId{0})
      add_op(kv::put(kv::keys::stamp(fs_), encode_stamp(env::system_clock().wall_ns())));
    for (;;) {
      const auto done = kv::txn_blocking(store_, txn_, kDeadlineMs);
      if (done) break;
      // Nobody else writes: the same again is harmless.
      CHECK(done.error().code == ErrorCode::kUnknownOutcome, done.error().message);
    }
    txn_ = {};
  }

  kv::Store& store_;
  const std::uint64_t files_;
  records::FilesystemRecord record_;
  std::optional<NameHasher> hasher_;
  FsId fs_;
  std::int64_t now_ns_ = 0;
  std::uint64_t next_ino_ = 16;
  Ino directory_;
  kv::Txn txn_;
};

void print_etcd(kv::Store& store, std::uint64_t files) {
  for (const kv::MemberStatus& member : store.status({2000}))
    fmt::print("etcd: {} MiB, {} MiB in use: {} bytes per file\n", member.db_size_bytes >> 20,
               member.db_in_use_bytes >> 20,
               member.db_in_use_bytes / static_cast<std::int64_t>(files));
}

int run(std::uint64_t files, int rounds) {
  if (const std::string missing = kv::testing::EtcdCluster::missing(); !missing.empty()) {
    fmt::print(stderr, "check_bench: {}\n", missing);
    return 1;
  }
  kv::testing::EtcdCluster cluster({});
  const auto store = must(kv::EtcdStore::open(cluster.client_options()));
  CHECK(kv::testing::EtcdCluster::wait_until_serving(*store, 20'000));
  auto begin = std::chrono::steady_clock::now();
  Generator(*store, files).run();
  fmt::print("{} files written in {:.1f} s\n", files, seconds_since(begin));
  print_etcd(*store, files);
  const std::int64_t before_mib = peak_resident_mib();
  for (int round = 0; round < rounds; ++round) {
    begin = std::chrono::steady_clock::now();
    const check::Report report = must(check::check_filesystem(*store, "u04", [] {}));
    fmt::print(
        "check: {:.2f} s, {} findings, {} files, {} keys, {} bytes of records per file, peak "
        "memory {} MiB (before: {})\n",
        seconds_since(begin), report.total, report.summary.files, report.summary.keys,
        report.summary.bytes / files, peak_resident_mib(), before_mib);
    for (std::size_t i = 0; i < std::min<std::size_t>(report.findings.size(), 10); ++i)
      fmt::print("  {}\n", report.line(report.findings[i]));
    begin = std::chrono::steady_clock::now();
    check::View view = must(check::View::open(*store, "u04"));
    const check::Summary summary = must(check::count_usage(view));
    fmt::print("count: {:.2f} s, {} files\n", seconds_since(begin), summary.files);
  }
  return 0;
}

}  // namespace
}  // namespace symnas::fs

int main(int argc, char** argv) {
  CLI::App app("Time of a filesystem check", "check_bench");
  std::uint64_t files = 200'000;
  int rounds = 3;
  app.add_option("--files", files, "Files to make")->capture_default_str();
  app.add_option("--rounds", rounds, "Checks to run")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  return symnas::fs::run(files, rounds);
}
