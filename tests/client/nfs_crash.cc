// nfs_crash: writers that know exactly what was acknowledged, for a server that is killed while
// they write.
//
//   nfs_crash --url URL [--seconds 10] [--workers 4] [--pause-us 0] [--seed N] [--deadline-s 60]
//
// Each worker has a directory of its own and repeats an operation that got no answer until it is
// acknowledged (as a client does after a reconnect), so that at the end the expected state is
// exact: every name, every byte, nothing more. UNSTABLE writes are sent again unless a COMMIT with
// the same verifier has acknowledged them (RFC 1813 3.3.21). After each reconnect a worker checks a
// few files at once; at the end a new client checks all of them. Ends early on SIGTERM. Prints
// "running", then one line of JSON. Exit status: 0 all there, 1 a loss, 2 usage, 3 no mount.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <map>
#include <random>
#include <stdexcept>
#include <thread>

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
using Clock = std::chrono::steady_clock;

constexpr int kReconnectMs = 120'000;
constexpr std::chrono::milliseconds kJukeboxPause{100};
constexpr std::size_t kFilesMax = 300;
constexpr std::uint32_t kWriteBytesMax = 48 << 10;
constexpr std::uint32_t kReadBytes = 256 << 10;
constexpr int kQuickChecks = 8;
constexpr int kPageBytes = 8192;

std::atomic<bool> stop_requested{false};

struct Loss : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct File {
  Handle handle;
  std::string bytes;  // as acknowledged
};

class Worker {
 public:
  Worker(std::unique_ptr<Nfs3Client> client, std::string name, std::uint64_t seed,
         unsigned pause_us)
      : client_(std::move(client)), name_(std::move(name)), random_(seed), pause_us_(pause_us) {}

  void prepare();                   // throws Loss, like all functions below
  void run(Clock::time_point end);  // until `end`, or SIGTERM
  void verify(Nfs3Client& fresh);   // checks everything, through another client
  void clean_up();

  std::uint64_t operations() const { return operations_; }
  std::uint64_t reconnects() const { return reconnects_; }
  double longest_gap_ms() const { return longest_gap_ms_; }

 private:
  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }
  std::string any_bytes();
  File& any_file(std::string& name);
  File& pick_file(std::string& name);  // any file; it counts as being worked on

  // Repeats `attempt(repeated)` until it is answered.
  template <class Attempt>
  int acknowledged(Attempt attempt);
  void expect(bool good, const std::string& what) const;
  void check_file(Nfs3Client& client, const std::string& name, const File& file);
  void quick_check();

  void op_create();
  void op_write_stable();
  void op_write_and_commit();
  void op_truncate();
  void op_rename();
  void op_remove();

  std::unique_ptr<Nfs3Client> client_;
  std::string name_;
  std::mt19937_64 random_;
  unsigned pause_us_;  // between two operations
  Handle directory_;
  std::map<std::string, File> files_;
  std::string busy_;  // the file whose operation may have been executed without an answer
  std::uint64_t next_name_ = 0;
  std::uint64_t operations_ = 0;
  std::uint64_t reconnects_ = 0;
  Clock::time_point last_answer_ = Clock::now();
  double longest_gap_ms_ = 0;
};

void Worker::expect(bool good, const std::string& what) const {
  if (!good) throw Loss(name_ + ": " + what);
}

template <class Attempt>
int Worker::acknowledged(Attempt attempt) {
  bool repeated = false;
  for (;;) {
    const int status = attempt(repeated);
    const auto waited = Clock::now() - last_answer_;
    if (status == NFS3ERR_JUKEBOX && waited < std::chrono::milliseconds(kReconnectMs)) {
      std::this_thread::sleep_for(kJukeboxPause);  // it was not done (RFC 1813 2.6)
      continue;
    }
    if (status != kNoReply) {
      const std::chrono::duration<double, std::milli> gap = Clock::now() - last_answer_;
      longest_gap_ms_ = std::max(longest_gap_ms_, gap.count());
      last_answer_ = Clock::now();
      ++operations_;
      return status;
    }
    repeated = true;
    ++reconnects_;
    expect(client_->reconnect(kReconnectMs), "the server does not come back");
    quick_check();
  }
}

