// nfs_io: measures how fast and how steadily an NFSv3 server answers a user-space client.
//
//   nfs_io throughput --url URL [--size 1G] [--block 1M] [--depth 8]
//       one file written and read in sequence with `depth` requests in flight; the write's time
//       includes the COMMIT; every 512 bytes read are checked against what was written there
//   nfs_io gaps --url URL [--seconds 10] [--kinds read,write,create,getattr] [--pause-us 1000]
//               [--deadline-ms 60000]
//       one client per kind, one request at a time; the longest gap is the longest time between two
//       successful answers. `write` overwrites mapped blocks in place, stably. Ends early on
//       SIGTERM. --noted-ms N: each gap of N ms and more is listed, with the time of its end.
// Prints one line of JSON. Exit status: 0; 1 an operation failed or bytes differ; 2 usage; 3 no
// mount.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <iomanip>
#include <sstream>
#include <thread>
#include <vector>

#include "tests/client/command_line.h"
#include "tests/client/nfs3_client.h"

namespace {

using symnas::nfs3::CommandLine;
using symnas::nfs3::kNoReply;
using symnas::nfs3::Nfs3Client;
using symnas::nfs3::ObjectReply;
using symnas::nfs3::status_name;
using symnas::nfs3::Url;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kMarkEveryBytes = 512;
constexpr std::uint64_t kGapFileBytes = 4 << 20;
constexpr std::uint32_t kGapBlockBytes = 8192;
constexpr int kReconnectMs = 120'000;

std::atomic<bool> stop_requested{false};

double ms_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

// The block at `offset`: every 512 bytes of it contain a number that names the place.
void mark(std::string& block, std::uint64_t offset) {
  for (std::size_t at = 0; at + 8 <= block.size(); at += kMarkEveryBytes) {
    const std::uint64_t word = (offset + at) * 0x9e3779b97f4a7c15ull + 1;
    std::memcpy(block.data() + at, &word, sizeof word);
  }
}

bool marked(const char* data, std::uint32_t count, std::uint64_t offset) {
  for (std::size_t at = 0; at + 8 <= count; at += kMarkEveryBytes) {
    const std::uint64_t word = (offset + at) * 0x9e3779b97f4a7c15ull + 1;
    if (std::memcmp(data + at, &word, sizeof word) != 0) return false;
  }
  return true;
}

ObjectReply create_file(Nfs3Client& client, const std::string& name) {
  symnas::nfs3::NewAttributes attributes;
  attributes.mode = 0644;
  return client.create(client.root(), name, UNCHECKED, attributes);
}

struct Throughput {
  Nfs3Client& client;
  symnas::nfs3::Handle file;
  std::uint64_t size;
  std::uint32_t block;
  unsigned depth;
  std::string failure;

  double write();  // MiB/s
  double read();

