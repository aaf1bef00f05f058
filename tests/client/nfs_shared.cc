// nfs_shared: clients of several heads work on the same files and names. What one head has
// acknowledged every other one must show at once.
//
//   nfs_shared --urls URL,URL,... [--seconds 10] [--workers 4] [--seed N] [--deadline-s 60]
//              [--stable 0|1] [--pause-ms 0]
//
// Each worker has a connection to every head and chooses one at random for every call.
//   registers  512-byte sectors of files that all workers write in place: every sector's history
//              must be linearizable (tests/support/register_history.h)
//   own file   grows, shrinks and is rewritten through one head; size, bytes and times are checked
//              through another
//   names      made, renamed and removed through one head; looked up and listed through another
// A call without an answer is repeated until it has one. --stable 1: every WRITE is FILE_SYNC, so
// that nothing acknowledged may be lost when a head dies. Prints "running", then one line of JSON:
// {operations, outages, longest_ms, violations, waits_ms: [of each head, the longest time that a
// copy of a call was waited for], slow: [{kind: "io" | "metadata", head, at_s, ms}]}, where `slow`
// has the calls on registers and the LOOKUPs that took 500 ms and more. Ends early on SIGTERM. Exit
// status: 0 all coherent, 1 not, 2 usage, 3 no mount.
#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <random>
#include <stdexcept>
#include <thread>

#include "tests/client/command_line.h"
#include "tests/client/nfs3_client.h"
#include "tests/support/register_history.h"

namespace {

using symnas::nfs3::AttributesReply;
using symnas::nfs3::CommandLine;
using symnas::nfs3::Handle;
using symnas::nfs3::NewAttributes;
using symnas::nfs3::Nfs3Client;
using symnas::nfs3::ObjectReply;
using symnas::nfs3::ReadReply;
using symnas::nfs3::status_name;
using symnas::nfs3::Url;
using symnas::test::RegisterHistory;
using Clock = std::chrono::steady_clock;

constexpr int kPatienceMs = 120'000;
constexpr double kSlowMs = 500;
constexpr std::uint64_t kSector = 512;
constexpr std::uint64_t kSectors = 128;
constexpr std::uint64_t kRunMax = 32;
constexpr std::size_t kFiles = 2;
constexpr std::uint64_t kOwnBytesMax = 3 << 20;
constexpr std::uint32_t kOwnIoMax = 60'000;
constexpr std::size_t kNames = 6;

std::atomic<bool> stop_requested{false};

struct Incoherent : std::runtime_error {
  using std::runtime_error::runtime_error;
};
void expect(bool holds, const std::string& what) {
  if (!holds) throw Incoherent(what);
}
void expect_status(int status, int wanted, const std::string& what) {
  expect(status == wanted,
         what + ": " + status_name(status) + " instead of " + status_name(wanted));
}

std::int64_t now_ns() { return Clock::now().time_since_epoch().count(); }
std::int64_t time_ns(const nfstime3& time) {
  return static_cast<std::int64_t>(time.seconds) * 1'000'000'000 + time.nseconds;
}

// State that all workers share.
struct Registers {
  std::vector<Handle> files;
  std::mutex mutex;
  std::vector<std::vector<RegisterHistory>> histories;  // guarded by mutex
  std::atomic<std::uint64_t> newest{0};
};

// One slow call: in-place I/O on registers, or a look at attributes and names.
struct Slow {
  enum class Kind { kIo, kMetadata } kind;
  std::size_t head;
  double at_s;  // of the answer, seconds since the epoch
  double ms;
};

class Worker {
 public:
  Worker(const std::vector<Url>& heads, Registers& registers, std::string name, std::uint64_t seed,
         int deadline_ms, stable_how weakest)
      : registers_(registers), name_(std::move(name)), random_(seed), weakest_(weakest) {
    for (const Url& url : heads) {
      std::string error;
      auto client = Nfs3Client::mount(url, error);
      if (client == nullptr) throw std::runtime_error(url.server + ": " + error);
      client->set_deadline_ms(deadline_ms);
      client->ride_outages(kPatienceMs, [] { return true; });
      clients_.push_back(std::move(client));
    }
  }

