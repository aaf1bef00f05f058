#include "vnfsd/daemon/scrub/scrub_keeper.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/core.h>

#include "common/base/log.h"
#include "common/kv/scrub_keys.h"
#include "cvm/label_io.h"
#include "cvm/volume.h"
#include "fsal_cluster/types/limits.h"
#include "vnfsd/daemon/scrub/file_paths.h"
#include "vnfsd/daemon/scrub/limits.h"
#include "vnfsd/records/care_events.h"

namespace symnas::vnfsd::daemon {
namespace {

using records::ScrubRecord;

// The LUN's place in a volume with a filesystem.
Result<std::optional<ScrubbedLun>> place_of(const ClusterView& view, const std::string& uuid) {
  for (const auto& [name, volume] : view.volumes) {
    const std::vector<Uuid> luns = cvm::luns_of(volume.record);
    for (std::size_t i = 0; i < luns.size(); ++i) {
      if (cvm::uuid_to_bytes(luns[i]) != uuid) continue;
      for (const auto& [fs_name, filesystem] : view.filesystems) {
        if (filesystem.record.volume() != name) continue;
        SYMNAS_ASSIGN(cvm::StripeMap map, cvm::stripe_map_of(volume.record));
        return std::optional<ScrubbedLun>(
            {std::move(map), LunIndex{static_cast<std::uint32_t>(i)}, filesystem.record});
      }
    }
  }
  return std::optional<ScrubbedLun>();
}

// Whether one of the places of its label can be read.
Status reachable(const cvm::LunDevice& device) {
  std::vector<std::byte> label(cvm::kLabelBytes);
  const Status first = device.read(0, label);
  if (first || first.error().code != ErrorCode::kIo) return first;
  return device.read(cvm::second_label_offset(device.size_bytes()), label);
}

// What is wrong with the label itself; "" = nothing. Errors: it cannot be read.
Result<std::string> label_problem(const cvm::LunDevice& device, const std::string& uuid) {
  const auto label = cvm::read_label(device);
  const auto is = [&](ErrorCode code) { return label.error().code == code; };
  if (!label) {
    if (is(ErrorCode::kIo)) SYMNAS_TRY(reachable(device));
    if (is(ErrorCode::kIo) || is(ErrorCode::kNotFound) || is(ErrorCode::kCorrupt) ||
        is(ErrorCode::kNotSupported))
      return label.error().message;
    return tl::unexpected<Error>(label.error());
  }
  if (cvm::uuid_to_bytes(label->label.lun) != uuid) return std::string("it is of another LUN");
  if (label->first_needs_repair) return std::string("its first copy is damaged");
  if (label->second_needs_repair) return std::string("its second copy is damaged");
  return std::string();
}

}  // namespace

void ScrubKeeper::start() {
  loop_.start(kScrubLookNs, [this] { return turn(); });
}

std::int64_t ScrubKeeper::turn() {
  if (!work_) {
    const auto taken = take_over();
    if (!taken && taken.error().code != ErrorCode::kUnavailable)
      log::warn("scrub: {}", taken.error().message);
    if (!taken || !*taken) return kScrubLookNs;
  }
  const auto next = step();
  if (next) return *next;
  failed(next.error());
  return work_ ? kScrubRetryNs : kScrubLookNs;
}

// An error of etcd may pass here as well as elsewhere; one of the LUN is left to another head.
void ScrubKeeper::failed(const Error& error) {
  const std::string lun = work_->record.lun();
  log::warn("scrub of lun {}: {}", lun, error.message);
  if (error.code == ErrorCode::kUnavailable || error.code == ErrorCode::kUnknownOutcome) {
    const auto ours = tell();
    if (ours && !*ours) work_.reset();
    return;
  }
  avoided_[lun] = head_.clock.mono_ns() + kScrubAvoidNs;
  const auto given = give_up_scrub(head_.store, {work_->record, work_->revision});
  if (!given) log::warn("scrub of lun {}: not given up: {}", lun, given.error().message);
  work_.reset();
}

bool ScrubKeeper::is_free(const ScrubEntry& entry) {
  const records::ScrubRecord& record = entry.record;
  if (record.state() != ScrubRecord::RUNNING) return false;
  const std::int64_t now_ns = head_.clock.mono_ns();
  Seen& seen = seen_[record.lun()];
  if (seen.revision != entry.revision) seen = {entry.revision, now_ns};
  if (const auto avoided = avoided_.find(record.lun()); avoided != avoided_.end()) {
    if (now_ns < avoided->second) return false;
    avoided_.erase(avoided);
  }
  if (record.head().empty() || record.head() == head_.config.head_name) return true;
  return now_ns - seen.since_ns >= kScrubSilentNs;
}

// True: there is work now.
Result<bool> ScrubKeeper::take_over() {
  SYMNAS_ASSIGN(const std::vector<ScrubEntry> entries, list_scrubs(head_.store));
  for (const ScrubEntry& entry : entries) {
    if (!is_free(entry)) continue;
    SYMNAS_ASSIGN(const ClusterView view, read_when_ready(head_, reader_));
    const auto lun = view.luns.find(entry.record.lun());
    if (lun == view.luns.end() || lun->second.record.uuid() != entry.record.lun_uuid()) continue;
    auto opened = open(view, entry);
    if (!opened) {
      avoided_[entry.record.lun()] = head_.clock.mono_ns() + kScrubAvoidNs;
      log::info("scrub of lun {}: not here: {}", entry.record.lun(), opened.error().message);
      continue;  // another head may see the LUN
    }
    std::unique_ptr<Work> work = std::move(*opened);
    work->record.set_head(head_.config.head_name);
    work->record.set_told_ns(head_.clock.wall_ns());
    SYMNAS_ASSIGN(const bool taken, write(work->record, work->revision));
    if (!taken) continue;
    work->told_ns = head_.clock.mono_ns();
    log::info("scrub of lun {}: goes on here at byte {}", entry.record.lun(),
              work->record.at_byte());
    work_ = std::move(work);
    return true;
  }
  return false;
}

Result<std::unique_ptr<ScrubKeeper::Work>> ScrubKeeper::open(const ClusterView& view,
                                                             const ScrubEntry& entry) {
  const std::string& uuid = entry.record.lun_uuid();
  SYMNAS_ASSIGN(const std::string path, luns_.path_of(uuid));
  SYMNAS_ASSIGN(cvm::LunDevice device, cvm::LunDevice::open(path, cvm::Access::kRead));
  auto work = std::unique_ptr<Work>(
      new Work{entry.record, entry.revision, {}, std::move(device), kScrubWindowBytes, 0, {}, 0});
  SYMNAS_ASSIGN(work->lun, place_of(view, uuid));
  SYMNAS_ASSIGN(const std::string label, label_problem(work->device, uuid));
  work->record.set_label(label);
  std::uint64_t end = work->device.size_bytes() / kScrubBlockBytes * kScrubBlockBytes;
  if (work->lun) end = cvm::kReservedBytes + work->lun->map.bytes_on(work->lun->lun);
  work->record.set_end_byte(end);
  work->window_end = work->record.at_byte();
  return work;
}

Status ScrubKeeper::fill_window() {
  Work& work = *work_;
  const std::uint64_t begin = std::max(work.record.at_byte(), work.window_end);
  const std::uint64_t end = std::min(begin + work.window_bytes, work.record.end_byte());
  std::vector<UsedPart> used;
  if (work.lun) {
    SYMNAS_ASSIGN(used, read_window(head_.store, *work.lun, begin, end));
  }
  work.parts = work.record.all() ? with_gaps(used, begin, end) : std::move(used);
  work.window_end = end;
  work.window_bytes = work.parts.empty() ? std::min(2 * work.window_bytes, kScrubWindowBytesMax)
                                         : kScrubWindowBytes;
  return {};
}

// Of the window; nullptr: it is read.
const UsedPart* ScrubKeeper::next_part() const {
  for (const UsedPart& part : work_->parts)
    if (part.byte + part.bytes > work_->record.at_byte()) return &part;
  return nullptr;
}

Result<std::int64_t> ScrubKeeper::step() {
  Work& work = *work_;
  const UsedPart* part = next_part();
  if (part == nullptr) {
    work.record.set_at_byte(std::max(work.record.at_byte(), work.window_end));
    if (work.record.at_byte() >= work.record.end_byte()) {
      work.record.set_state(ScrubRecord::DONE);
      name_files();
      SYMNAS_TRY(tell());
      log::info("scrub of lun {}: done, {} bytes are bad", work.record.lun(),
                work.record.bad_bytes());
      work_.reset();
      return 0;
    }
    SYMNAS_TRY(fill_window());
    part = next_part();
  }
  std::int64_t pause_ns = kScrubWindowPauseNs;
  if (part != nullptr) {
    SYMNAS_ASSIGN(pause_ns, read(*part));
  }
  if (head_.clock.mono_ns() - work.told_ns < kScrubTellNs) return pause_ns;
  SYMNAS_ASSIGN(const bool ours, tell());
  if (!ours) work_.reset();
  return pause_ns;
}

// Returns for how long the LUN is left alone then.
Result<std::int64_t> ScrubKeeper::read(const UsedPart& part) {
  Work& work = *work_;
  const std::uint64_t begin = std::max(work.record.at_byte(), part.byte);
  const std::uint64_t bytes = std::min(part.byte + part.bytes - begin, kScrubReadBytes);
  const std::int64_t since_ns = head_.clock.mono_ns();
  SYMNAS_ASSIGN(const std::vector<BadRun> bad,
                find_bad([&](std::uint64_t at,
                             std::span<std::byte> into) { return work.device.read(at, into); },
                         [&] { return reachable(work.device); }, begin, bytes));
  const std::int64_t took_ns = head_.clock.mono_ns() - since_ns;
  SYMNAS_TRY(note(bad));
  work.record.set_at_byte(begin + bytes);
  work.record.set_read_bytes(work.record.read_bytes() + bytes);
  const auto due_ns = static_cast<std::int64_t>(
      static_cast<double>(bytes) * 1e9 / static_cast<double>(work.record.bytes_per_second()));
  return std::max(due_ns - took_ns, kScrubRestTimes * took_ns);
}

// Whose the blocks are now: the window may have been read long ago.
Status ScrubKeeper::note(const std::vector<BadRun>& bad) {
  std::vector<std::pair<BadRun, UsedPart>> found;
  for (const BadRun& run : bad) {
    const std::uint64_t end = run.byte + run.bytes;
    std::vector<UsedPart> used;
    if (work_->lun) {
      SYMNAS_ASSIGN(used, read_window(head_.store, *work_->lun, run.byte, end));
    }
    for (const UsedPart& part : with_gaps(used, run.byte, end))
      found.push_back({{part.byte, std::min(part.bytes, end - part.byte), run.error}, part});
  }
  for (const auto& [run, part] : found) note(run, part);
  return {};
}

void ScrubKeeper::note(const BadRun& bad, const UsedPart& part) {
  ScrubRecord& record = work_->record;
  record.set_bad_bytes(record.bad_bytes() + bad.bytes);
  if (record.bad_size() >= kScrubBadMax) return;
  ScrubRecord::Bad& out = *record.add_bad();
  out.set_byte(bad.byte);
  out.set_bytes(bad.bytes);
  out.set_error(bad.error);
  if (part.ino != 0) {
    out.set_filesystem(work_->lun->filesystem.name());
    out.set_ino(part.ino);
    out.set_file_byte(part.file_byte + bad.byte - part.byte);
  }
  work_->told_ns = 0;  // is told at once
  std::string text =
      fmt::format("lun {}: {} bytes at byte {} cannot be read", record.lun(), bad.bytes, bad.byte);
  if (part.ino != 0)
    text +=
        fmt::format(" (fs {}, inode {}, byte {})", out.filesystem(), out.ino(), out.file_byte());
  log::warn("scrub: {}: {}", text, bad.error);
  if (record.bad_size() == 1) events_.tell(event::kLunUnreadable, text);
}

void ScrubKeeper::name_files() {
  ScrubRecord& record = work_->record;
  std::set<std::uint64_t> inos;
  for (const ScrubRecord::Bad& bad : record.bad())
    if (bad.ino() != 0 && bad.path().empty()) inos.insert(bad.ino());
  if (inos.empty()) return;
  const auto paths = find_paths(head_.store, work_->lun->filesystem.name(), inos);
  if (!paths) return log::warn("scrub of lun {}: {}", record.lun(), paths.error().message);
  for (ScrubRecord::Bad& bad : *record.mutable_bad())
    if (const auto path = paths->find(bad.ino()); path != paths->end()) bad.set_path(path->second);
}

Result<bool> ScrubKeeper::tell() {
  work_->record.set_told_ns(head_.clock.wall_ns());
  SYMNAS_ASSIGN(const bool written, write(work_->record, work_->revision));
  work_->told_ns = head_.clock.mono_ns();
  return written;
}

Result<bool> ScrubKeeper::write(const ScrubRecord& record, Revision& revision) {
  const std::string key = kv::keys::kScrubs + record.lun();
  kv::Txn txn;
  txn.compares = {kv::mod_revision_is(key, revision)};
  txn.success = {kv::put(key, record.SerializeAsString())};
  SYMNAS_ASSIGN(const kv::TxnResult done,
                kv::txn_blocking(head_.store, std::move(txn), fs::kAdminDeadlineMs));
  if (done.succeeded) revision = done.revision;
  return done.succeeded;
}

}  // namespace symnas::vnfsd::daemon
