// symnas-corosync-watch: prints corosync's membership, a line whenever it changes and once a second
// (docs/man/symnas-corosync-watch.8). A program of its own, so that vnfsd needs no library of
// corosync, and waits for none.
#include <corosync/cmap.h>
#include <corosync/quorum.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include <fmt/core.h>

#include "ha/detection/corosync/membership.h"

namespace symnas::ha {
namespace {

constexpr const char* kUsage =
    "usage: symnas-corosync-watch\n"
    "prints corosync's membership as lines of JSON until corosync or the reader goes away\n";
constexpr int kExitUsage = 2;

struct Heard {
  bool any = false;
  bool quorate = false;
  std::set<std::uint32_t> members;
};
// The callback of libquorum has no other way to it.
Heard heard;

void hear(quorum_handle_t, std::uint32_t quorate, std::uint64_t, std::uint32_t count,
          std::uint32_t* members) {
  heard = {true, quorate != 0, {members, members + count}};
}

[[noreturn]] void fail_with(std::string_view what, cs_error_t error) {
  fmt::print(stderr, "{}: {}\n", what, cs_strerror(error));
  std::exit(1);
}

void must(cs_error_t error, std::string_view what) {
  if (error != CS_OK) fail_with(what, error);
}

std::string text_of(cmap_handle_t map, const std::string& key) {
  char* text = nullptr;
  if (cmap_get_string(map, key.c_str(), &text) != CS_OK) return "";
  std::string out = text;
  std::free(text);
  return out;
}

// The nodes of corosync.conf, by their place in it. Waits for corosync: when it hangs nothing is
// printed, and the reader knows.
CorosyncMembership membership_now(cmap_handle_t map) {
  CorosyncMembership out;
  out.quorate = heard.quorate;
  for (std::size_t place = 0; place < kCorosyncNodesMax; ++place) {
    const std::string key = fmt::format("nodelist.node.{}.", place);
    CorosyncNode node;
    const cs_error_t found = cmap_get_uint32(map, (key + "nodeid").c_str(), &node.id);
    if (found == CS_ERR_NOT_EXIST) break;
    must(found, "corosync does not tell its nodes");
    node.name = text_of(map, key + "name");
    for (int link = 0; link < 8; ++link) {  // knet's most
      const std::string address = text_of(map, fmt::format("{}ring{}_addr", key, link));
      if (!address.empty()) node.addresses.push_back(address);
    }
    node.member = heard.members.contains(node.id);
    out.nodes.push_back(std::move(node));
  }
  return out;
}

int watch() {
  quorum_handle_t quorum = 0;
  quorum_callbacks_t calls = {hear};
  std::uint32_t type = 0;
  must(quorum_initialize(&quorum, &calls, &type), "corosync is not reached");
  if (type != QUORUM_SET) {
    fmt::print(stderr, "corosync counts no votes (quorum.provider in corosync.conf)\n");
    return 1;
  }
  cmap_handle_t map = 0;
  must(cmap_initialize(&map), "corosync's configuration is not reached");
  must(quorum_trackstart(quorum, CS_TRACK_CURRENT | CS_TRACK_CHANGES), "corosync's membership");
  int fd = -1;
  must(quorum_fd_get(quorum, &fd), "corosync's membership");
  for (;;) {
    // POLLERR of a pipe: its reader has gone.
    pollfd entries[] = {{fd, POLLIN, 0}, {STDOUT_FILENO, 0, 0}};
    ::poll(entries, 2, static_cast<int>(kCorosyncSayMs));
    if (entries[1].revents != 0) return 0;
    must(quorum_dispatch(quorum, CS_DISPATCH_ALL), "corosync has ended");
    if (!heard.any) continue;
    fmt::print("{}\n", render_membership(membership_now(map)));
    if (std::fflush(stdout) != 0) return 0;
  }
}

}  // namespace
}  // namespace symnas::ha

int main(int argc, char** argv) {
  if (argc == 1) return symnas::ha::watch();
  const bool help = argc == 2 && std::string_view(argv[1]) == "--help";
  fmt::print(help ? stdout : stderr, "{}", symnas::ha::kUsage);
  return help ? 0 : symnas::ha::kExitUsage;
}