 private:
  template <class Submit>
  void pipeline(Submit submit);
};

// Keeps `depth` requests in flight until all blocks were requested and answered.
template <class Submit>
void Throughput::pipeline(Submit submit) {
  std::uint64_t next = 0;
  unsigned flying = 0;
  while (failure.empty() && (next < size || flying > 0)) {
    while (flying < depth && next < size && failure.empty()) {
      const auto count = static_cast<std::uint32_t>(std::min<std::uint64_t>(block, size - next));
      ++flying;
      submit(next, count, [this, &flying](const std::string& fault) {
        --flying;
        if (!fault.empty() && failure.empty()) failure = fault;
      });
      next += count;
    }
    client.run_once(1000);
    if (!client.connected() && failure.empty()) failure = "the connection broke";
  }
  // Requests still in flight refer to variables of this function.
  while (flying > 0 && client.connected()) client.run_once(1000);
}

double Throughput::write() {
  const auto begin = Clock::now();
  std::string bytes(block, 'w');
  pipeline([&](std::uint64_t offset, std::uint32_t count, auto done) {
    mark(bytes, offset);
    client.submit_write(
        file, offset, std::string_view(bytes.data(), count), UNSTABLE,
        [done, count, offset](int status, const char*, std::uint32_t got) {
          const bool good = status == NFS3_OK && got == count;
          done(good ? "" : "WRITE at " + std::to_string(offset) + ": " + status_name(status));
        });
  });
  if (failure.empty()) {
    const int status = client.commit(file, 0, 0).status;
    if (status != NFS3_OK) failure = "COMMIT: " + status_name(status);
  }
  return static_cast<double>(size) / (1 << 20) / (ms_since(begin) / 1000);
}

double Throughput::read() {
  const auto begin = Clock::now();
  pipeline([&](std::uint64_t offset, std::uint32_t count, auto done) {
    client.submit_read(file, offset, count,
                       [done, count, offset](int status, const char* data, std::uint32_t got) {
                         const std::string what = "READ at " + std::to_string(offset) + ": ";
                         if (status != NFS3_OK) return done(what + status_name(status));
                         if (got != count) return done(what + "short");
                         done(marked(data, got, offset) ? "" : what + "other bytes than written");
                       });
  });
  return static_cast<double>(size) / (1 << 20) / (ms_since(begin) / 1000);
}

int run_throughput(const CommandLine& line, Nfs3Client& client) {
  const std::string name = "throughput-" + std::to_string(getpid());
  const ObjectReply made = create_file(client, name);
  if (made.status != NFS3_OK) {
    std::fprintf(stderr, "nfs_io: CREATE: %s\n", status_name(made.status).c_str());
    return 1;
  }
  Throughput run{client,
                 made.handle,
                 line.number("size", 1 << 30),
                 static_cast<std::uint32_t>(line.number("block", 1 << 20)),
                 static_cast<unsigned>(line.number("depth", 8)),
                 {}};
  const double write_rate = run.write();
  const double read_rate = run.failure.empty() ? run.read() : 0;
  if (client.connected()) client.remove(client.root(), name);
  if (!run.failure.empty()) {
    std::fprintf(stderr, "nfs_io: %s\n", run.failure.c_str());
    return 1;
  }
  std::printf("{\"size_mib\": %llu, \"write_mib_s\": %.1f, \"read_mib_s\": %.1f}\n",
              static_cast<unsigned long long>(run.size >> 20), write_rate, read_rate);
  return 0;
}

// One kind of operation, repeated by one client until it is told to stop.
class GapMeter {
 public:
  GapMeter(std::string kind, std::unique_ptr<Nfs3Client> client, unsigned pause_us,
           std::uint64_t noted_ms)
      : kind_(std::move(kind)),
        client_(std::move(client)),
        pause_us_(pause_us),
        noted_ms_(noted_ms) {}

  // Makes the file it works on; returns false when that fails.
  bool prepare();
  void run(Clock::time_point end);
  std::string json() const;
  bool failed() const { return errors_ > 0 || operations_ == 0; }
  const std::string& last_error() const { return last_error_; }
  void clean_up();

 private:
  struct Gap {
    double at_s;  // when it ended, since 1970
    double ms;
  };

  int once();
  bool refuse(int status);
  void note(double ms);