  void prepare() {
    const ObjectReply directory = head().mkdir(head().root(), name_, {});
    expect_status(directory.status, NFS3_OK, "MKDIR " + name_);
    directory_ = directory.handle;
    const ObjectReply made = head().create(directory_, "own", GUARDED, {});
    expect_status(made.status, NFS3_OK, "CREATE own");
    own_ = made.handle;
  }
  void run(Clock::time_point end, std::chrono::milliseconds pause) {
    while (Clock::now() < end && !stop_requested) {
      const auto began = Clock::now();
      one();
      ++operations_;
      longest_ms_ = std::max(
          longest_ms_, std::chrono::duration<double, std::milli>(Clock::now() - began).count());
      if (pause.count() != 0) std::this_thread::sleep_for(pause);
    }
  }
  // REQUIRES: no other worker runs.
  void verify() {
    for (std::size_t i = 0; i < clients_.size(); ++i) {
      check_own(*clients_[i]);
      check_names(*clients_[i]);
    }
  }
  void clean_up() {
    for (std::size_t i = 0; i < kNames; ++i) {
      if (exists_[i]) head().remove(directory_, entry(i));
    }
    head().remove(directory_, "own");
    head().rmdir(head().root(), name_);
  }
  // Reads every register through every head.
  void read_all() {
    for (std::size_t i = 0; i < clients_.size(); ++i) {
      for (std::size_t file = 0; file < kFiles; ++file) {
        for (std::uint64_t first = 0; first < kSectors; first += kRunMax)
          read_registers(*clients_[i], file, first, kRunMax);
      }
    }
  }

  std::uint64_t operations() const { return operations_; }
  double longest_ms() const { return longest_ms_; }
  double longest_wait_ms(std::size_t head) const { return clients_.at(head)->longest_wait_ms(); }
  const std::vector<Slow>& slow() const { return slow_; }
  std::uint64_t outages() const {
    std::uint64_t sum = 0;
    for (const auto& client : clients_) sum += client->outages();
    return sum;
  }

 private:
  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }
  Nfs3Client& head() { return *clients_[below(clients_.size())]; }
  void note(const Nfs3Client& client, Slow::Kind kind, std::int64_t start_ns) {
    const double ms = static_cast<double>(now_ns() - start_ns) / 1e6;
    if (ms < kSlowMs) return;
    std::size_t index = 0;
    while (clients_[index].get() != &client) ++index;
    const auto at = std::chrono::system_clock::now().time_since_epoch();
    slow_.push_back({kind, index, std::chrono::duration<double>(at).count(), ms});
  }

  void one() {
    switch (below(16)) {
      case 0: resize_own(); break;
      case 1:
      case 2: write_own(); break;
      case 3: check_own(head()); break;
      case 4:
      case 5: change_name(); break;
      case 6: check_names(head()); break;
      case 7:
      case 8:
      case 9:
      case 10: write_registers(); break;
      default: {
        const std::uint64_t first = below(kSectors);
        read_registers(head(), below(kFiles), first,
                       1 + below(std::min(kRunMax, kSectors - first)));
        break;
      }
    }
  }

  // --- registers

  void write_registers() {
    const std::size_t file = below(kFiles);
    const std::uint64_t first = below(kSectors);
    const std::uint64_t count = 1 + below(std::min(kRunMax, kSectors - first));
    const std::uint64_t value = registers_.newest.fetch_add(count) + 1;
    std::string bytes;
    for (std::uint64_t i = 0; i < count; ++i) bytes += sector(value + i);
    Nfs3Client& client = head();
    const std::int64_t start = now_ns();
    const auto reply = client.write(registers_.files[file], first * kSector, bytes, FILE_SYNC);
    const std::int64_t end = now_ns();
    note(client, Slow::Kind::kIo, start);
    expect_status(reply.status, NFS3_OK, "WRITE of registers");
    expect(reply.count == bytes.size(), "a short WRITE");
    const std::scoped_lock lock(registers_.mutex);
    for (std::uint64_t i = 0; i < count; ++i)
      registers_.histories[file][first + i].add_write(value + i, start, end);
  }
  void read_registers(Nfs3Client& client, std::size_t file, std::uint64_t first,
                      std::uint64_t count) {
    const std::int64_t start = now_ns();
    const ReadReply reply = client.read(registers_.files[file], first * kSector,
                                        static_cast<std::uint32_t>(count * kSector));
    const std::int64_t end = now_ns();
    note(client, Slow::Kind::kIo, start);
    expect_status(reply.status, NFS3_OK, "READ of registers");
    expect(reply.data.size() == count * kSector, "a short READ of registers");
    const std::scoped_lock lock(registers_.mutex);
    for (std::uint64_t i = 0; i < count; ++i) {
      std::uint64_t value = 0;
      std::memcpy(&value, reply.data.data() + i * kSector, sizeof value);
      expect(reply.data.compare(i * kSector, kSector, sector(value)) == 0,
             "sector " + std::to_string(first + i) + " is torn");
      registers_.histories[file][first + i].add_read(value, start, end);
    }
  }
  static std::string sector(std::uint64_t value) {
    std::string out(kSector, '\0');
    for (std::size_t at = 0; at < kSector; at += sizeof value)
      std::memcpy(out.data() + at, &value, sizeof value);
    return out;
  }