// Right after a reconnect: what was acknowledged before is still there.
void Worker::quick_check() {
  for (int i = 0; i < kQuickChecks && !files_.empty(); ++i) {
    std::string name;
    const File& file = any_file(name);
    if (name == busy_) continue;
    check_file(*client_, name, file);
    if (!client_->connected()) return;  // it was killed again
  }
}

void Worker::prepare() {
  NewAttributes attributes;
  attributes.mode = 0755;
  const ObjectReply made = client_->mkdir(client_->root(), name_, attributes);
  expect(made.status == NFS3_OK, "MKDIR: " + status_name(made.status));
  directory_ = made.handle;
  last_answer_ = Clock::now();
}

std::string Worker::any_bytes() {
  std::string bytes(1 + below(kWriteBytesMax), '\0');
  std::uint64_t word = random_();
  for (char& c : bytes) {
    word = word * 6364136223846793005ull + 1442695040888963407ull;
    c = static_cast<char>(word >> 56);
  }
  return bytes;
}

File& Worker::any_file(std::string& name) {
  auto it = files_.begin();
  std::advance(it, static_cast<std::ptrdiff_t>(below(files_.size())));
  name = it->first;
  return it->second;
}

File& Worker::pick_file(std::string& name) {
  File& file = any_file(name);
  busy_ = name;
  return file;
}

void Worker::op_create() {
  const std::string name = "f" + std::to_string(next_name_++);
  NewAttributes attributes;
  attributes.mode = 0644;
  Handle handle;
  const int status = acknowledged([&](bool repeated) {
    const ObjectReply made = client_->create(directory_, name, GUARDED, attributes);
    handle = made.handle;
    if (!repeated || made.status != NFS3ERR_EXIST) return made.status;
    // The try without an answer was executed as a whole: an empty file.
    const ObjectReply there = client_->lookup(directory_, name);
    handle = there.handle;
    if (there.status == NFS3_OK) expect(there.attributes->size == 0, name + " is half made");
    return there.status;
  });
  expect(status == NFS3_OK, "CREATE " + name + ": " + status_name(status));
  files_[name] = {handle, ""};
}

void Worker::op_write_stable() {
  std::string name;
  File& file = pick_file(name);
  const std::string bytes = any_bytes();
  const std::uint64_t offset = below(file.bytes.size() + 1);
  const int status = acknowledged([&](bool) {
    const auto reply = client_->write(file.handle, offset, bytes, FILE_SYNC);
    if (reply.status == NFS3_OK) {
      expect(reply.count == bytes.size() && reply.committed == FILE_SYNC, "a short WRITE");
    }
    return reply.status;
  });
  expect(status == NFS3_OK, "WRITE " + name + ": " + status_name(status));
  if (file.bytes.size() < offset + bytes.size()) file.bytes.resize(offset + bytes.size());
  file.bytes.replace(offset, bytes.size(), bytes);
}

void Worker::op_write_and_commit() {
  std::string name;
  File& file = pick_file(name);
  std::map<std::uint64_t, std::string> sent;
  for (int i = 0; i < 4; ++i) {
    const std::uint64_t offset = below(file.bytes.size() + 1);
    sent[offset] = any_bytes();
  }
  // In the order in which they are sent: later ones replace earlier ones where they overlap.
  for (;;) {
    std::uint64_t verifier = 0;
    bool one_verifier = true;
    bool first = true;
    for (const auto& [offset, bytes] : sent) {
      const int status = acknowledged([&, at = offset, &data = bytes](bool) {
        const auto reply = client_->write(file.handle, at, data, UNSTABLE);
        if (reply.status == NFS3_OK) {
          expect(reply.count == data.size(), "a short WRITE");
          one_verifier = one_verifier && (first || reply.verifier == verifier);
          verifier = reply.verifier;
          first = false;
        }
        return reply.status;
      });
      expect(status == NFS3_OK, "WRITE " + name + ": " + status_name(status));
      if (file.bytes.size() < offset + bytes.size()) file.bytes.resize(offset + bytes.size());
      file.bytes.replace(offset, bytes.size(), bytes);
    }
    std::uint64_t committed = 0;
    const int status = acknowledged([&](bool) {
      const auto reply = client_->commit(file.handle, 0, 0);
      committed = reply.verifier;
      return reply.status;
    });
    expect(status == NFS3_OK, "COMMIT " + name + ": " + status_name(status));
    if (one_verifier && committed == verifier) return;
  }
}