  std::string kind_;
  std::unique_ptr<Nfs3Client> client_;
  unsigned pause_us_;
  std::uint64_t noted_ms_;  // 0: no gaps are listed
  std::vector<Gap> gaps_;
  std::string name_;
  symnas::nfs3::Handle file_;
  std::uint64_t count_ = 0;
  std::uint64_t operations_ = 0;
  std::uint64_t errors_ = 0;
  std::uint64_t reconnects_ = 0;
  double longest_ms_ = 0;
  std::string last_error_;
};

bool GapMeter::refuse(int status) {
  last_error_ = symnas::nfs3::status_name(status);
  return false;
}

bool GapMeter::prepare() {
  name_ = "gaps-" + kind_ + "-" + std::to_string(getpid());
  const ObjectReply made = create_file(*client_, name_);
  if (made.status != NFS3_OK) return refuse(made.status);
  file_ = made.handle;
  if (kind_ != "read" && kind_ != "write") return true;
  std::string bytes(1 << 16, 'g');
  for (std::uint64_t at = 0; at < kGapFileBytes; at += bytes.size()) {
    mark(bytes, at);
    const int status = client_->write(file_, at, bytes, FILE_SYNC).status;
    if (status != NFS3_OK) return refuse(status);
  }
  return true;
}

int GapMeter::once() {
  const std::uint64_t at = (count_ * 7 % (kGapFileBytes / kGapBlockBytes)) * kGapBlockBytes;
  if (kind_ == "read") {
    const auto got = client_->read(file_, at, kGapBlockBytes);
    if (got.status != NFS3_OK) return got.status;
    return marked(got.data.data(), kGapBlockBytes, at) ? NFS3_OK : NFS3ERR_IO;
  }
  if (kind_ == "write") {
    std::string bytes(kGapBlockBytes, 'w');
    mark(bytes, at);
    return client_->write(file_, at, bytes, FILE_SYNC).status;
  }
  if (kind_ == "create") {
    return create_file(*client_, name_ + "-" + std::to_string(count_)).status;
  }
  return client_->getattr(file_).status;
}

void GapMeter::run(Clock::time_point end) {
  auto last = Clock::now();
  while (!stop_requested && Clock::now() < end) {
    const int status = once();
    if (status == NFS3_OK) {
      if (operations_ > 0) note(ms_since(last));
      last = Clock::now();
      ++operations_;
      ++count_;
      usleep(pause_us_);
    } else if (status == kNoReply) {
      ++reconnects_;
      if (!client_->reconnect(kReconnectMs)) break;
    } else {
      ++errors_;
      last_error_ = status_name(status);
      ++count_;
      usleep(pause_us_);
    }
  }
  // A gap that has not ended counts too.
  if (operations_ > 0) note(ms_since(last));
}

void GapMeter::note(double ms) {
  longest_ms_ = std::max(longest_ms_, ms);
  if (noted_ms_ == 0 || ms < static_cast<double>(noted_ms_)) return;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  gaps_.push_back({std::chrono::duration<double>(now).count(), ms});
}

std::string GapMeter::json() const {
  std::ostringstream out;
  out << '"' << kind_ << "\": {\"operations\": " << operations_ << ", \"errors\": " << errors_
      << ", \"last_error\": \"" << last_error_ << "\", \"reconnects\": " << reconnects_
      << ", \"longest_gap_ms\": " << std::lround(longest_ms_ * 10) / 10.0 << ", \"gaps\": [";
  const char* separator = "";
  for (const Gap& gap : gaps_) {
    out << separator << "{\"at_s\": " << std::fixed << std::setprecision(3) << gap.at_s
        << ", \"ms\": " << std::setprecision(1) << gap.ms << "}";
    separator = ", ";
  }
  out << "]}";
  return out.str();
}

void GapMeter::clean_up() {
  if (!client_->connected() && !client_->reconnect(kReconnectMs)) return;
  client_->remove(client_->root(), name_);
  for (std::uint64_t i = 0; kind_ == "create" && i <= count_; ++i) {
    client_->remove(client_->root(), name_ + "-" + std::to_string(i));
  }
}

int run_gaps(const CommandLine& line, const Url& url) {
  std::vector<std::unique_ptr<GapMeter>> meters;
  std::istringstream kinds(line.text("kinds", "read,write,create,getattr"));
  for (std::string kind; std::getline(kinds, kind, ',');) {
    std::string error;
    auto client = Nfs3Client::mount(url, error);
    if (client == nullptr) {
      std::fprintf(stderr, "nfs_io: %s\n", error.c_str());
      return 3;
    }
    client->set_deadline_ms(static_cast<int>(line.number("deadline-ms", 60'000)));
    meters.push_back(std::make_unique<GapMeter>(
        kind, std::move(client), static_cast<unsigned>(line.number("pause-us", 1000)),
        line.number("noted-ms", 0)));
    if (!meters.back()->prepare()) {
      std::fprintf(stderr, "nfs_io: cannot make the file for '%s': %s\n", kind.c_str(),
                   meters.back()->last_error().c_str());
      return 1;
    }
  }
  std::printf("running\n");
  std::fflush(stdout);
  const auto end = Clock::now() + std::chrono::seconds(line.number("seconds", 10));
  std::vector<std::thread> threads;
  for (auto& meter : meters) threads.emplace_back([&meter, end] { meter->run(end); });
  for (auto& thread : threads) thread.join();
  bool failed = false;
  std::string text;
  for (auto& meter : meters) {
    text += (text.empty() ? "{" : ", ") + meter->json();
    failed = failed || meter->failed();
    meter->clean_up();
  }
  std::printf("%s}\n", text.c_str());
  return failed ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  const auto line = CommandLine::parse(argc, argv);
  const auto url = line ? Url::parse(line->text("url")) : std::nullopt;
  if (!url || (line->mode() != "throughput" && line->mode() != "gaps")) {
    std::fprintf(stderr, "usage: nfs_io throughput|gaps --url nfs://ADDRESS/EXPORT [options]\n");
    return 2;
  }
  signal(SIGTERM, [](int) { stop_requested = true; });
  if (line->mode() == "gaps") return run_gaps(*line, *url);
  std::string error;
  const auto client = Nfs3Client::mount(*url, error);
  if (client == nullptr) {
    std::fprintf(stderr, "nfs_io: %s\n", error.c_str());
    return 3;
  }
  return run_throughput(*line, *client);
}
