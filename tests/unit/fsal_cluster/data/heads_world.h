// HeadsWorld: several mounts of one filesystem of plain files, over one store and one disk in
// memory, with real threads and time.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "common/base/check.h"
#include "common/kv/keys.h"
#include "common/kv/mem/mem_store.h"
#include "fsal_cluster/data/data_path.h"
#include "fsal_cluster/schema/stamp.h"
#include "tests/support/forwarding_store.h"
#include "tests/support/jumping_clock.h"
#include "tests/support/sim_volume.h"

namespace symnas::fs::test {

constexpr FsId kHeadsFs{7};

// Visits every operation of a transaction and of its nested transactions.
inline void for_each_op(const kv::Txn& txn, const std::function<void(const kv::Op&)>& visit) {
  for (const std::vector<kv::Op>* ops : {&txn.success, &txn.failure}) {
    for (const kv::Op& op : *ops) {
      visit(op);
      if (op.txn) for_each_op(*op.txn, visit);
    }
  }
}

// A store whose replies can be kept back: the transaction has been executed, but its sender does
// not know.
class LateReplies final : public ::symnas::test::ForwardingStore {
 public:
  using Matches = std::function<bool(const kv::Op&)>;

  using ForwardingStore::ForwardingStore;
  // From now on keeps replies to transactions that have such an operation.
  void hold(Matches matches) {
    const std::scoped_lock lock(mutex_);
    matches_ = std::move(matches);
  }
  // Waits until so many replies are kept. False: they were not within some seconds.
  bool wait_until_held(std::size_t replies = 1) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(10),
                             [&] { return held_.size() >= replies; });
  }
  // Lets the oldest reply go on.
  void release_one() {
    std::function<void()> reply;
    {
      const std::scoped_lock lock(mutex_);
      reply = std::move(held_.front());
      held_.erase(held_.begin());
    }
    reply();
  }
  // Lets all replies go on; no further one is kept.
  void release() {
    std::vector<std::function<void()>> replies;
    {
      const std::scoped_lock lock(mutex_);
      matches_ = nullptr;
      replies.swap(held_);
    }
    for (const auto& reply : replies) reply();
  }

  void txn(kv::Txn txn, kv::TryOptions options, kv::TxnCallback done) override {
    bool late = false;
    {
      const std::scoped_lock lock(mutex_);
      if (matches_) for_each_op(txn, [&](const kv::Op& op) { late = late || matches_(op); });
    }
    if (!late) {
      ForwardingStore::txn(std::move(txn), options, std::move(done));
      return;
    }
    ForwardingStore::txn(std::move(txn), options, [this, done = std::move(done)](auto answer) {
      {
        const std::scoped_lock lock(mutex_);
        held_.push_back([done, answer = std::move(answer)] { done(answer); });
      }
      changed_.notify_all();
    });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  Matches matches_;
  std::vector<std::function<void()>> held_;
};

// One mount. All its functions block.
class Head {
 public:
  Head(const std::shared_ptr<kv::MemServer>& server,
       const std::shared_ptr<::symnas::test::SimDisk>& disk, const env::Clock& clock, MountId id)
      : id_(id), tokens_(kHeadsFs, id) {
    kv::MemStoreOptions store;
    store.server = server;
    store.scheduler = std::make_shared<kv::ThreadScheduler>();
    store_ = std::make_unique<kv::MemStore>(store);
    kv::Txn claim;
    claim.success = {
        kv::put(kv::keys::mount(kHeadsFs, id), "mount"),
        kv::put(kv::keys::stamp(kHeadsFs), encode_stamp(env::system_clock().wall_ns()))};
    const auto claimed = kv::txn_blocking(*store_, claim, 5000);
    CHECK(claimed.has_value());
    kv::SessionOptions options;
    options.session_id = "s";
    options.slot_prefix = kv::keys::mount_slots(kHeadsFs, id);
    options.watched = kv::keys::watched(kHeadsFs);
    options.stamp_key = kv::keys::stamp(kHeadsFs);
    options.mount_key = kv::keys::mount(kHeadsFs, id);
    options.mount_create_revision = claimed->revision;
    options.ended_key = kv::keys::mount_ended(kHeadsFs, id);
    options.followed = {tokens_.followed()};
    replies_ = std::make_unique<LateReplies>(*store_);
    auto session = kv::Session::open(
        *replies_, clock, options, [](Error) {}, 5000);
    CHECK(session.has_value());
    session_ = std::move(*session);
    FileDataOptions data;
    data.fs = kHeadsFs;
    data.mount = id;
    data.membership = &membership_;
    data.tokens = &tokens_;
    data.group_blocks = 1024;
    volume_ = std::make_shared<::symnas::test::SimVolume>(
        disk, ::symnas::test::SimVolume::Mode::kImmediate);
    auto opened = FileData::open(*session_, clock, volume_, data);
    CHECK(opened.has_value());
    data_ = std::move(*opened);
  }

  ~Head() { replies_->release(); }
  Head(const Head&) = delete;
  Head& operator=(const Head&) = delete;

