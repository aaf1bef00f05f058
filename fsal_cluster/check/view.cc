#include "fsal_cluster/check/view.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/core.h>

#include "common/kv/keys.h"
#include "cvm/volume.h"
#include "fsal_cluster/check/limits.h"
#include "fsal_cluster/schema/counter.h"
#include "fsal_cluster/schema/filesystem.h"
#include "fsal_cluster/schema/inode.h"
#include "fsal_cluster/types/limits.h"

namespace symnas::fs::check {
namespace {

std::int64_t bytes_of(const kv::OpResult& page) {
  std::size_t bytes = 0;
  for (const kv::KeyValue& kv : page.kvs) bytes += kv.key.size() + kv.value.size();
  return static_cast<std::int64_t>(bytes);
}

// Size of the next page, so that it has about kPageBytes.
std::int64_t next_keys_max(std::int64_t keys_max, const kv::OpResult& page) {
  const auto keys = static_cast<std::int64_t>(page.kvs.size());
  if (keys == 0) return keys_max;
  const std::int64_t fitting = kPageBytes * keys / std::max<std::int64_t>(bytes_of(page), 1);
  return std::clamp(std::min(fitting, keys_max * kPageGrowth), kPageKeysMin, kPageKeysMax);
}

}  // namespace

Result<View> View::open(kv::Store& store, const std::string& name) {
  View view(store);
  SYMNAS_TRY(view.load(name));
  SYMNAS_TRY(view.load_volume());
  return view;
}

Status View::load(const std::string& name) {
  kv::Op vnfses = kv::get_range(kv::prefix_range(kv::keys::kVnfs));
  vnfses.keys_only = true;
  kv::Txn txn;
  txn.success = {kv::get(kv::keys::kFilesystems + name), kv::get(kv::keys::kMountIdCounter),
                 std::move(vnfses)};
  SYMNAS_ASSIGN(kv::TxnResult read, kv::txn_blocking(*store_, std::move(txn), kAdminDeadlineMs));
  revision_ = read.revision;
  if (read.results[0].kvs.empty())
    return fail(ErrorCode::kNotFound,
                fmt::format("fs {}: does not exist (symnas fs ls shows what does)", name));
  SYMNAS_ASSIGN(context_.filesystem, parse_record<records::FilesystemRecord>(
                                         read.results[0].kvs.front().value, "fs " + name));
  const records::FilesystemRecord& filesystem = context_.filesystem;
  if (filesystem.removing())
    return fail(ErrorCode::kNotFound, fmt::format("fs {}: is being removed", name));
  if (filesystem.schema_version() != kSchemaVersion)
    return fail(ErrorCode::kNotSupported,
                fmt::format("fs {}: schema version {}, this head knows {} (upgrade the head)", name,
                            filesystem.schema_version(), kSchemaVersion));
  if (filesystem.block_bytes() == 0 || filesystem.group_blocks() == 0)
    return fail(ErrorCode::kCorrupt,
                fmt::format("fs {}: its record has blocks of {} bytes and groups of {} blocks",
                            name, filesystem.block_bytes(), filesystem.group_blocks()));
  SYMNAS_ASSIGN(const Counter mounts, parse_counter(kv::keys::kMountIdCounter, read.results[1]));
  context_.next_mount = mounts.next;
  context_.vnfses.emplace();
  for (const kv::KeyValue& kv : read.results[2].kvs)
    context_.vnfses->insert(kv.key.substr(kv::keys::kVnfs.size()));
  return {};
}

Status View::load_volume() {
  const std::string& name = context_.filesystem.volume();
  SYMNAS_ASSIGN(const auto values, get({kv::keys::kVolumes + name}));
  if (!values.front())
    return fail(ErrorCode::kCorrupt, fmt::format("fs {}: its volume {} has no record",
                                                 context_.filesystem.name(), name));
  SYMNAS_ASSIGN(volume_,
                parse_record<cvm::records::VolumeRecord>(*values.front(), "volume " + name));
  context_.volume_blocks = cvm::volume_size_bytes(volume_) / context_.filesystem.block_bytes();
  return {};
}

Result<kv::OpResult> View::read_page(Window& window, std::int64_t& keys_max) {
  const auto deadline =
      std::chrono::steady_clock::now() + std::chrono::milliseconds(kPageDeadlineMs);
  for (;;) {
    kv::Op op = kv::get_range(window.next(), keys_max);
    op.revision = revision_;
    kv::Txn txn;
    txn.success = {std::move(op)};
    auto read = kv::txn_blocking(*store_, std::move(txn), kPageTryMs);
    if (read) return std::move(read->results.front());
    if (read.error().code != ErrorCode::kUnavailable ||
        std::chrono::steady_clock::now() >= deadline)
      return tl::unexpected<Error>(std::move(read.error()));
    keys_max = std::max(kPageKeysMin, keys_max / 4);
    window.too_much();
  }
}

Status View::read(const kv::KeyRange& range, const std::function<void(const kv::KeyValue&)>& visit,
                  const std::function<Status()>& after_page) {
  std::int64_t keys_max = kPageKeysFirst;
  for (Window window(range); !window.done();) {
    SYMNAS_ASSIGN(const kv::OpResult page, read_page(window, keys_max));
    for (const kv::KeyValue& kv : page.kvs) visit(kv);
    if (after_page) SYMNAS_TRY(after_page());
    window.answered(page);
    keys_max = next_keys_max(keys_max, page);
  }
  return {};
}

Result<std::vector<std::optional<std::string>>> View::get(const std::vector<std::string>& keys) {
  kv::Txn txn;
  for (const std::string& key : keys) {
    kv::Op op = kv::get(key);
    op.revision = revision_;
    txn.success.push_back(std::move(op));
  }
  SYMNAS_ASSIGN(kv::TxnResult read, kv::txn_blocking(*store_, std::move(txn), kAdminDeadlineMs));
  std::vector<std::optional<std::string>> out;
  for (kv::OpResult& result : read.results) {
    if (result.kvs.empty()) {
      out.emplace_back();
    } else {
      out.emplace_back(std::move(result.kvs.front().value));
    }
  }
  return out;
}

}  // namespace symnas::fs::check
