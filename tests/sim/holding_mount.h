// HoldingMount: a mount as clients reach it through an instance. A request that finds that the
// mount has ended is not answered: the instance exits first (plugin/instance.cc, hold_if_ending),
// or hangs while it exits.
//
// Thread class: as that of the mount; confined to the request for which it was made.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "fsal_cluster/mount/mount.h"
#include "fsal_cluster/ops/rename.h"
#include "tests/sim/runtime/simulation.h"

namespace symnas::sim {

class HoldingMount final : public fs::Mount {
 public:
  enum class Exit { kAtOnce, kHangs };
  HoldingMount(fs::Mount& mount, Exit exit) : mount_(mount), exit_(exit) {}

  Status close() override { return mount_.close(); }
  MountId id() const override { return mount_.id(); }
  FsId fsid() const override { return mount_.fsid(); }

  Result<fs::Attributes> lookup(const fs::Handle& dir, const std::string& name) override {
    return held(mount_.lookup(dir, name));
  }
  Result<fs::Attributes> getattr(const fs::Handle& handle) override {
    return held(mount_.getattr(handle));
  }
  std::optional<Result<fs::Attributes>> getattr_from_cache(const fs::Handle& handle,
                                                           fs::Freshness freshness) override {
    return mount_.getattr_from_cache(handle, freshness);
  }
  Result<fs::Attributes> setattr(const fs::Credentials& who, const fs::Handle& handle,
                                 const fs::SetAttributes& changes) override {
    return held(mount_.setattr(who, handle, changes));
  }
  Result<fs::Created> create(const fs::Credentials& who, const fs::Handle& dir,
                             const std::string& name, fs::CreateMode mode, std::uint64_t verifier,
                             const fs::NewNode& node) override {
    return held(mount_.create(who, dir, name, mode, verifier, node));
  }
  Result<fs::Created> mkdir(const fs::Credentials& who, const fs::Handle& dir,
                            const std::string& name, const fs::NewNode& node) override {
    return held(mount_.mkdir(who, dir, name, node));
  }
  Result<fs::Created> mknod(const fs::Credentials& who, const fs::Handle& dir,
                            const std::string& name, const fs::NewNode& node) override {
    return held(mount_.mknod(who, dir, name, node));
  }
  Result<fs::Created> symlink(const fs::Credentials& who, const fs::Handle& dir,
                              const std::string& name, const fs::NewNode& node) override {
    return held(mount_.symlink(who, dir, name, node));
  }
  Result<std::string> readlink(const fs::Handle& handle) override {
    return held(mount_.readlink(handle));
  }
  Result<fs::DirectoryChange> link(const fs::Credentials& who, const fs::Handle& target,
                                   const fs::Handle& dir, const std::string& name) override {
    return held(mount_.link(who, target, dir, name));
  }
  Result<fs::DirectoryChange> unlink(const fs::Credentials& who, const fs::Handle& dir,
                                     const std::string& name) override {
    return held(mount_.unlink(who, dir, name));
  }
  Result<fs::DirectoryChange> rmdir(const fs::Credentials& who, const fs::Handle& dir,
                                    const std::string& name) override {
    return held(mount_.rmdir(who, dir, name));
  }
  Result<fs::Renamed> rename(const fs::Credentials& who, const fs::Handle& from_dir,
                             const std::string& from_name, const fs::Handle& to_dir,
                             const std::string& to_name) override {
    return held(mount_.rename(who, from_dir, from_name, to_dir, to_name));
  }
  Result<fs::DirectoryPage> readdir(const fs::Handle& dir, std::uint64_t cookie,
                                    std::size_t entries_max) override {
    return held(mount_.readdir(dir, cookie, entries_max));
  }
  bool has_xattrs() const override { return mount_.has_xattrs(); }
  Result<std::string> get_xattr(const fs::Credentials& who, const fs::Handle& handle,
                                const std::string& name) override {
    return held(mount_.get_xattr(who, handle, name));
  }
  Result<std::vector<fs::XattrName>> list_xattrs(const fs::Credentials& who,
                                                 const fs::Handle& handle,
                                                 std::uint64_t cookie) override {
    return held(mount_.list_xattrs(who, handle, cookie));
  }
  Status set_xattr(const fs::Credentials& who, const fs::Handle& handle, const std::string& name,
                   const std::string& value, fs::XattrOption option) override {
    return held(mount_.set_xattr(who, handle, name, value, option));
  }
  Status remove_xattr(const fs::Credentials& who, const fs::Handle& handle,
                      const std::string& name) override {
    return held(mount_.remove_xattr(who, handle, name));
  }
  Result<fs::SpaceUse> statfs(const std::optional<fs::Handle>& at) override {
    return held(mount_.statfs(at));
  }
  Result<std::optional<fs::QuotaStanding>> quota_of(const fs::Credentials& who,
                                                    const fs::Subject& subject) override {
    return held(mount_.quota_of(who, subject));
  }
  Result<fs::Attributes> resolve(const std::string& path) override {
    return held(mount_.resolve(path));
  }

