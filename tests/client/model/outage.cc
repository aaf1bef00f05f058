// What ModelRun does after the server was down: everything acknowledged as stable must still be
// there; UNSTABLE data may be missing, but only if the write verifier has changed, and is sent
// again.
#include <algorithm>

#include "tests/client/model/model_run.h"

namespace symnas::model {
namespace {

constexpr std::uint32_t kChunkBytes = 256 << 10;
constexpr std::size_t kRecentWritesMax = 400;
// A server that holds calls back answers late. Only a broken connection makes the client repeat a
// call, so no earlier copy of a call can be executed after a later call.
constexpr int kDeadlineMs = 240'000;

// The server has gone down again.
struct Interrupted {};

template <class Reply>
Reply answered(Reply reply) {
  if (reply.status == nfs3::kNoReply) throw Interrupted{};
  return reply;
}

}  // namespace

void ModelRun::ride_outages(int patience_ms) {
  check(clients_.size() == 1, "outages are ridden out with one client");
  rides_outages_ = true;
  client().set_deadline_ms(kDeadlineMs);
  client().ride_outages(patience_ms, [this] { return after_outage(); });
}

bool ModelRun::executed_before(int status, int symptom, const Statuses& allowed) {
  if (!rides_outages_ || !client().repeated() || status != symptom) return false;
  if (std::find(allowed.begin(), allowed.end(), NFS3_OK) == allowed.end()) return false;
  recent_.back() += " -> executed without an answer";
  return true;
}

bool ModelRun::is_busy(const Node& node) const {
  return std::find(busy_.begin(), busy_.end(), &node) != busy_.end();
}

bool ModelRun::after_outage() {
  const std::string operation = recent_.empty() ? "" : recent_.back();
  note("--- outage during " + operation);
  verifier_known_ = false;
  try {
    for (const auto& node : model_.nodes()) {
      const bool written = writing_ && writing_->file == node.get();
      if ((written || !node->uncommitted.empty()) && !node->dead()) recover_file(*node);
    }
    check_recent_writes();
  } catch (const Interrupted&) {
    note("--- outage while looking");
    return false;
  }
  recent_writes_.clear();
  note("--- again: " + operation);
  return true;
}

// Reads what was acknowledged as stable since the last outage, or has just been sent again.
void ModelRun::check_recent_writes() {
  const std::size_t skip =
      recent_writes_.size() > kRecentWritesMax ? recent_writes_.size() - kRecentWritesMax : 0;
  for (std::size_t i = skip; i < recent_writes_.size(); ++i) {
    const auto& [file, offset, length] = recent_writes_[i];
    if (file->dead() || is_busy(*file)) continue;
    const auto count = static_cast<std::uint32_t>(std::min<std::uint64_t>(length, max_read_));
    note("READ of what was acknowledged: " + std::to_string(file->fileid) + " " +
         std::to_string(offset) + "+" + std::to_string(count));
    const nfs3::ReadReply got = answered(clients_.front()->read(file->handle, offset, count));
    check_read(*file, offset, count, got);
  }
}

void ModelRun::recover_file(Node& file) {
  nfs3::Nfs3Client& server = *clients_.front();
  const bool being_written = writing_ && writing_->file == &file;
  Uncommitted lossy = file.uncommitted;
  if (being_written) lossy.unstable_write(file.bytes, writing_->offset, writing_->data, 0);
  // Another operation under way may have truncated or removed the file.
  if (!is_busy(file) || being_written) check_leftover(file, lossy);
  if (file.uncommitted.empty()) return;
  note("COMMIT after the outage of " + std::to_string(file.fileid));
  const nfs3::WriteReply now = answered(server.commit(file.handle, 0, 0));
  if (is_busy(file) && now.status == NFS3ERR_STALE) return;
  check_status(now.status, {NFS3_OK});
  if (is_busy(file) || now.verifier != file.uncommitted.verifier()) return send_again(file);
  const nfs3::AttributesReply shown = answered(server.getattr(file.handle));
  check_status(shown.status, {NFS3_OK});
  check(shown.attributes->size == file.bytes.size(),
        "the write verifier is the same, the size is " + std::to_string(shown.attributes->size) +
            " instead of " + std::to_string(file.bytes.size()));
  for (const auto& [offset, length] : file.uncommitted.ranges())
    recent_writes_.push_back({&file, offset, length});
  file.uncommitted.committed();
}

// Every byte must be the guaranteed one, or one of a write that was sent.
void ModelRun::check_leftover(const Node& file, const Uncommitted& lossy) {
  nfs3::Nfs3Client& server = *clients_.front();
  note("GETATTR after the outage of " + std::to_string(file.fileid));
  const nfs3::AttributesReply shown = answered(server.getattr(file.handle));
  check_status(shown.status, {NFS3_OK});
  const std::uint64_t size = shown.attributes->size;
  check(size >= lossy.size_min() && size <= lossy.size_max(),
        "after the outage the size is " + std::to_string(size) + ", possible is " +
            std::to_string(lossy.size_min()) + " to " + std::to_string(lossy.size_max()));
  std::vector<std::uint64_t> blocks = file.bytes.written_blocks();
  const std::vector<std::uint64_t> sure = lossy.guaranteed().written_blocks();
  blocks.insert(blocks.end(), sure.begin(), sure.end());
  for (const auto& [offset, length] : lossy.ranges()) {
    const std::uint64_t begin = offset / FileBytes::kBlockBytes * FileBytes::kBlockBytes;
    for (std::uint64_t at = begin; at < offset + length; at += kChunkBytes) blocks.push_back(at);
  }
  std::sort(blocks.begin(), blocks.end());
  std::uint64_t next = 0;
  for (const std::uint64_t block : blocks) {
    if (block < next || block >= size) continue;
    note("READ after the outage of " + std::to_string(file.fileid) + " at " +
         std::to_string(block));
    const nfs3::ReadReply got =
        answered(server.read(file.handle, block, std::min(kChunkBytes, max_read_)));
    check_status(got.status, {NFS3_OK});
    const auto wrong = lossy.impossible(block, got.data);
    check(!wrong, "after the outage byte " + std::to_string(wrong.value_or(0)) + " of " +
                      std::to_string(size) + " is neither the acknowledged one nor one of " +
                      std::to_string(lossy.ranges().size()) + " writes that may be lost");
    next = block + std::max<std::uint64_t>(got.data.size(), 1);
  }
}

// As a client does that finds another verifier: sends again what its cache holds of the ranges.
void ModelRun::send_again(Node& file) {
  nfs3::Nfs3Client& server = *clients_.front();
  const std::uint32_t chunk = std::min(kChunkBytes, max_write_);
  std::uint64_t verifier = 0;
  bool one_verifier = true;
  bool first = true;
  for (const auto& [offset, length] : file.uncommitted.ranges()) {
    const std::string data = file.bytes.read(offset, length);
    for (std::size_t at = 0; at < data.size(); at += chunk) {
      note("WRITE again " + std::to_string(offset + at) + " of " + std::to_string(file.fileid));
      const nfs3::WriteReply got = answered(server.write(
          file.handle, offset + at, std::string_view(data).substr(at, chunk), UNSTABLE));
      check_status(got.status, {NFS3_OK});
      one_verifier = one_verifier && (first || got.verifier == verifier);
      verifier = got.verifier;
      first = false;
      bytes_resent_ += got.count;
    }
    recent_writes_.push_back({&file, offset, length});
  }
  note("COMMIT of what was sent again of " + std::to_string(file.fileid));
  const nfs3::WriteReply got = answered(server.commit(file.handle, 0, 0));
  check_status(got.status, {NFS3_OK});
  if (!one_verifier || got.verifier != verifier) throw Interrupted{};
  file.uncommitted.committed();
  file.mtime.reset();
}

}  // namespace symnas::model
