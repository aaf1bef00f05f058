// nfs_wcc: checks what the replies to changes say about the directory before and after them.
//
//   nfs_wcc --url URL [--clients 6] [--rounds 300]
//       Several clients create and remove names of one directory at the same time. A reply with
//       "before" tells its client that nothing else changed the directory between that and "after"
//       (RFC 1813 2.6): no two changes may begin from the same state. Replies to refused changes
//       and to SETATTR have no "before".
// mount.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <thread>
#include <vector>

#include "tests/client/command_line.h"
#include "tests/client/nfs3_client.h"

namespace {

using symnas::nfs3::CommandLine;
using symnas::nfs3::Handle;
using symnas::nfs3::NewAttributes;
using symnas::nfs3::Nfs3Client;
using symnas::nfs3::status_name;
using symnas::nfs3::Url;
using symnas::nfs3::Wcc;

std::uint64_t ns(const nfstime3& t) {
  return std::uint64_t{t.seconds} * 1'000'000'000 + t.nseconds;
}

struct Claims {
  std::vector<std::uint64_t> befores;  // each is the directory's ctime
  std::uint64_t replies = 0;
  std::uint64_t failed = 0;

  void changed(const Wcc& wcc) {
    ++replies;
    if (wcc.before) befores.push_back(ns(wcc.before->ctime));
  }
  void refused(const Wcc& wcc, const char* what) {
    ++replies;
    if (!wcc.before) return;
    ++failed;
    std::printf("FAIL refused %s claims to know what was before\n", what);
  }
  void answered(int status, const std::string& what) {
    if (status == NFS3_OK) return;
    ++failed;
    std::printf("FAIL %s: %s\n", what.c_str(), status_name(status).c_str());
  }
};

void change_names(Nfs3Client& client, const Handle& dir, std::size_t who, std::uint64_t rounds,
                  Claims& out) {
  NewAttributes attributes;
  attributes.mode = 0644;
  const std::string name = "f" + std::to_string(who);
  for (std::uint64_t round = 0; round < rounds; ++round) {
    const auto made = client.create(dir, name, GUARDED, attributes);
    out.answered(made.status, "CREATE");
    out.changed(client.last_wcc());
    if (round % 16 == 0) {
      client.create(dir, name, GUARDED, attributes);
      out.refused(client.last_wcc(), "CREATE");
      client.setattr(made.handle, attributes);
      out.refused(client.last_wcc(), "SETATTR (never of one moment)");
    }
    out.answered(client.remove(dir, name), "REMOVE");
    out.changed(client.last_wcc());
    if (round % 16 != 0) continue;
    client.remove(dir, name);
    out.refused(client.last_wcc(), "REMOVE");
  }
}

int judge(const std::vector<Claims>& all) {
  std::vector<std::uint64_t> befores;
  std::uint64_t replies = 0;
  std::uint64_t failed = 0;
  for (const Claims& claims : all) {
    befores.insert(befores.end(), claims.befores.begin(), claims.befores.end());
    replies += claims.replies;
    failed += claims.failed;
  }
  std::sort(befores.begin(), befores.end());
  for (std::size_t i = 1; i < befores.size(); ++i) {
    if (befores[i] != befores[i - 1]) continue;
    ++failed;
    std::printf("FAIL two changes claim to begin from the state of ctime %llu\n",
                static_cast<unsigned long long>(befores[i]));
  }
  std::printf("%llu replies, %zu with before, %llu failed\n",
              static_cast<unsigned long long>(replies), befores.size(),
              static_cast<unsigned long long>(failed));
  return failed == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const auto line = CommandLine::parse(argc, argv);
  const auto url = line ? Url::parse(line->text("url")) : std::nullopt;
  if (!url) {
    std::fprintf(stderr, "usage: nfs_wcc --url nfs://ADDRESS/EXPORT [--clients N] [--rounds N]\n");
    return 2;
  }
  std::vector<std::unique_ptr<Nfs3Client>> clients;
  for (std::uint64_t i = 0; i < line->number("clients", 6); ++i) {
    std::string error;
    clients.push_back(Nfs3Client::mount(*url, error));
    if (clients.back() != nullptr) continue;
    std::fprintf(stderr, "nfs_wcc: %s\n", error.c_str());
    return 3;
  }
  const std::string name = "wcc-" + std::to_string(getpid());
  const auto dir = clients.front()->mkdir(clients.front()->root(), name, NewAttributes{});
  if (dir.status != NFS3_OK) {
    std::printf("FAIL MKDIR: %s\n", status_name(dir.status).c_str());
    return 1;
  }
  std::vector<Claims> claims(clients.size());
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < clients.size(); ++i) {
    threads.emplace_back([&, i] {
      change_names(*clients[i], dir.handle, i, line->number("rounds", 300), claims[i]);
    });
  }
  for (std::thread& thread : threads) thread.join();
  clients.front()->rmdir(clients.front()->root(), name);
  return judge(claims);
}