  // --- the worker's own file

  void write_own() {
    const std::uint64_t at = below(3) == 0 ? below(bytes_.size() + 10'000) : bytes_.size();
    const std::string bytes(1 + below(kOwnIoMax), static_cast<char>('a' + below(26)));
    if (at + bytes.size() > kOwnBytesMax) return resize_own();
    const auto stable = below(3) == 0 ? FILE_SYNC : weakest_;
    Nfs3Client& writer = head();
    const auto reply = writer.write(own_, at, bytes, stable);
    expect_status(reply.status, NFS3_OK, "WRITE own");
    if (bytes_.size() < at + bytes.size()) bytes_.resize(at + bytes.size());
    bytes_.replace(at, bytes.size(), bytes);
    if (stable == UNSTABLE && below(2) == 0) {
      const auto committed = writer.commit(own_, 0, 0);
      expect_status(committed.status, NFS3_OK, "COMMIT own");
      if (committed.verifier != reply.verifier) rewrite_own(writer);
    }
    moved(head());
  }
  // To be called after a server has lost what it had not made stable.
  void rewrite_own(Nfs3Client& writer) {
    for (std::uint64_t at = 0; at < bytes_.size(); at += kOwnIoMax) {
      const auto reply =
          writer.write(own_, at, std::string_view(bytes_).substr(at, kOwnIoMax), FILE_SYNC);
      expect_status(reply.status, NFS3_OK, "WRITE own again");
    }
  }
  void resize_own() {
    NewAttributes size;
    size.size = below(2) == 0 ? below(bytes_.size() + 1) : below(kOwnBytesMax / 2);
    const AttributesReply reply = head().setattr(own_, size);
    expect_status(reply.status, NFS3_OK, "SETATTR of size");
    bytes_.resize(*size.size);
    moved(head());
  }
  // Checks size and times after a change, through another head.
  void moved(Nfs3Client& client) {
    const AttributesReply seen = client.getattr(own_);
    expect_status(seen.status, NFS3_OK, "GETATTR own");
    expect(seen.attributes->size == bytes_.size(),
           "own: size " + std::to_string(seen.attributes->size) + " instead of " +
               std::to_string(bytes_.size()));
    const std::int64_t ctime_ns = time_ns(seen.attributes->ctime);
    expect(ctime_ns > ctime_ns_,
           "own: ctime " + std::to_string(ctime_ns) + " after " + std::to_string(ctime_ns_));
    ctime_ns_ = ctime_ns;
  }
  void check_own(Nfs3Client& client) {
    const std::uint64_t whole = bytes_.size();
    const std::uint64_t at = whole == 0 ? 0 : below(whole);
    for (const auto& [from, count] : {std::pair<std::uint64_t, std::uint64_t>{at, kOwnIoMax},
                                      {whole > 5000 ? whole - 5000 : 0, 20'000}}) {
      const ReadReply reply = client.read(own_, from, static_cast<std::uint32_t>(count));
      expect_status(reply.status, NFS3_OK, "READ own");
      const std::string_view wanted = std::string_view(bytes_).substr(from, count);
      expect(reply.data == wanted, name_ + "/own at " + std::to_string(from) + ": " +
                                       std::to_string(reply.data.size()) + " bytes instead of " +
                                       std::to_string(wanted.size()) + ", or other ones");
      expect(reply.eof == (from + reply.data.size() >= whole), "own: eof is wrong");
    }
  }

  // --- names

  static std::string entry(std::size_t index) { return "n" + std::to_string(index); }
  void change_name() {
    const std::size_t index = below(kNames);
    const std::size_t other = below(kNames);
    Nfs3Client& client = head();
    if (!exists_[index]) {
      const ObjectReply made = client.create(directory_, entry(index), GUARDED, {});
      if (made.status != NFS3ERR_EXIST || !client.repeated())
        expect_status(made.status, NFS3_OK, "CREATE " + entry(index));
      exists_[index] = true;
    } else if (below(2) == 0 && other != index) {
      const int moved = client.rename(directory_, entry(index), directory_, entry(other));
      if (moved != NFS3ERR_NOENT || !client.repeated())
        expect_status(moved, NFS3_OK, "RENAME " + entry(index));
      exists_[index] = false;
      exists_[other] = true;
    } else {
      const int removed = client.remove(directory_, entry(index));
      if (removed != NFS3ERR_NOENT || !client.repeated())
        expect_status(removed, NFS3_OK, "REMOVE " + entry(index));
      exists_[index] = false;
    }
    check_name(head(), index);
    check_name(head(), other);
  }
  void check_name(Nfs3Client& client, std::size_t index) {
    const std::int64_t start = now_ns();
    const int status = client.lookup(directory_, entry(index)).status;
    note(client, Slow::Kind::kMetadata, start);
    expect_status(status, exists_[index] ? NFS3_OK : NFS3ERR_NOENT, "LOOKUP " + entry(index));
  }
  void check_names(Nfs3Client& client) {
    const auto page = client.readdir(directory_, 0, 0, 8192);
    expect_status(page.status, NFS3_OK, "READDIR");
    std::array<bool, kNames> seen{};
    for (const auto& found : page.entries) {
      for (std::size_t i = 0; i < kNames; ++i) seen[i] = seen[i] || found.name == entry(i);
    }
    expect(seen == exists_, name_ + ": READDIR shows other names");
  }

  Registers& registers_;
  const std::string name_;
  std::mt19937_64 random_;
  const stable_how weakest_;
  std::vector<std::unique_ptr<Nfs3Client>> clients_;
  Handle directory_;
  Handle own_;
  std::string bytes_;
  std::int64_t ctime_ns_ = 0;
  std::array<bool, kNames> exists_{};
  std::uint64_t operations_ = 0;
  double longest_ms_ = 0;
  std::vector<Slow> slow_;
};

std::vector<Url> parse_urls(const std::string& text) {
  std::vector<Url> out;
  for (std::size_t at = 0; at <= text.size() && !text.empty();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    const auto url = Url::parse(text.substr(at, comma - at));
    if (!url) return {};
    out.push_back(*url);
    at = comma + 1;
  }
  return out;
}

void make_registers(Nfs3Client& client, Registers& registers, const std::string& prefix) {
  for (std::size_t i = 0; i < kFiles; ++i) {
    const ObjectReply made = client.create(client.root(), prefix + std::to_string(i), GUARDED, {});
    expect_status(made.status, NFS3_OK, "CREATE of registers");
    const auto filled =
        client.write(made.handle, 0, std::string(kSectors * kSector, '\0'), FILE_SYNC);
    expect_status(filled.status, NFS3_OK, "WRITE of the first registers");
    registers.files.push_back(made.handle);
    registers.histories.emplace_back(kSectors);
  }
}

int run_all(const CommandLine& line, const std::vector<Url>& heads) {
  const std::uint64_t seed = line.number("seed", static_cast<std::uint64_t>(getpid()));
  const int deadline_ms = static_cast<int>(line.number("deadline-s", 60)) * 1000;
  const std::string prefix = "shared-" + std::to_string(seed) + "-";
  std::string error;
  const auto first = Nfs3Client::mount(heads.front(), error);
  if (first == nullptr) {
    std::fprintf(stderr, "nfs_shared: %s\n", error.c_str());
    return 3;
  }
  Registers registers;
  make_registers(*first, registers, prefix);
  std::vector<std::unique_ptr<Worker>> workers;
  for (std::uint64_t i = 0; i < line.number("workers", 4); ++i) {
    workers.push_back(
        std::make_unique<Worker>(heads, registers, prefix + "w" + std::to_string(i), seed + i,
                                 deadline_ms, line.number("stable", 0) > 0 ? FILE_SYNC : UNSTABLE));
    workers.back()->prepare();
  }
  std::printf("running, seed %llu\n", static_cast<unsigned long long>(seed));
  std::fflush(stdout);
  const auto end = Clock::now() + std::chrono::seconds(line.number("seconds", 10));
  const std::chrono::milliseconds pause(line.number("pause-ms", 0));
  std::vector<std::string> faults(workers.size());
  const auto guarded = [&](std::size_t i, const auto& action) {
    try {
      if (faults[i].empty()) action(*workers[i]);
    } catch (const Incoherent& incoherent) {
      faults[i] = incoherent.what();
    }
  };
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < workers.size(); ++i) {
    threads.emplace_back([&, i] { guarded(i, [&](Worker& worker) { worker.run(end, pause); }); });
  }
  for (auto& thread : threads) thread.join();
  for (std::size_t i = 0; i < workers.size(); ++i)
    guarded(i, [](Worker& worker) { worker.verify(); });
  guarded(0, [](Worker& worker) { worker.read_all(); });

  std::uint64_t operations = 0;
  std::uint64_t outages = 0;
  double longest_ms = 0;
  int violations = 0;
  for (std::size_t i = 0; i < workers.size(); ++i) {
    operations += workers[i]->operations();
    outages += workers[i]->outages();
    longest_ms = std::max(longest_ms, workers[i]->longest_ms());
    if (faults[i].empty()) {
      workers[i]->clean_up();
    } else {
      ++violations;
      std::fprintf(stderr, "nfs_shared: worker %zu: %s\n", i, faults[i].c_str());
    }
  }
  for (std::size_t file = 0; file < kFiles; ++file) {
    for (std::uint64_t sector = 0; sector < kSectors; ++sector) {
      const auto violation = registers.histories[file][sector].violation();
      if (!violation) continue;
      ++violations;
      std::fprintf(stderr, "nfs_shared: file %zu sector %llu: %s\n", file,
                   static_cast<unsigned long long>(sector), violation->c_str());
    }
    first->remove(first->root(), prefix + std::to_string(file));
  }
  std::printf(
      "{\"operations\": %llu, \"outages\": %llu, \"longest_ms\": %.1f, \"violations\": %d, "
      "\"waits_ms\": [",
      static_cast<unsigned long long>(operations), static_cast<unsigned long long>(outages),
      longest_ms, violations);
  const char* separator = "";
  for (std::size_t i = 0; i < heads.size(); ++i) {
    double longest_wait_ms = 0;
    for (const auto& worker : workers)
      longest_wait_ms = std::max(longest_wait_ms, worker->longest_wait_ms(i));
    std::printf("%s%.1f", separator, longest_wait_ms);
    separator = ", ";
  }
  std::printf("], \"slow\": [");
  separator = "";
  for (const auto& worker : workers) {
    for (const Slow& slow : worker->slow()) {
      std::printf("%s{\"kind\": \"%s\", \"head\": %zu, \"at_s\": %.3f, \"ms\": %.1f}", separator,
                  slow.kind == Slow::Kind::kIo ? "io" : "metadata", slow.head, slow.at_s, slow.ms);
      separator = ", ";
    }
  }
  std::printf("]}\n");
  return violations > 0 ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  const auto line = CommandLine::parse(argc, argv);
  const std::vector<Url> heads = line ? parse_urls(line->text("urls")) : std::vector<Url>{};
  if (heads.empty()) {
    std::fprintf(stderr,
                 "usage: nfs_shared --urls nfs://ADDRESS/EXPORT,... [--seconds N] [--workers N]"
                 " [--seed N] [--deadline-s N] [--stable 0|1] [--pause-ms N]\n");
    return 2;
  }
  signal(SIGTERM, [](int) { stop_requested = true; });
  try {
    return run_all(*line, heads);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "nfs_shared: %s\n", error.what());
    return 1;
  }
}
