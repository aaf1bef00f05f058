// DataPath: implements FileData over a session and a volume. It is the front door: each call goes
// to the part that knows how (data_context.h says what they share):
//   FileTable         which files are known           FileLoader        how an operation enters one
//   FileTokens        tokens of this mount            FileFlags         the write flag in them
//   FileCommitter     commits of a file's changes     MapSweeper        dead maps
//   FileReader        READ, SEEK                      FileWriter        WRITE
//   SpaceChanger      ALLOCATE, DEALLOCATE            AttributeChanger  size and mtime
//   FileRemover       removal                         MountRecovery     what an ended mount has
//   left IdleFiles         what the timer does             FilesInUse        for the next mount
//
// Thread class: thread-safe. Locks: table shard -> file -> space or attention list; nothing of the
// session, the volume or Background that may call back is called under one of them (Session::peek
// may be).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "fsal_cluster/data/attribute_changer.h"
#include "fsal_cluster/data/data_context.h"
#include "fsal_cluster/data/file_committer.h"
#include "fsal_cluster/data/file_data.h"
#include "fsal_cluster/data/file_flags.h"
#include "fsal_cluster/data/file_loader.h"
#include "fsal_cluster/data/file_reader.h"
#include "fsal_cluster/data/file_remover.h"
#include "fsal_cluster/data/file_table.h"
#include "fsal_cluster/data/file_tokens.h"
#include "fsal_cluster/data/file_writer.h"
#include "fsal_cluster/data/files_in_use.h"
#include "fsal_cluster/data/idle_files.h"
#include "fsal_cluster/data/map_sweeper.h"
#include "fsal_cluster/data/mount_recovery.h"
#include "fsal_cluster/data/quota_gate.h"
#include "fsal_cluster/data/space_changer.h"
#include "fsal_cluster/data/wait_for.h"

namespace symnas::fs {

class DataPath final : public FileData {
 public:
  // As FileData::open; `background` is the caller's in tests.
  static Result<std::unique_ptr<DataPath>> open(kv::Session& session, const env::Clock& clock,
                                                std::shared_ptr<cvm::VolumeIo> volume,
                                                std::unique_ptr<Background> background,
                                                FileDataOptions options);
  ~DataPath() override;

  std::optional<Overlay> overlay(Ino ino) override;
  Result<kv::Committed> set_size(const Handle& handle, std::uint64_t size_bytes, MtimeIs mtime,
                                 std::function<Status(records::Inode&)> edit,
                                 std::optional<kv::Op> also = std::nullopt) override;
  Result<kv::Committed> set_times(const Handle& handle, std::function<Status(records::Inode&)> edit,
                                  std::optional<kv::Op> also = std::nullopt) override;
  Result<Removal> plan_removal(const Handle& handle, const records::Inode& record) override;
  void removed(Removal removal) override;
  void abandoned(Removal removal) override;
  void read(const Handle& handle, FileOffset offset, std::size_t bytes, ReadCallback done) override;
  void write(const Handle& handle, FileOffset offset, std::span<const std::byte> data,
             WriteStability wanted, WriteCallback done) override;
  void commit(const Handle& handle, StatusCallback done) override;
  Status allocate(const Handle& handle, FileOffset offset, std::uint64_t bytes) override;
  Status deallocate(const Handle& handle, FileOffset offset, std::uint64_t bytes) override;
  Result<std::optional<Sought>> seek(const Handle& handle, FileOffset offset,
                                     Content content) override;
  Status flush_all() override { return idle_files_.flush_all(); }
  Result<SpaceUse> space() override;
  Status sweep_orphan(Ino ino, const records::Orphan& orphan) override;
  Status recover_ended_mount(MountId ended) override;
  SpaceAnnouncement announcement() override { return context_.space->announcement(); }
  std::vector<kv::Op> tokens_at_create(Ino ino) override { return flags_.tokens_at_create(ino); }
  Status record_usage() override { return wait_for(quota_.record()); }
  void created(Ino ino) override { flags_.created(ino); }
  Status publish_foreign(Ino ino) override { return tokens_.publish_foreign(ino); }
  void turned_sole() override { tokens_.turned_sole(); }
  std::vector<records::FileInUse> files_in_use() override { return files_in_use_.files_in_use(); }
  void fetch(const std::vector<records::FileInUse>& files) override { files_in_use_.fetch(files); }
  void stop_fetching() override { context_.running.stop_fetching(); }
  void stop_waiting() override;

  // One round of what timers do; the data path calls it every kTickNs.
  void tick() { idle_files_.tick(); }

 private:
  DataPath(kv::Session& session, const env::Clock& clock, std::shared_ptr<cvm::VolumeIo> volume,
           std::unique_ptr<Background> background, FileDataOptions options);
  Status open_space();

  DataContext context_;
  FileTable table_;
  MapSweeper sweeper_{context_, table_};
  FileLoader loader_{context_, table_, sweeper_};
  FileFlags flags_{context_, table_};
  FileCommitter committer_{context_, table_, loader_};
  FileTokens tokens_{context_, table_, loader_, committer_};
  FileReader reader_{context_, table_, loader_, tokens_};
  QuotaGate quota_{context_, table_, committer_};
  FileWriter writer_{context_, table_, sweeper_, loader_, flags_, committer_, tokens_, quota_};
  SpaceChanger space_changer_{context_,   table_,  sweeper_, loader_, flags_,
                              committer_, tokens_, writer_,  quota_};
  AttributeChanger attribute_changer_{context_,   table_,  sweeper_, loader_,
                                      committer_, tokens_, writer_};
  FileRemover remover_{context_, table_, sweeper_, tokens_};
  MountRecovery recovery_{context_, tokens_};
  IdleFiles idle_files_{context_, table_, flags_, committer_, tokens_};
  FilesInUse files_in_use_{context_, table_, loader_, tokens_};
};

}  // namespace symnas::fs