  void opened(const fs::Handle& handle) override { mount_.opened(handle); }
  void closed(const fs::Handle& handle) override { mount_.closed(handle); }
  Result<fs::ShareAnswer> share(const fs::Handle& handle, fs::ShareMode before, fs::ShareMode after,
                                bool is_reclaim) override {
    return held(mount_.share(handle, before, after, is_reclaim));
  }
  bool keeps_acls() const override { return mount_.keeps_acls(); }
  bool is_denied(const fs::Handle& handle, std::uint8_t bits) const override {
    return mount_.is_denied(handle, bits);
  }

  void read(const fs::Handle& handle, FileOffset offset, std::size_t bytes,
            fs::ReadCallback done) override {
    mount_.read(handle, offset, bytes, held<fs::ReadResult>(std::move(done)));
  }
  void write(const fs::Handle& handle, FileOffset offset, std::span<const std::byte> data,
             fs::WriteStability wanted, fs::WriteCallback done) override {
    mount_.write(handle, offset, data, wanted, held<fs::WriteResult>(std::move(done)));
  }
  void commit(const fs::Handle& handle, fs::StatusCallback done) override {
    mount_.commit(handle, held<void>(std::move(done)));
  }
  Status allocate(const fs::Handle& handle, FileOffset offset, std::uint64_t bytes) override {
    return held(mount_.allocate(handle, offset, bytes));
  }
  Status deallocate(const fs::Handle& handle, FileOffset offset, std::uint64_t bytes) override {
    return held(mount_.deallocate(handle, offset, bytes));
  }
  Result<std::optional<fs::Sought>> seek(const fs::Handle& handle, FileOffset offset,
                                         fs::Content content) override {
    return held(mount_.seek(handle, offset, content));
  }

  fs::Gate& gate() override { return mount_.gate(); }
  fs::FileLocks& locks() override { return mount_.locks(); }
  kv::SessionCounters counters() const override { return mount_.counters(); }
  Result<std::optional<fs::Handle>> done_before(const fs::Call& call) override {
    return held(mount_.done_before(call));
  }

 private:
  template <class T>
  static bool is_over(const Result<T>& answer, Exit exit) {
    if (answer) return false;
    const ErrorCode code = answer.error().code;
    const bool ended = code == ErrorCode::kEnded || code == ErrorCode::kFenced;
    if (ended && exit == Exit::kAtOnce) kill(current_process());
    return ended || code == ErrorCode::kShutdown;
  }
  template <class T>
  Result<T> held(Result<T> answer) const {
    if (is_over(answer, exit_)) sleep_ns(INT64_MAX / 4);
    return answer;
  }
  template <class T>
  std::function<void(Result<T>)> held(std::function<void(Result<T>)> done) const {
    return [done = std::move(done), exit = exit_](Result<T> answer) {
      if (!is_over(answer, exit)) done(std::move(answer));
    };
  }

  fs::Mount& mount_;
  const Exit exit_;
};

}  // namespace symnas::sim
