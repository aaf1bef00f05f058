#include "tests/sim/search_world.h"

#include <map>
#include <utility>

#include "common/base/bytes.h"
#include "common/kv/keys.h"
#include "fsal_cluster/check/checker.h"
#include "fsal_cluster/schema/stamp.h"
#include "tests/sim/data_calls.h"

namespace symnas::sim {

namespace {

namespace keys = kv::keys;

constexpr std::uint64_t kVolumeBytes = 4 << 20;
constexpr std::uint64_t kGroupBlocks = 256;
constexpr std::int64_t kLatencyNs = 50'000;
constexpr std::int64_t kOpenMs = 10'000;

std::uint64_t mixed(std::uint64_t hash, std::string_view text) {
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3ULL;
  return (hash ^ text.size()) * 0x9E3779B97F4A7C15ULL;
}

}  // namespace

SearchWorld::SearchWorld(std::size_t mounts)
    : array_(std::make_shared<SimArray>(
          std::make_shared<test::SimDisk>(kVolumeBytes, std::byte{0xEE}), kVolumeBytes)),
      outside_(current_process(), server_, nullptr, kLatencyNs) {
  for (std::size_t i = 0; i < mounts; ++i) {
    mounts_.push_back(std::make_unique<SearchMount>());
    mounts_.back()->id = MountId{i + 1};
    open(*mounts_.back());
  }
  make_file();
}

void SearchWorld::open(SearchMount& mount) {
  kv::Txn claim;
  claim.success = {kv::put(keys::mount(kFs, mount.id), "mount"),
                   kv::put(keys::stamp(kFs), fs::encode_stamp(current_process().wall_ns()))};
  const auto claimed = kv::txn_blocking(outside_, claim, kOpenMs);
  if (!claimed) fail("no mount record");
  mount.process = &new_process("mount" + std::to_string(mount.id.value()));
  mount.tokens = std::make_unique<fs::TokenTable>(kFs, mount.id);
  mount.store = new SimStore(*mount.process, server_, nullptr, kLatencyNs);
  LunFaults none;
  none.latency_ns_max = kLatencyNs;
  mount.lun = std::make_shared<SimLun>(*mount.process, array_, none);
  kv::SessionOptions options;
  options.session_id = "s";
  options.slot_prefix = keys::mount_slots(kFs, mount.id);
  options.watched = keys::watched(kFs);
  options.stamp_key = keys::stamp(kFs);
  options.mount_key = keys::mount(kFs, mount.id);
  options.mount_create_revision = claimed->revision;
  options.ended_key = keys::mount_ended(kFs, mount.id);
  options.followed = {mount.tokens->followed()};
  spawn(*mount.process, "open", [this, &mount, options] {
    auto session = kv::Session::open(
        *mount.store, *mount.process, options,
        [](const Error& error) { fail("a session has ended: " + error.message); }, kOpenMs);
    if (!session) fail("no session: " + session.error().message);
    mount.session = session->release();
    fs::FileDataOptions data;
    data.fs = kFs;
    data.mount = mount.id;
    data.membership = &mount.membership;
    data.tokens = mount.tokens.get();
    data.group_blocks = kGroupBlocks;
    auto opened = fs::FileData::open(*mount.session, *mount.process, mount.lun, data);
    if (!opened) fail("no file data: " + opened.error().message);
    mount.data = opened->release();
    wake(&mount);
  });
  wait_until(&mount, "a mount", [&mount] { return mount.data != nullptr; });
}

void SearchWorld::make_file() {
  call(0, [this](SearchMount& mount) {
    fs::records::Inode inode;
    inode.set_type(static_cast<std::uint32_t>(fs::FileType::kRegular));
    inode.set_nlink(1);
    inode.set_generation(1);
    kv::Mutation mutation;
    mutation.writes = mount.data->tokens_at_create(kFile);
    mutation.writes.push_back(kv::put(keys::inode(kFs, kFile), inode.SerializeAsString()));
    const auto made = mount.session->commit_blocking(std::move(mutation));
    if (!made || !made->succeeded) fail("no file");
    mount.data->created(kFile);
    const std::string zeros(Registers::kSectors * Registers::kSectorBytes, '\0');
    Waiting<fs::WriteResult> waiting;
    mount.data->write(handle(), FileOffset{0}, std::as_bytes(std::span(zeros)),
                      fs::WriteStability::kFileSync, waiting.callback());
    if (!waiting.get()) fail("no registers");
    if (!mount.data->flush_all()) fail("no flush");
  });
}

void SearchWorld::call(std::size_t mount, const std::function<void(SearchMount&)>& what) {
  bool done = false;
  SearchMount& one = *mounts_[mount];
  spawn(*one.process, "call", [&] {
    what(one);
    done = true;
    wake(&done);
  });
  wait_until(&done, "a call", [&done] { return done; });
}

std::string SearchWorld::check_tokens() const {
  std::map<std::uint64_t, std::pair<int, int>> tokens;  // per inode: all tokens, and the X tokens
  const std::string table = keys::tokens(kFs);
  for (const kv::KeyValue& kv : server_->dump()) {
    if (!kv.key.starts_with(table)) continue;
    fs::records::TokenRecord record;
    if (!record.ParseFromString(kv.value)) return "an unreadable token";
    auto& [all, exclusive] = tokens[read_be64(kv.key, table.size())];
    ++all;
    if (record.mode() == fs::records::TokenRecord::X) ++exclusive;
    if (exclusive > 0 && all > 1) return "a token beside an exclusive one";
  }
  return {};
}

std::string SearchWorld::check_records() const {
  fs::check::Context context;
  context.filesystem.set_fsid(kFs.value());
  context.filesystem.set_name_hash_key(std::string(16, 'k'));
  context.filesystem.set_block_bytes(4096);
  context.filesystem.set_group_blocks(kGroupBlocks);
  context.volume_blocks = kVolumeBytes / 4096;
  fs::check::Checker checker(context);
  const std::vector<kv::KeyValue> dump = server_->dump();
  for (const kv::KeyRange& range : fs::check::ranges_in_order(kFs)) {
    for (const kv::KeyValue& kv : dump) {
      if (kv::contains(range, kv.key)) checker.take(kv);
    }
  }
  checker.finish();
  using fs::check::Kind;
  for (const fs::check::Finding& finding : checker.findings().kept()) {
    const bool of_names = finding.kind == Kind::kTree || finding.kind == Kind::kName ||
                          finding.kind == Kind::kLinks || finding.kind == Kind::kCounter;
    if (of_names || finding.passing || finding.kind == Kind::kRecord) continue;
    return "checker: " + std::string(fs::check::word(finding.kind)) + ": " + finding.text;
  }
  return {};
}

std::uint64_t SearchWorld::hash() const {
  std::uint64_t hash = 0xCBF29CE484222325ULL;
  const std::string inode_key = keys::inode(kFs, kFile);
  for (const kv::KeyValue& kv : server_->dump()) {
    const bool mine = kv.key == inode_key || kv.key.starts_with(keys::tokens(kFs)) ||
                      kv.key.starts_with(keys::wants(kFs)) ||
                      kv.key.starts_with(keys::table(kFs, 'w', 'M'));
    if (!mine) continue;
    std::string value = kv.value;
    fs::records::Inode inode;
    if (kv.key == inode_key && inode.ParseFromString(value)) {  // times differ in each order
      inode.clear_mtime_ns();
      inode.clear_ctime_ns();
      value = inode.SerializeAsString();
    }
    hash = mixed(mixed(hash, kv.key), value);
  }
  return hash;
}

}  // namespace symnas::sim
