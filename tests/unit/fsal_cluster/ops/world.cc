#include "tests/unit/fsal_cluster/ops/world.h"

#include <algorithm>
#include <utility>

#include "common/base/bytes.h"
#include "common/base/check.h"
#include "fsal_cluster/ops/create.h"
#include "fsal_cluster/ops/getattr.h"
#include "fsal_cluster/ops/mkdir.h"
#include "fsal_cluster/ops/readdir.h"
#include "fsal_cluster/ops/setattr.h"
#include "fsal_cluster/ops/symlink.h"
#include "fsal_cluster/schema/filesystem.h"
#include "fsal_cluster/state/mount_claim.h"

namespace symnas::fs {
namespace {

template <class T>
T must(Result<T> result) {
  CHECK(result.has_value(), result ? "" : result.error().message);
  return std::move(*result);
}

NewNode with_mode(std::uint32_t mode) {
  NewNode node;
  node.attributes.mode = mode;
  return node;
}

// "f/" fsid area table ids...
std::string key_text(const std::string& key) {
  constexpr std::size_t kIds = 2 + 4 + 2;
  if (key.size() < kIds || key.substr(0, 2) != "f/") return key;
  const auto id = [&] { return key.size() < kIds + 8 ? "" : std::to_string(read_be64(key, kIds)); };
  switch (key[kIds - 1]) {
    case 'I': return "inode(" + id() + ")";
    case 'T': return "times(" + id() + ")";
    case 'D': return (key.size() == kIds + 8 ? "entries(" : "bucket(") + id() + ")";
    case 'K': return "token(" + id() + ")";
    case 'O': return "orphan(" + id() + ")";
    case 'E': return (key.size() == kIds + 8 ? "xattrs(" : "xattr(") + id() + ")";
    case 'N': return "next_ino";
    case 'R': return "move";
    default: return to_hex(key);
  }
}

}  // namespace

std::string text_of(const kv::Compare& compare) {
  const std::string key = key_text(compare.range.key);
  const bool zero = compare.number == 0;
  const bool absent = zero && compare.relation == kv::Compare::Relation::kEqual &&
                      (compare.target == kv::Compare::Target::kVersion ||
                       compare.target == kv::Compare::Target::kModRevision);
  return key + (absent ? " absent" : " unchanged");
}

std::string text_of(const kv::Op& op) {
  return (op.kind == kv::Op::Kind::kPut ? "put " : "erase ") + key_text(op.range.key);
}

FsId format_for_test(kv::Store& store, const std::string& name) {
  kv::Txn volume;
  volume.success = {kv::put(kv::keys::kVolumes + "v_" + name, "volume")};
  must(kv::txn_blocking(store, volume, 1000));
  FormatOptions options;
  options.name = name;
  options.volume = "v_" + name;
  options.root_mode = 0777;
  options.acls_and_xattrs = true;
  return FsId{must(format_filesystem(store, env::system_clock(), options)).fsid()};
}

MountOptions mount_options(FsId fs, std::uint64_t epoch, std::uint32_t number) {
  MountOptions options;
  options.fs = fs;
  options.filesystem_name = "u04";
  options.head = "c1n" + std::to_string(number);
  options.vnfs = "vnfs" + std::to_string(number);
  options.vnfs_id = VnfsId{number};
  options.epoch = Epoch{epoch};
  return options;
}

Formatted::Formatted() {
  kv::MemStoreOptions options;
  options.faults = faults;
  store = std::make_unique<kv::MemStore>(std::move(options));
  fs = format_for_test(*store, "u04");
}

Formatted::Formatted(std::uint64_t seed, kv::FaultWeights weights)
    : seeded(std::make_shared<kv::SeededFaults>(seed, weights)) {
  auto server = std::make_shared<kv::MemServer>();
  kv::MemStore calm(kv::MemStoreOptions{.server = server});
  fs = format_for_test(calm, "u04");
  store = std::make_unique<kv::MemStore>(kv::MemStoreOptions{.server = server, .faults = seeded});
}

World::World() : formatted_(std::make_unique<Formatted>()), store_(*formatted_->store) {
  mount("u04");
}

World::World(std::uint64_t seed, kv::FaultWeights weights)
    : formatted_(std::make_unique<Formatted>(seed, weights)), store_(*formatted_->store) {
  mount("u04");
}

World::World(kv::Store& store, const std::string& filesystem) : store_(store) { mount(filesystem); }

World::~World() = default;

void World::mount(const std::string& filesystem) {
  const auto recorded = must(
      kv::range_blocking(store_, kv::single_key(kv::keys::kFilesystems + filesystem), 1, 10'000));
  records::FilesystemRecord record;
  CHECK(!recorded.kvs.empty() && record.ParseFromString(recorded.kvs[0].value));
  ClaimOptions claim_options;
  claim_options.fs = FsId{record.fsid()};
  claim_options.filesystem_name = filesystem;
  claim_options.record.set_vnfs("vnfs1");
  claim_options.record.set_epoch(1);
  Claim claim = must(claim_mount(store_, claim_options, 10'000));
  const FsId fs{claim.filesystem.fsid()};
  kv::SessionOptions options;
  options.session_id = "s";
  options.slot_prefix = kv::keys::mount_slots(fs, claim.id);
  options.watched = kv::keys::watched(fs);
  options.stamp_key = kv::keys::stamp(fs);
  options.mount_key = kv::keys::mount(fs, claim.id);
  options.mount_create_revision = claim.create_revision;
  options.ended_key = kv::keys::mount_ended(fs, claim.id);
  session_ = std::make_unique<SpySession>(must(kv::Session::open(
      store_, env::system_clock(), options, [](Error) {}, 10'000)));
  data_ = std::make_unique<FakeFileData>(*session_, fs, claim.id);
  inos_ = std::make_unique<InoLease>(*session_, fs);
  must(
      inos_
          ->next());  // leases: later mutations are those of the operations only; files begin at 17
  context_ = std::make_unique<Context>(
      Context{.session = *session_,
              .data = *data_,
              .open_files = open_files_,
              .inos = *inos_,
              .flights = flights_,
              .hasher = must(NameHasher::create(claim.filesystem.name_hash_key())),
              .fs = fs,
              .mount = claim.id,
              .block_bytes = 4096,
              .membership = membership_,
              .pause = [](int) {}});
}

Handle World::mkdir(const Handle& dir, const std::string& name, const Credentials& who) {
  return must(fs::mkdir(*context_, who, dir, name, with_mode(0755))).attributes.handle;
}

Handle World::create(const Handle& dir, const std::string& name, const Credentials& who) {
  return must(fs::create(*context_, who, dir, name, CreateMode::kGuarded, 0, with_mode(0644)))
      .attributes.handle;
}

Handle World::symlink(const Handle& dir, const std::string& name) {
  NewNode node;
  node.symlink_target = "target";
  return must(fs::symlink(*context_, kRoot, dir, name, node)).attributes.handle;
}

void World::stop_faults() {
  if (formatted_ && formatted_->seeded) formatted_->seeded->stop();
}

void World::fail_next_commit(kv::TxnFault::Kind kind) {
  formatted_->faults->push(kind, [](const kv::Txn& txn) { return kv::could_put(txn); });
}

void World::chmod(const Handle& handle, std::uint32_t mode) {
  SetAttributes changes;
  changes.mode = mode;
  must(setattr(*context_, kRoot, handle, changes));
}

Attributes World::attributes(const Handle& handle) { return must(getattr(*context_, handle)); }

std::vector<std::string> World::names(const Handle& dir) {
  std::vector<std::string> out;
  std::uint64_t cookie = 0;
  for (;;) {
    const DirectoryPage page = must(readdir(*context_, dir, cookie, 7));
    for (const DirectoryEntry& entry : page.entries) {
      out.push_back(entry.name);
      cookie = entry.cookie;
    }
    if (page.end_of_directory) break;
  }
  std::sort(out.begin(), out.end());
  return out;
}

bool World::exists(const std::string& key) {
  return !must(kv::range_blocking(store_, kv::single_key(key), 1, 1000)).kvs.empty();
}

std::vector<std::string> World::compares() {
  CHECK(session_->mutations().size() == 1, "one mutation is looked at");
  std::vector<std::string> out;
  for (const kv::Compare& compare : session_->mutations().front().compares)
    out.push_back(text_of(compare));
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<std::string> World::writes() {
  CHECK(session_->mutations().size() == 1, "one mutation is looked at");
  std::vector<std::string> out;
  for (const kv::Op& op : session_->mutations().front().writes) out.push_back(text_of(op));
  for (const kv::Op& op : session_->mutations().front().merged_puts)
    out.push_back("touch" + text_of(op).substr(3));
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace symnas::fs
