// nfs_badinput: requests that an NFSv3 server must refuse, and must survive.
//
//   nfs_badinput handles --url URL [--other URL] [--count 2000] [--seed N]
//       random handles, handles with changed bytes, of deleted objects and (--other) of another
//       filesystem under this export's header: BADHANDLE, STALE or another refusal
//   nfs_badinput names --url URL
//       names of 256 bytes, empty, with '/', "." and "..": refused by every operation; 255 work
//   nfs_badinput full --url URL [--limit 64G]
//       fills the filesystem: NOSPC, what was acknowledged is there, a refused write changed
//       nothing, removing makes room again
//   nfs_badinput quota --url URL [--limit 20000]
//       fills the metadata store with up to `limit` symlinks of long targets: NOSPC, nothing is
//       created, existing objects are served and written in place, removing makes room again
// Prints the differences; the last line is "N checks, N failed". Exit status: 0, 1 a failure, 2
// usage, 3 no mount.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <random>

#include "tests/client/command_line.h"
#include "tests/client/nfs3_client.h"

namespace {

using symnas::nfs3::CommandLine;
using symnas::nfs3::Handle;
using symnas::nfs3::kNoReply;
using symnas::nfs3::NewAttributes;
using symnas::nfs3::Nfs3Client;
using symnas::nfs3::ObjectReply;
using symnas::nfs3::status_name;
using symnas::nfs3::Url;

constexpr std::size_t kNameBytesMax = 255;
// ganesha's own part of a v3 handle (struct file_handle_v3): version, length, export id, flags.
constexpr std::size_t kServerHeaderBytes = 5;
// The header and our own 26 bytes; ganesha pads the rest to a multiple of four and never reads it.
constexpr std::size_t kMeaningfulBytes = kServerHeaderBytes + 26;
constexpr std::uint32_t kFillBytes = 1 << 20;
constexpr int kRoomAgainS = 30;  // freed space comes back in the background
constexpr std::size_t kLongTargetBytes = 1000;
constexpr int kQuotaRoomAgainS = 60;  // compaction of the history, then a check
constexpr int kPrintedFailuresMax = 20;

class BadInput {
 public:
  BadInput(std::unique_ptr<Nfs3Client> client, std::uint64_t seed)
      : client_(std::move(client)), random_(seed) {}

  void handles(const Nfs3Client* other, std::uint64_t count);
  void names();
  void full(std::uint64_t limit_bytes);
  void quota(std::uint64_t limit);
  int finish() const;

 private:
  void check(bool good, const std::string& what);
  void refused(int status, const std::string& what);
  void use_everywhere(const Handle& handle, const std::string& what);
  void deleted_objects();
  void bad_name(const std::string& name, const std::string& what);
  std::vector<Handle> fill(std::uint64_t limit_bytes);
  bool filled_with(const Handle& file, std::uint64_t number, std::uint64_t size);
  std::string block(std::uint64_t number) const;

