#include "tests/unit/fsal_cluster/check/check_world.h"

#include <future>
#include <span>

#include "common/base/check.h"
#include "common/base/uuid.h"
#include "cvm/volume.h"
#include "fsal_cluster/schema/filesystem.h"
#include "fsal_cluster/schema/mount_entry.h"
#include "fsal_cluster/state/mount_end.h"
#include "tests/unit/fsal_cluster/check/populate.h"
#include "tests/unit/fsal_cluster/ops/world.h"

namespace symnas::fs::test {
namespace {

using ::symnas::test::SimDisk;
using ::symnas::test::SimVolume;

template <class T>
T must(Result<T> result) {
  CHECK(result.has_value(), result ? "" : result.error().message);
  return std::move(*result);
}
void must(Status status) { CHECK(status.has_value(), status ? "" : status.error().message); }

cvm::records::VolumeRecord volume_record() {
  cvm::records::LunRecord lun;
  lun.set_name("LUN0");
  lun.set_uuid(cvm::uuid_to_bytes(Uuid::generate()));
  lun.set_logical_block_bytes(512);
  lun.set_size_bytes(CheckWorld::kLunBytes);
  return must(cvm::create_volume("v1", Uuid::generate(), std::span(&lun, 1), 64 << 10));
}

}  // namespace

CheckWorld::CheckWorld() {
  const cvm::records::VolumeRecord volume = volume_record();
  kv::Txn txn;
  txn.success = {kv::put(kv::keys::kVolumes + "v1", volume.SerializeAsString()),
                 kv::put(kv::keys::kVnfs + "vnfs1", "")};
  must(kv::txn_blocking(store, std::move(txn), 1000));
  FormatOptions options;
  options.name = "u04";
  options.volume = "v1";
  options.root_mode = 0777;
  options.group_blocks = kGroupBlocks;
  options.acls_and_xattrs = true;
  fs = FsId{must(format_filesystem(store, env::system_clock(), options)).fsid()};
  disk_ = std::make_shared<SimDisk>(cvm::volume_size_bytes(volume), std::byte{0xEE});
}

Mount& CheckWorld::mount() {
  MountOptions options = mount_options(fs, ++epoch_);
  options.on_ended = [](Error) {};
  mount_ =
      must(Mount::open(store, env::system_clock(),
                       std::make_shared<SimVolume>(disk_, SimVolume::Mode::kImmediate), options));
  return *mount_;
}

void CheckWorld::close() {
  must(mount_->close());
  mount_.reset();
}

void CheckWorld::kill() {
  must(end_mount(store, env::system_clock(), fs, mount_->id(), EndProof{"c1n1", "killed"}));
  mount_.reset();
}

Handle CheckWorld::mkdir(const Handle& dir, const std::string& name) {
  return must(mount_->mkdir(kSuper, dir, name, {})).attributes.handle;
}

Handle CheckWorld::create(const Handle& dir, const std::string& name) {
  return must(mount_->create(kSuper, dir, name, CreateMode::kGuarded, 0, {})).attributes.handle;
}

void CheckWorld::write(const Handle& file, std::uint64_t offset, std::size_t bytes) {
  const std::string payload(bytes, 'x');
  std::promise<Status> outcome;
  mount_->write(file, FileOffset{offset}, std::as_bytes(std::span(payload)),
                WriteStability::kFileSync, [&](Result<WriteResult> result) {
                  outcome.set_value(result ? Status() : Status(tl::unexpected(result.error())));
                });
  must(outcome.get_future().get());
}

void CheckWorld::truncate(const Handle& file, std::uint64_t size_bytes) {
  SetAttributes changes;
  changes.size_bytes = size_bytes;
  must(mount_->setattr(kSuper, file, changes));
}

void CheckWorld::populate() {
  test::populate(*mount_, [this](const Handle& file, std::uint64_t offset, std::size_t bytes) {
    write(file, offset, bytes);
  });
}

std::vector<kv::KeyValue> CheckWorld::dump() const { return server->dump(); }

check::Context CheckWorld::context() {
  const auto read = [&](const std::string& key) {
    const auto found = must(kv::range_blocking(store, kv::single_key(key), 1, 1000)).kvs;
    return found.empty() ? "1" : found.front().value;
  };
  check::Context context;
  CHECK(context.filesystem.ParseFromString(read(kv::keys::kFilesystems + "u04")));
  context.volume_blocks = disk_->size_bytes() / context.filesystem.block_bytes();
  context.next_mount = std::stoull(read(kv::keys::kMountIdCounter));
  context.vnfses = {"vnfs1"};
  return context;
}

std::vector<kv::KeyValue> in_order(FsId fs, const std::vector<kv::KeyValue>& kvs) {
  std::vector<kv::KeyValue> out;
  for (const kv::KeyRange& range : check::ranges_in_order(fs)) {
    for (const kv::KeyValue& kv : kvs)
      if (kv::contains(range, kv.key)) out.push_back(kv);
  }
  return out;
}

std::vector<std::string> findings_of(const check::Context& context,
                                     const std::vector<kv::KeyValue>& kvs) {
  check::Checker checker(context);
  for (const kv::KeyValue& kv : in_order(context.fs(), kvs)) checker.take(kv);
  checker.finish();
  std::vector<std::string> out;
  for (const check::Finding& finding : checker.findings().kept()) {
    std::string line(check::word(finding.kind));
    if (finding.ino != Ino{0}) line += " inode " + std::to_string(finding.ino.value());
    out.push_back(line + ": " + finding.text);
  }
  return out;
}

}  // namespace symnas::fs::test