void Worker::op_truncate() {
  std::string name;
  File& file = pick_file(name);
  NewAttributes attributes;
  attributes.size = below(2 * file.bytes.size() + 1);
  const int status =
      acknowledged([&](bool) { return client_->setattr(file.handle, attributes).status; });
  expect(status == NFS3_OK, "SETATTR " + name + ": " + status_name(status));
  file.bytes.resize(*attributes.size);
}

void Worker::op_rename() {
  std::string name;
  File& file = pick_file(name);
  const std::string to = "r" + std::to_string(next_name_++);
  const int status = acknowledged([&](bool repeated) {
    const int answer = client_->rename(directory_, name, directory_, to);
    if (!repeated || answer != NFS3ERR_NOENT) return answer;
    const ObjectReply there = client_->lookup(directory_, to);
    if (there.status == NFS3_OK) expect(there.handle == file.handle, to + " is another file");
    return there.status;
  });
  expect(status == NFS3_OK, "RENAME " + name + ": " + status_name(status));
  files_[to] = std::move(file);
  files_.erase(name);
}

void Worker::op_remove() {
  std::string name;
  pick_file(name);
  const int status = acknowledged([&](bool repeated) {
    const int answer = client_->remove(directory_, name);
    return repeated && answer == NFS3ERR_NOENT ? static_cast<int>(NFS3_OK) : answer;
  });
  expect(status == NFS3_OK, "REMOVE " + name + ": " + status_name(status));
  files_.erase(name);
}

void Worker::run(Clock::time_point end) {
  while (!stop_requested && Clock::now() < end) {
    if (pause_us_ > 0) usleep(pause_us_);
    const std::uint64_t choice = below(100);
    if (files_.size() < 4 || (choice < 25 && files_.size() < kFilesMax)) {
      op_create();
    } else if (choice < 55) {
      op_write_stable();
    } else if (choice < 75) {
      op_write_and_commit();
    } else if (choice < 82) {
      op_truncate();
    } else if (choice < 92) {
      op_rename();
    } else {
      op_remove();
    }
  }
}

// Compares name, size and every byte. If the connection breaks, there is no verdict.
void Worker::check_file(Nfs3Client& client, const std::string& name, const File& file) {
  const ObjectReply found = client.lookup(directory_, name);
  if (found.status == kNoReply) return;
  expect(found.status == NFS3_OK, name + " is lost: " + status_name(found.status));
  expect(found.handle == file.handle, name + " has another handle");
  for (std::uint64_t at = 0; at <= file.bytes.size(); at += kReadBytes) {
    const auto got = client.read(file.handle, at, kReadBytes);
    if (got.status == kNoReply) return;
    expect(got.status == NFS3_OK, "READ " + name + ": " + status_name(got.status));
    const std::string_view should = std::string_view(file.bytes).substr(at, kReadBytes);
    const auto differs =
        std::mismatch(got.data.begin(), got.data.end(), should.begin(), should.end());
    expect(differs.first == got.data.end() && differs.second == should.end(),
           name + " differs at offset " +
               std::to_string(at + static_cast<std::uint64_t>(differs.second - should.begin())) +
               " of " + std::to_string(file.bytes.size()) + " (" + std::to_string(got.data.size()) +
               " bytes read)");
  }
}

