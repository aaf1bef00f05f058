// An EtcdStore whose threads live in another network namespace than the caller, as in a VNFS's
// instance. Its own binary: gRPC's threads are process-wide and belong to the namespace of the
// first store.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <string>
#include <thread>

#include "common/kv/etcd/etcd_store.h"
#include "tests/contract/etcd_cluster.h"
#include "tests/contract/kv_contract.h"

namespace symnas::kv::testing {
namespace {

// A fresh network namespace with its loopback up; it lives as long as the descriptor.
class NetworkNamespace {
 public:
  NetworkNamespace() {
    std::thread([this] {
      if (::unshare(CLONE_NEWNET) != 0) {
        error_ = std::string("cannot make a network namespace: ") + std::strerror(errno);
        return;
      }
      fd_ = ::open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
      const int socket = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
      ifreq request{};
      std::strncpy(request.ifr_name, "lo", sizeof request.ifr_name - 1);
      request.ifr_flags = IFF_UP | IFF_RUNNING;
      if (::ioctl(socket, SIOCSIFFLAGS, &request) != 0) error_ = "cannot bring up lo";
      ::close(socket);
    }).join();
  }
  ~NetworkNamespace() {
    if (fd_ >= 0) ::close(fd_);
  }
  NetworkNamespace(const NetworkNamespace&) = delete;
  NetworkNamespace& operator=(const NetworkNamespace&) = delete;

  int fd() const { return fd_; }
  std::string path() const { return "/proc/self/fd/" + std::to_string(fd_); }
  const std::string& error() const { return error_; }

 private:
  int fd_ = -1;
  std::string error_;
};

std::string own_namespace() {
  char link[64] = {};
  EXPECT_GT(::readlink("/proc/thread-self/ns/net", link, sizeof link - 1), 0);
  return link;
}

TEST(KvEtcdNamespace, threads_reach_etcd_where_the_caller_cannot) {
  if (!EtcdCluster::missing().empty()) GTEST_SKIP() << EtcdCluster::missing();
  NetworkNamespace other;
  if (!other.error().empty()) GTEST_SKIP() << other.error();
  const std::string here = own_namespace();
  EtcdCluster cluster({.network_namespace_fd = other.fd()});
  EtcdOptions options = cluster.client_options();
  options.network_namespace = other.path();
  auto opened = EtcdStore::open(options);
  ASSERT_TRUE(opened) << opened.error().message;
  EtcdStore& store = **opened;
  ASSERT_TRUE(EtcdCluster::wait_until_serving(store, kPatienceMs));
  EXPECT_EQ(own_namespace(), here) << "the caller's thread has not moved";

  Recorder recorder;
  const auto watch = store.watch(prefix_range("a"), Revision(0), &recorder);
  recorder.wait_created();
  ASSERT_TRUE(txn_blocking(store, ops({put("a", "1")}), kPatienceMs));
  recorder.wait_key("a");
  EXPECT_TRUE(store.status({.timeout_ms = 2000}).at(0).reachable);

  cluster.kill(0);
  EXPECT_EQ(recorder.wait_ended(), ErrorCode::kUnavailable);
  cluster.restart(0);
  auto read = range_blocking(store, single_key("a"), 0, kPatienceMs);
  ASSERT_TRUE(read) << "reconnected inside the namespace: " << read.error().message;
  EXPECT_EQ(read->kvs.at(0).value, "1");

  EXPECT_FALSE(cluster.accepts_connections_here(0)) << "the port is not the caller's";
}

TEST(KvEtcdNamespace, one_that_is_not_there) {
  auto opened = EtcdStore::open(
      {.endpoints = {"http://127.0.0.1:1"}, .network_namespace = "/proc/self/ns/none"});
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::kNotFound);
}

TEST(KvEtcdNamespace, something_that_is_none) {
  auto opened =
      EtcdStore::open({.endpoints = {"http://127.0.0.1:1"}, .network_namespace = "/dev/null"});
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::kPermission);
}

}  // namespace
}  // namespace symnas::kv::testing