  Handle handle(Ino ino) const { return {kHeadsFs, ino, Generation{1}}; }
  void create(Ino ino) {
    records::Inode inode;
    inode.set_type(static_cast<std::uint32_t>(FileType::kRegular));
    inode.set_nlink(1);
    inode.set_generation(1);
    kv::Mutation mutation;
    mutation.writes = data_->tokens_at_create(ino);
    mutation.writes.push_back(kv::put(kv::keys::inode(kHeadsFs, ino), inode.SerializeAsString()));
    CHECK(session_->commit_blocking(std::move(mutation))->succeeded);
    data_->created(ino);
  }
  Status write(Ino ino, std::uint64_t at, const std::string& bytes,
               WriteStability wanted = WriteStability::kUnstable) {
    std::promise<Status> answer;
    data_->write(handle(ino), FileOffset{at}, std::as_bytes(std::span(bytes)), wanted,
                 [&](Result<WriteResult> result) {
                   answer.set_value(result ? Status() : tl::unexpected(result.error()));
                 });
    return answer.get_future().get();
  }
  Result<std::string> read(Ino ino, std::uint64_t at, std::size_t bytes) {
    std::promise<Result<std::string>> answer;
    data_->read(handle(ino), FileOffset{at}, bytes, [&](Result<ReadResult> result) {
      if (!result) {
        answer.set_value(tl::unexpected(result.error()));
        return;
      }
      std::string out;
      if (result->bytes > 0) {
        out.assign(reinterpret_cast<const char*>(result->buffer.data()) + result->offset_bytes,
                   result->bytes);
      }
      answer.set_value(std::move(out));
    });
    return answer.get_future().get();
  }
  Status commit(Ino ino) {
    std::promise<Status> answer;
    data_->commit(handle(ino), [&](Status status) { answer.set_value(std::move(status)); });
    return answer.get_future().get();
  }
  Status set_size(Ino ino, std::uint64_t size_bytes) {
    const auto done = data_->set_size(handle(ino), size_bytes, MtimeIs::kOfTheChange, nullptr);
    return done ? Status() : Status(tl::unexpected(done.error()));
  }
  // The attributes as GETATTR answers them.
  Attributes attributes(Ino ino) {
    CHECK(session_->barrier().has_value());
    CHECK(data_->publish_foreign(ino).has_value());
    const std::string key = kv::keys::inode(kHeadsFs, ino);
    const auto [record, overlay] =
        read_consistent(*data_, ino, [&] { return session_->read(key); });
    CHECK(record.has_value() && record->value);
    records::Inode inode;
    CHECK(inode.ParseFromString(*record->value));
    Attributes out;
    show(inode, record->mod_revision, overlay, kBlockBytes, out);
    return out;
  }

  // The instance dies: any part of what it has sent to the disk has landed, nothing more follows,
  // and its end record is written.
  void die(env::Random& random) {
    volume_->die(random);
    data_.reset();
    session_.reset();
    kv::Txn end;
    end.success = {kv::put(kv::keys::mount_ended(kHeadsFs, id_), "killed"),
                   kv::put(kv::keys::stamp(kHeadsFs), encode_stamp(env::system_clock().wall_ns()))};
    CHECK(kv::txn_blocking(*store_, end, 5000).has_value());
  }
  MountId id() const { return id_; }
  FileData& data() { return *data_; }
  kv::Session& session() { return *session_; }
  TokenTable& tokens() { return tokens_; }
  Membership& membership() { return membership_; }
  LateReplies& replies() { return *replies_; }
  kv::MemStore& store() { return *store_; }

 private:
  const MountId id_;
  Membership membership_{Membership::Mode::kShared};
  TokenTable tokens_;
  std::unique_ptr<kv::MemStore> store_;
  std::unique_ptr<LateReplies> replies_;
  std::unique_ptr<kv::Session> session_;
  std::shared_ptr<::symnas::test::SimVolume> volume_;
  std::unique_ptr<FileData> data_;
};

class HeadsWorld {
 public:
  explicit HeadsWorld(int heads)
      : server_(std::make_shared<kv::MemServer>()),
        disk_(std::make_shared<::symnas::test::SimDisk>(64 << 20, std::byte{0xEE})) {
    for (int i = 0; i < heads; ++i)
      heads_.push_back(std::make_unique<Head>(server_, disk_, clock_, MountId{++newest_}));
  }
  Head& operator[](std::size_t index) { return *heads_[index]; }
  // Another head recovers what the dead one has left, and a new mount takes the dead one's place.
  void replace(std::size_t index, env::Random& random) {
    Head& dead = *heads_[index];
    dead.die(random);
    Head& survivor = *heads_[(index + 1) % heads_.size()];
    const Status recovered = survivor.data().recover_ended_mount(dead.id());
    CHECK(recovered.has_value(), recovered ? "" : recovered.error().message);
    heads_[index] = std::make_unique<Head>(server_, disk_, clock_, MountId{++newest_});
  }
  std::size_t size() const { return heads_.size(); }
  kv::MemServer& server() { return *server_; }
  ::symnas::test::JumpingClock& clock() { return clock_; }

 private:
  ::symnas::test::JumpingClock clock_;
  std::shared_ptr<kv::MemServer> server_;
  std::shared_ptr<::symnas::test::SimDisk> disk_;
  std::vector<std::unique_ptr<Head>> heads_;
  std::uint64_t newest_ = 0;
};

}  // namespace symnas::fs::test
