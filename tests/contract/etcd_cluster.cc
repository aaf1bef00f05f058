#include "tests/contract/etcd_cluster.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <random>

#include "common/base/check.h"

namespace symnas::kv::testing {

namespace {

std::string binary() {
  const char* cache = std::getenv("SYMNAS_CACHE");
  return std::string(cache != nullptr ? cache : "/var/cache/symnas") + "/etcd/bin/etcd";
}

sockaddr_in loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  return address;
}

// A port on which no process listens. It is none of those that the kernel gives to whoever connects
// (ip_local_port_range, 32768 and above), so nothing takes it before etcd does, or while a member
// is down, but another test that tries the same one.
int free_port() {
  constexpr int kFirst = 16'384;
  constexpr int kCount = 16'384;
  std::random_device random;
  for (;;) {
    const int port = kFirst + static_cast<int>(random() % kCount);
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(fd >= 0);
    const sockaddr_in address = loopback(port);
    const int bound = ::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address);
    ::close(fd);
    if (bound == 0) return port;
  }
}

}  // namespace

std::string EtcdCluster::missing() {
  if (::access(binary().c_str(), X_OK) == 0) return {};
  return "no etcd at " + binary() + ": run deploy/setup/setup";
}

EtcdCluster::EtcdCluster(EtcdClusterOptions options) : options_(std::move(options)) {
  std::string pattern = (std::filesystem::temp_directory_path() / "symnas-etcd-XXXXXX").string();
  CHECK(::mkdtemp(pattern.data()) != nullptr);
  directory_ = pattern;
  if (options_.security == EtcdClusterOptions::Security::kTls) {
    const std::string make = SYMNAS_CONTRACT_DIR "/make_certificates " + directory_;
    CHECK(std::system(make.c_str()) == 0, "openssl makes the certificates");
  }
  processes_.resize(static_cast<std::size_t>(options_.members));
  for (Process& process : processes_) {
    process.client_port = free_port();
    process.peer_port = free_port();
  }
  for (int i = 0; i < options_.members; ++i) start(i);
}

EtcdCluster::~EtcdCluster() {
  for (int i = 0; i < options_.members; ++i) kill(i);
  std::error_code ignored;
  std::filesystem::remove_all(directory_, ignored);
}

std::string EtcdCluster::host(int member) const {
  // The certificate is for one address.
  if (options_.security == EtcdClusterOptions::Security::kTls) return "127.0.0.1";
  return "127.0.0." + std::to_string(member + 1);
}

std::string EtcdCluster::client_url(int member) const {
  return url(host(member), processes_.at(static_cast<std::size_t>(member)).client_port);
}

std::string EtcdCluster::url(const std::string& host, int port) const {
  const bool tls = options_.security == EtcdClusterOptions::Security::kTls;
  return std::string(tls ? "https" : "http") + "://" + host + ":" + std::to_string(port);
}

EtcdOptions EtcdCluster::client_options() const {
  EtcdOptions out;
  for (int i = 0; i < options_.members; ++i) out.endpoints.push_back(client_url(i));
  if (options_.security == EtcdClusterOptions::Security::kTls) {
    out.ca_file = file("ca.crt");
    out.cert_file = file("member.crt");
    out.key_file = file("member.key");
  }
  return out;
}

std::vector<std::string> EtcdCluster::command(int member) const {
  const Process& process = processes_.at(static_cast<std::size_t>(member));
  const auto name = [](std::size_t i) { return "m" + std::to_string(i); };
  std::string cluster;
  for (std::size_t i = 0; i < processes_.size(); ++i) {
    cluster += (i == 0 ? "" : ",") + name(i) + "=" + url("127.0.0.1", processes_[i].peer_port);
  }
  const std::string self = name(static_cast<std::size_t>(member));
  std::vector<std::string> out = {
      binary(), "--name=" + self, "--data-dir=" + directory_ + "/" + self,
      "--listen-client-urls=" + client_url(member), "--advertise-client-urls=" + client_url(member),
      "--listen-peer-urls=" + url("127.0.0.1", process.peer_port),
      "--initial-advertise-peer-urls=" + url("127.0.0.1", process.peer_port),
      "--initial-cluster=" + cluster,
      // As symnas starts its members; but without fsync, because a killed process loses nothing
      // that the kernel has.
      "--max-txn-ops=2048", "--grpc-keepalive-min-time=1s", "--unsafe-no-fsync",
      "--log-level=error", "--log-outputs=stderr"};
  if (options_.security == EtcdClusterOptions::Security::kTls) {
    for (const std::string prefix : {"--", "--peer-"}) {
      out.push_back(prefix + "cert-file=" + file("member.crt"));
      out.push_back(prefix + "key-file=" + file("member.key"));
      out.push_back(prefix + "trusted-ca-file=" + file("ca.crt"));
      out.push_back(prefix + "client-cert-auth");
    }
  }
  out.insert(out.end(), options_.arguments.begin(), options_.arguments.end());
  return out;
}

void EtcdCluster::start(int member) {
  const std::vector<std::string> words = command(member);
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  const std::string log = file("m" + std::to_string(member) + ".log");
  const pid_t pid = ::fork();
  CHECK(pid >= 0);
  if (pid == 0) {
    // Only async-signal-safe calls: the parent has threads.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (options_.network_namespace_fd >= 0 &&
        ::setns(options_.network_namespace_fd, CLONE_NEWNET) != 0) {
      ::_exit(126);
    }
    const int fd = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    ::dup2(fd, STDOUT_FILENO);
    ::dup2(fd, STDERR_FILENO);
    ::execv(argv[0], argv.data());
    ::_exit(127);
  }
  processes_.at(static_cast<std::size_t>(member)).pid = pid;
}

bool EtcdCluster::accepts_connections_here(int member) const {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  CHECK(fd >= 0);
  const sockaddr_in address = loopback(processes_.at(static_cast<std::size_t>(member)).client_port);
  const int result = ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  ::close(fd);
  return result == 0;
}

void EtcdCluster::kill(int member) {
  pid_t& pid = processes_.at(static_cast<std::size_t>(member)).pid;
  if (pid < 0) return;
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
  pid = -1;
}

void EtcdCluster::restart(int member) {
  CHECK(processes_.at(static_cast<std::size_t>(member)).pid < 0);
  start(member);
}

void EtcdCluster::pause(int member) {
  ::kill(processes_.at(static_cast<std::size_t>(member)).pid, SIGSTOP);
}

void EtcdCluster::resume(int member) {
  ::kill(processes_.at(static_cast<std::size_t>(member)).pid, SIGCONT);
}

Status EtcdCluster::wait_until_serving(Store& store, std::int64_t deadline_ms) {
  auto read = range_blocking(store, single_key("serving"), 1, deadline_ms);
  if (!read) return tl::unexpected<Error>(read.error());
  return {};
}

int EtcdCluster::leader(Store& store) {
  const auto members = store.status({.timeout_ms = 1000});
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (members[i].reachable && members[i].leader) return static_cast<int>(i);
  }
  return -1;
}

}  // namespace symnas::kv::testing