void Worker::verify(Nfs3Client& fresh) {
  for (const auto& [name, file] : files_) {
    check_file(fresh, name, file);
    expect(fresh.connected(), "the connection broke while verifying");
  }
  std::uint64_t cookie = 0;
  std::uint64_t verifier = 0;
  std::size_t names = 0;
  for (bool eof = false; !eof;) {
    const auto page = fresh.readdir(directory_, cookie, verifier, kPageBytes);
    expect(page.status == NFS3_OK, "READDIR: " + status_name(page.status));
    for (const auto& entry : page.entries) {
      cookie = entry.cookie;
      if (entry.name == "." || entry.name == "..") continue;
      ++names;
      expect(files_.contains(entry.name), entry.name + " should not exist");
    }
    verifier = page.verifier;
    eof = page.eof;
  }
  expect(names == files_.size(),
         "READDIR shows " + std::to_string(names) + " names of " + std::to_string(files_.size()));
}

void Worker::clean_up() {
  if (!client_->connected() && !client_->reconnect(kReconnectMs)) return;
  for (const auto& [name, file] : files_) client_->remove(directory_, name);
  client_->rmdir(client_->root(), name_);
}

int run_all(const CommandLine& line, const Url& url) {
  const std::uint64_t seed = line.number("seed", static_cast<std::uint64_t>(getpid()));
  std::vector<std::unique_ptr<Worker>> workers;
  std::string error;
  for (std::uint64_t i = 0; i < line.number("workers", 4); ++i) {
    auto client = Nfs3Client::mount(url, error);
    if (client == nullptr) break;
    client->set_deadline_ms(static_cast<int>(line.number("deadline-s", 60)) * 1000);
    workers.push_back(std::make_unique<Worker>(
        std::move(client), "crash-" + std::to_string(seed) + "-" + std::to_string(i), seed + i,
        static_cast<unsigned>(line.number("pause-us", 0))));
    workers.back()->prepare();
  }
  if (!error.empty() && workers.empty()) {
    std::fprintf(stderr, "nfs_crash: %s\n", error.c_str());
    return 3;
  }
  std::printf("running, seed %llu\n", static_cast<unsigned long long>(seed));
  std::fflush(stdout);
  const auto end = Clock::now() + std::chrono::seconds(line.number("seconds", 10));
  std::vector<std::thread> threads;
  std::vector<std::string> losses(workers.size());
  for (std::size_t i = 0; i < workers.size(); ++i) {
    threads.emplace_back([&, i] {
      try {
        workers[i]->run(end);
      } catch (const Loss& loss) {
        losses[i] = loss.what();
      }
    });
  }
  for (auto& thread : threads) thread.join();

  const auto fresh = Nfs3Client::mount(url, error);
  std::uint64_t operations = 0;
  std::uint64_t reconnects = 0;
  double longest_gap_ms = 0;
  bool lost = fresh == nullptr;
  for (std::size_t i = 0; i < workers.size() && fresh != nullptr; ++i) {
    if (losses[i].empty()) {
      try {
        workers[i]->verify(*fresh);
      } catch (const Loss& loss) {
        losses[i] = loss.what();
      }
    }
    if (!losses[i].empty()) std::fprintf(stderr, "nfs_crash: LOSS: %s\n", losses[i].c_str());
    lost = lost || !losses[i].empty();
    operations += workers[i]->operations();
    reconnects += workers[i]->reconnects();
    longest_gap_ms = std::max(longest_gap_ms, workers[i]->longest_gap_ms());
    if (losses[i].empty()) workers[i]->clean_up();
  }
  std::printf(
      "{\"operations\": %llu, \"reconnects\": %llu, \"longest_gap_ms\": %.1f, "
      "\"lost\": %s}\n",
      static_cast<unsigned long long>(operations), static_cast<unsigned long long>(reconnects),
      longest_gap_ms, lost ? "true" : "false");
  return lost ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  const auto line = CommandLine::parse(argc, argv);
  const auto url = line ? Url::parse(line->text("url")) : std::nullopt;
  if (!url) {
    std::fprintf(stderr,
                 "usage: nfs_crash --url nfs://ADDRESS/EXPORT [--seconds N]"
                 " [--workers N] [--pause-us N] [--seed N] [--deadline-s N]\n");
    return 2;
  }
  signal(SIGTERM, [](int) { stop_requested = true; });
  try {
    return run_all(*line, *url);
  } catch (const Loss& loss) {
    std::fprintf(stderr, "nfs_crash: %s\n", loss.what());
    return 1;
  }
}