  std::unique_ptr<Nfs3Client> client_;
  std::mt19937_64 random_;
  std::uint64_t checks_ = 0;
  std::uint64_t failures_ = 0;
};

void BadInput::check(bool good, const std::string& what) {
  ++checks_;
  if (good) return;
  if (++failures_ <= kPrintedFailuresMax) std::printf("FAIL %s\n", what.c_str());
}

// Any error is a refusal; no answer at all means that the server died or hangs.
void BadInput::refused(int status, const std::string& what) {
  check(status != NFS3_OK && status != kNoReply && status != NFS3ERR_SERVERFAULT &&
            status != NFS3ERR_JUKEBOX,
        what + " answered " + status_name(status));
  if (!client_->connected()) client_->reconnect(30'000);
}

void BadInput::use_everywhere(const Handle& handle, const std::string& what) {
  NewAttributes mode;
  mode.mode = 0600;
  refused(client_->getattr(handle).status, what + ": GETATTR");
  refused(client_->setattr(handle, mode).status, what + ": SETATTR");
  refused(client_->lookup(handle, "x").status, what + ": LOOKUP");
  refused(client_->read(handle, 0, 100).status, what + ": READ");
  refused(client_->write(handle, 0, "bytes", FILE_SYNC).status, what + ": WRITE");
  refused(client_->commit(handle, 0, 0).status, what + ": COMMIT");
  refused(client_->create(handle, "x", GUARDED, mode).status, what + ": CREATE");
  refused(client_->mkdir(handle, "x", mode).status, what + ": MKDIR");
  refused(client_->remove(handle, "x"), what + ": REMOVE");
  refused(client_->rename(handle, "x", client_->root(), "y"), what + ": RENAME from");
  refused(client_->link(handle, client_->root(), "never"), what + ": LINK");
  refused(client_->readdir(handle, 0, 0, 4096).status, what + ": READDIR");
  refused(client_->readdirplus(handle, 0, 0, 4096, 8192).status, what + ": READDIRPLUS");
  refused(client_->readlink(handle).status, what + ": READLINK");
  refused(client_->access(handle, ACCESS3_READ).status, what + ": ACCESS");
}

void BadInput::deleted_objects() {
  NewAttributes mode;
  mode.mode = 0755;
  const ObjectReply file = client_->create(client_->root(), "badinput-file", UNCHECKED, mode);
  const ObjectReply directory = client_->mkdir(client_->root(), "badinput-directory", mode);
  check(file.status == NFS3_OK && directory.status == NFS3_OK, "making what is to be deleted");
  const int written = client_->write(file.handle, 0, "bytes", FILE_SYNC).status;
  check(written == NFS3_OK, "WRITE to a new file answered " + status_name(written));
  check(client_->remove(client_->root(), "badinput-file") == NFS3_OK, "REMOVE");
  check(client_->rmdir(client_->root(), "badinput-directory") == NFS3_OK, "RMDIR");
  use_everywhere(file.handle, "deleted file");
  use_everywhere(directory.handle, "deleted directory");
  const int status = client_->getattr(file.handle).status;
  check(status == NFS3ERR_STALE || status == NFS3ERR_BADHANDLE,
        "GETATTR of a deleted file answered " + status_name(status));
}

void BadInput::handles(const Nfs3Client* other, std::uint64_t count) {
  deleted_objects();
  const Handle root = client_->root();
  for (std::uint64_t i = 0; i < count; ++i) {
    Handle handle = root;
    if (i % 3 == 0) handle.assign(random_() % (NFS3_FHSIZE + 1), '\0');
    if (i % 3 == 1) handle.resize(random_() % (NFS3_FHSIZE + 1), '\x5a');
    const std::size_t keep = i % 3 == 0 ? 0 : std::min(handle.size(), kServerHeaderBytes);
    for (std::size_t at = keep; at < handle.size(); ++at) {
      if (i % 3 == 0 || random_() % 4 == 0) handle[at] = static_cast<char>(random_());
    }
    if (handle.size() == root.size() &&
        handle.compare(0, kMeaningfulBytes, root, 0, kMeaningfulBytes) == 0)
      continue;
    const std::string what = "random handle " + std::to_string(i);
    if (i % 50 == 0) {
      use_everywhere(handle, what);
    } else {
      refused(client_->getattr(handle).status, what + ": GETATTR");
    }
  }
  if (other != nullptr) {
    // A handle of the other filesystem under our export's header: its filesystem is not the
    // export's.
    const Handle spliced =
        root.substr(0, kServerHeaderBytes) + other->root().substr(kServerHeaderBytes);
    check(spliced != root, "the other URL shows the same filesystem");
    use_everywhere(spliced, "handle of another filesystem");
  }
  check(client_->getattr(root).status == NFS3_OK, "the root answers after all that");
}

void BadInput::bad_name(const std::string& name, const std::string& what) {
  NewAttributes mode;
  mode.mode = 0644;
  const Handle& root = client_->root();
  refused(client_->create(root, name, UNCHECKED, mode).status, what + ": CREATE");
  refused(client_->create(root, name, EXCLUSIVE, {}, 7).status, what + ": CREATE exclusive");
  refused(client_->mkdir(root, name, mode).status, what + ": MKDIR");
  refused(client_->symlink(root, name, "target", mode).status, what + ": SYMLINK");
  refused(client_->mknod(root, name, NF3FIFO, mode, {}).status, what + ": MKNOD");
  refused(client_->remove(root, name), what + ": REMOVE");
  refused(client_->rmdir(root, name), what + ": RMDIR");
  refused(client_->rename(root, name, root, "fine"), what + ": RENAME from");
  const ObjectReply file = client_->create(root, "badinput-file", UNCHECKED, mode);
  check(file.status == NFS3_OK, "CREATE of a good name");
  refused(client_->rename(root, "badinput-file", root, name), what + ": RENAME to");
  refused(client_->link(file.handle, root, name), what + ": LINK");
  check(client_->remove(root, "badinput-file") == NFS3_OK, "the file is still there");
}

void BadInput::names() {
  const Handle& root = client_->root();
  const std::string too_long(kNameBytesMax + 1, 'n');
  bad_name(too_long, "256 bytes");
  const int status = client_->lookup(root, too_long).status;
  check(status == NFS3ERR_NAMETOOLONG, "LOOKUP of 256 bytes answered " + status_name(status));
  bad_name(std::string(1000, 'n'), "1000 bytes");
  bad_name("", "empty name");
  bad_name("a/b", "name with a slash");
  bad_name(".", "'.'");
  bad_name("..", "'..'");
  const std::string longest(kNameBytesMax, 'm');
  NewAttributes mode;
  mode.mode = 0644;
  check(client_->create(root, longest, GUARDED, mode).status == NFS3_OK, "CREATE of 255 bytes");
  check(client_->lookup(root, longest).status == NFS3_OK, "LOOKUP of 255 bytes");
  check(client_->remove(root, longest) == NFS3_OK, "REMOVE of 255 bytes");
}

std::string BadInput::block(std::uint64_t number) const {
  std::string bytes(kFillBytes, '\0');
  for (std::size_t at = 0; at < bytes.size(); at += sizeof number) {
    const std::uint64_t word = number * 0x9e3779b97f4a7c15ull + at;
    std::memcpy(bytes.data() + at, &word, sizeof word);
  }
  return bytes;
}

// Writes files of 64 blocks until NOSPC. Every block contains its number in the whole sequence.
std::vector<Handle> BadInput::fill(std::uint64_t limit_bytes) {
  constexpr std::uint64_t kBlocksPerFile = 64;
  std::vector<Handle> files;
  NewAttributes mode;
  mode.mode = 0644;
  for (std::uint64_t number = 0; number * kFillBytes < limit_bytes; ++number) {
    if (number % kBlocksPerFile == 0) {
      const std::string name = "full-" + std::to_string(files.size());
      const ObjectReply made = client_->create(client_->root(), name, GUARDED, mode);
      check(made.status == NFS3_OK || made.status == NFS3ERR_NOSPC,
            "CREATE: " + status_name(made.status));
      if (made.status != NFS3_OK) return files;
      files.push_back(made.handle);
    }
    const std::uint64_t offset = number % kBlocksPerFile * kFillBytes;
    const auto reply = client_->write(files.back(), offset, block(number), FILE_SYNC);
    if (reply.status == NFS3_OK) {
      check(reply.count == kFillBytes, "a short WRITE was acknowledged");
      continue;
    }
    check(reply.status == NFS3ERR_NOSPC, "WRITE: " + status_name(reply.status));
    const auto now = client_->getattr(files.back());
    check(now.status == NFS3_OK && now.attributes->size == offset,
          "the refused WRITE left size " +
              std::to_string(now.attributes ? now.attributes->size : 0) + ", was " +
              std::to_string(offset));
    return files;
  }
  check(false, "no NOSPC within the limit");
  return files;
}

bool BadInput::filled_with(const Handle& file, std::uint64_t number, std::uint64_t size) {
  for (std::uint64_t at = 0; at < size; at += kFillBytes, ++number) {
    const auto got = client_->read(file, at, kFillBytes);
    if (got.status != NFS3_OK || got.data != block(number)) return false;
  }
  return true;
}

void BadInput::full(std::uint64_t limit_bytes) {
  constexpr std::uint64_t kBlocksPerFile = 64;
  const Handle& root = client_->root();
  const std::vector<Handle> files = fill(limit_bytes);
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const auto now = client_->getattr(files[i]);
    check(now.status == NFS3_OK, "GETATTR on a full filesystem");
    total += now.attributes ? now.attributes->size : 0;
    check(filled_with(files[i], i * kBlocksPerFile, now.attributes ? now.attributes->size : 0),
          "file " + std::to_string(i) + " holds what was acknowledged");
  }
  if (files.empty()) return;
  const std::string in_place(4096, 'p');
  check(client_->write(files.front(), 0, in_place, FILE_SYNC).status == NFS3_OK,
        "WRITE in place on a full filesystem");
  check(client_->read(files.front(), 0, 4096).data == in_place, "READ of it");
  const auto space = client_->fsstat(root);
  std::printf("filled %llu MiB in %zu files; FSSTAT says %llu of %llu MiB are free\n",
              static_cast<unsigned long long>(total >> 20), files.size(),
              static_cast<unsigned long long>(space.space.abytes >> 20),
              static_cast<unsigned long long>(space.space.tbytes >> 20));

  check(client_->remove(root, "full-0") == NFS3_OK, "REMOVE on a full filesystem");
  NewAttributes mode;
  mode.mode = 0644;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(kRoomAgainS);
  ObjectReply again;
  int status = NFS3ERR_NOSPC;
  while (status == NFS3ERR_NOSPC && std::chrono::steady_clock::now() < end) {
    again = client_->create(root, "full-again", UNCHECKED, mode);
    status = again.status == NFS3_OK ? client_->write(again.handle, 0, block(1), FILE_SYNC).status
                                     : again.status;
    if (status == NFS3ERR_NOSPC) usleep(100'000);
  }
  check(status == NFS3_OK, "WRITE after REMOVE: " + status_name(status));
  check(filled_with(again.handle, 1, kFillBytes), "the new file holds what was acknowledged");
  check(client_->remove(root, "full-again") == NFS3_OK, "REMOVE");
  for (std::size_t i = 1; i < files.size(); ++i) {
    check(client_->remove(root, "full-" + std::to_string(i)) == NFS3_OK, "REMOVE");
  }
}

void BadInput::quota(std::uint64_t limit) {
  const Handle& root = client_->root();
  const std::string target(kLongTargetBytes, 't');
  const auto name = [](std::uint64_t number) { return "quota-" + std::to_string(number); };
  NewAttributes mode;
  mode.mode = 0644;
  const ObjectReply file = client_->create(root, "quota-file", UNCHECKED, mode);
  check(client_->write(file.handle, 0, block(1), FILE_SYNC).status == NFS3_OK, "WRITE");
  std::uint64_t made = 0;
  int status = NFS3_OK;
  for (; made < limit && status == NFS3_OK; made += status == NFS3_OK ? 1 : 0) {
    status = client_->symlink(root, name(made), target, mode).status;
  }
  check(status == NFS3ERR_NOSPC, "SYMLINK at the end answered " + status_name(status));
  std::printf("%llu symlinks made\n", static_cast<unsigned long long>(made));

  const std::string in_place(4096, 'p');
  check(client_->write(file.handle, 0, in_place, FILE_SYNC).status == NFS3_OK, "WRITE in place");
  check(client_->read(file.handle, 0, 4096).data == in_place, "READ of it");
  check(client_->getattr(file.handle).status == NFS3_OK, "GETATTR");
  // More than the reserve can take as history: this succeeds only if freed space is used again.
  for (std::uint64_t i = 0; i < made; ++i) {
    status = client_->remove(root, name(i));
    check(status == NFS3_OK, "REMOVE answered " + status_name(status));
  }
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(kQuotaRoomAgainS);
  status = NFS3ERR_NOSPC;
  while (status == NFS3ERR_NOSPC && std::chrono::steady_clock::now() < end) {
    status = client_->create(root, "quota-again", UNCHECKED, mode).status;
    if (status == NFS3ERR_NOSPC) usleep(100'000);
  }
  check(status == NFS3_OK, "CREATE after REMOVE: " + status_name(status));
  check(client_->remove(root, "quota-again") == NFS3_OK, "REMOVE");
  check(client_->remove(root, "quota-file") == NFS3_OK, "REMOVE");
}

int BadInput::finish() const {
  std::printf("%llu checks, %llu failed\n", static_cast<unsigned long long>(checks_),
              static_cast<unsigned long long>(failures_));
  return failures_ == 0 ? 0 : 1;
}

std::unique_ptr<Nfs3Client> connect(const std::string& text) {
  const auto url = Url::parse(text);
  std::string error = "not nfs://ADDRESS/EXPORT";
  auto client = url ? Nfs3Client::mount(*url, error) : nullptr;
  if (client == nullptr) std::fprintf(stderr, "nfs_badinput: %s\n", error.c_str());
  return client;
}

}  // namespace

int main(int argc, char** argv) {
  const auto line = CommandLine::parse(argc, argv);
  const std::string mode = line ? line->mode() : "";
  if (mode != "handles" && mode != "names" && mode != "full" && mode != "quota") {
    std::fprintf(stderr,
                 "usage: nfs_badinput handles|names|full|quota --url nfs://ADDRESS/EXPORT ...\n");
    return 2;
  }
  auto client = connect(line->text("url"));
  const auto other = line->text("other").empty() ? nullptr : connect(line->text("other"));
  if (client == nullptr || (other == nullptr && !line->text("other").empty())) return 3;
  const std::uint64_t seed = line->number("seed", static_cast<std::uint64_t>(getpid()));
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  BadInput run(std::move(client), seed);
  if (mode == "handles") run.handles(other.get(), line->number("count", 2000));
  if (mode == "names") run.names();
  if (mode == "full") run.full(line->number("limit", 64ull << 30));
  if (mode == "quota") run.quota(line->number("limit", 20'000));
  return run.finish();
}
