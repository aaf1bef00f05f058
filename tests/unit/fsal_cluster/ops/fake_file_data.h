// FakeFileData: FileData without bytes. Sizes are set in the record, removals are counted, overlays
// are what the test sets.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "common/kv/keys.h"
#include "common/kv/session.h"
#include "fsal_cluster/data/file_data.h"

namespace symnas::fs {

class FakeFileData final : public FileData {
 public:
  FakeFileData(kv::Session& session, FsId fs, MountId mount)
      : session_(session), fs_(fs), mount_(mount) {}

  std::optional<Overlay> overlay(Ino ino) override {
    const auto found = overlays.find(ino);
    return found == overlays.end() ? std::nullopt : std::optional<Overlay>(found->second);
  }

  Result<kv::Committed> set_size(const Handle& handle, std::uint64_t size_bytes, MtimeIs mtime,
                                 std::function<Status(records::Inode&)> edit,
                                 std::optional<kv::Op> also) override {
    if (mtime == MtimeIs::kChosen) mtimes_chosen.push_back(handle.ino);
    return change(
        handle,
        [&](records::Inode& inode) -> Status {
          inode.set_size_bytes(size_bytes);
          inode.set_mtime_ns(session_.next_time_ns());
          return edit(inode);
        },
        also);
  }
  Result<kv::Committed> set_times(const Handle& handle, std::function<Status(records::Inode&)> edit,
                                  std::optional<kv::Op> also) override {
    mtimes_chosen.push_back(handle.ino);
    return change(handle, edit, also);
  }

  Status allocate(const Handle&, FileOffset, std::uint64_t) override {
    return fail(ErrorCode::kNotSupported, "no bytes here");
  }
  Status deallocate(const Handle&, FileOffset, std::uint64_t) override {
    return fail(ErrorCode::kNotSupported, "no bytes here");
  }
  Result<std::optional<Sought>> seek(const Handle&, FileOffset, Content) override {
    return fail(ErrorCode::kNotSupported, "no bytes here");
  }

  Result<Removal> plan_removal(const Handle& handle, const records::Inode&) override {
    ++planned;
    if (--stale_plans >= 0) return fail(ErrorCode::kStale, "removed meanwhile");
    Removal removal;
    removal.ino = handle.ino;
    removal.writes = {kv::erase(kv::keys::token(fs_, handle.ino, mount_))};
    return removal;
  }
  void removed(Removal removal) override { removed_inos.push_back(removal.ino); }
  void abandoned(Removal) override { ++abandoned_count; }

  void read(const Handle&, FileOffset, std::size_t, ReadCallback done) override {
    done(fail(ErrorCode::kNotSupported, "no bytes here"));
  }
  void write(const Handle&, FileOffset, std::span<const std::byte>, WriteStability,
             WriteCallback done) override {
    done(fail(ErrorCode::kNotSupported, "no bytes here"));
  }
  void commit(const Handle&, StatusCallback done) override { done(Status()); }
  Status publish_foreign(Ino) override { return published; }
  Status flush_all() override { return {}; }
  Result<SpaceUse> space() override { return SpaceUse{.total_bytes = 1000, .free_bytes = 400}; }
  Status sweep_orphan(Ino ino, const records::Orphan&) override {
    swept.push_back(ino);
    kv::Mutation mutation;
    mutation.writes = {kv::erase(kv::keys::orphan(fs_, ino))};
    SYMNAS_TRY(session_.commit_blocking(std::move(mutation)));
    return {};
  }
  Status recover_ended_mount(MountId) override { return {}; }
  std::vector<kv::Op> tokens_at_create(Ino ino) override {
    records::TokenRecord token;
    token.set_mode(records::TokenRecord::X);
    return {kv::put(kv::keys::token(fs_, ino, mount_), token.SerializeAsString())};
  }
  void created(Ino ino) override { created_inos.push_back(ino); }

  std::map<Ino, Overlay> overlays;
  Status published;  // what publish_foreign() answers
  int planned = 0;
  int stale_plans = 0;  // this many of the next plans find the file removed
  int abandoned_count = 0;
  std::vector<Ino> created_inos;
  std::vector<Ino> removed_inos;
  std::vector<Ino> swept;
  std::vector<Ino> mtimes_chosen;

 private:
  Result<kv::Committed> change(const Handle& handle,
                               const std::function<Status(records::Inode&)>& edit,
                               const std::optional<kv::Op>& also) {
    for (;;) {
      SYMNAS_ASSIGN(const kv::CachedValue value, session_.read(kv::keys::inode(fs_, handle.ino)));
      if (!value.value) return fail(ErrorCode::kStale, "gone");
      records::Inode inode;
      inode.ParseFromString(*value.value);
      if (inode.type() != 1) return fail(ErrorCode::kIsDirectory, "no file");
      SYMNAS_TRY(edit(inode));
      kv::Mutation mutation;
      mutation.compares = {
          kv::mod_revision_is(kv::keys::inode(fs_, handle.ino), value.mod_revision)};
      mutation.writes = {kv::put(kv::keys::inode(fs_, handle.ino), inode.SerializeAsString())};
      if (also) mutation.writes.push_back(*also);
      SYMNAS_ASSIGN(const kv::Committed done, session_.commit_blocking(std::move(mutation)));
      if (done.succeeded) return done;
    }
  }

  kv::Session& session_;
  FsId fs_;
  MountId mount_;
};

}  // namespace symnas::fs
