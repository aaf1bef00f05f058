// nfs_shell: one NFSv3 call per line of input, for tests that script the requests to a server.
//
//   nfs_shell --url nfs://ADDRESS/EXPORT [--deadline-s 240]
//
//   create NAME [SIZE] | remove NAME | getattr NAME | truncate NAME SIZE
//   chmod NAME MODE | chown NAME UID      MODE: octal
// the identity of the calls from now on; at first root
//   write NAME OFFSET BYTES FILL unstable|stable     FILL: the bytes' value: a letter, or nul
//   read NAME OFFSET BYTES FILL                      compares
//   commit NAME
//   rename NAME NEW-NAME
//   list COOKIE VERIFIER BYTES       one READDIR, continued there
//   reconnect
//
// Prints one line per call: "STATUS [size=N] [verifier=X] [differs] ms=N"; STATUS is the nfsstat3's
// name or "no reply". list: "STATUS verifier=X cookie=N eof=0|1 names=NAME/NAME/... ms=N". A call
// without a reply is not repeated. Exit status: 0 at the end of input, 2 usage, 3 no mount.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <map>
#include <sstream>

#include "tests/client/command_line.h"
#include "tests/client/nfs3_client.h"

namespace {

using namespace symnas::nfs3;
using Clock = std::chrono::steady_clock;

constexpr std::uint32_t kChunkBytes = 256 << 10;

class Shell {
 public:
  explicit Shell(std::unique_ptr<Nfs3Client> client) : client_(std::move(client)) {}

  // Runs one line; returns the answer, without the time.
  std::string run(const std::string& line) {
    std::istringstream words(line);
    std::string command;
    std::string name;
    words >> command >> name;
    if (command == "reconnect")
      return client_->reconnect(kDefaultDeadlineMs) ? "NFS3_OK" : "no reply";
    if (command == "create") return create(name, words);
    if (command == "as") {
      client_->set_identity(std::stoi(name), std::stoi(name));
      return "NFS3_OK";
    }
    if (command == "remove") return status_name(client_->remove(client_->root(), name));
    if (command == "rename") {
      std::string to;
      words >> to;
      return status_name(client_->rename(client_->root(), name, client_->root(), to));
    }
    if (command == "list") return list(name, words);
    const Handle* file = find(name);
    if (file == nullptr) return status_name(last_lookup_);
    if (command == "getattr") {
      const AttributesReply got = client_->getattr(*file);
      return status_name(got.status) +
             (got.attributes ? " size=" + std::to_string(got.attributes->size) : "");
    }
    if (command == "chmod" || command == "chown") {
      NewAttributes attributes;
      std::string number;
      words >> number;
      if (command == "chmod") attributes.mode = std::stoul(number, nullptr, 8);
      if (command == "chown") attributes.uid = std::stoul(number);
      return status_name(client_->setattr(*file, attributes).status);
    }
    if (command == "truncate") {
      NewAttributes attributes;
      attributes.size = 0;
      words >> *attributes.size;
      return status_name(client_->setattr(*file, attributes).status);
    }
    if (command == "commit") return with_verifier(client_->commit(*file, 0, 0));
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
    std::string letter;
    std::string how;
    words >> offset >> bytes >> letter >> how;
    const char fill = letter.size() == 1 ? letter[0] : '\0';
    if (command == "write") return write(*file, offset, bytes, fill, how == "unstable");
    if (command == "read") return read(*file, offset, bytes, fill);
    return "unknown command " + command;
  }

 private:
  std::string create(const std::string& name, std::istringstream& words) {
    NewAttributes attributes;
    attributes.mode = 0644;
    std::uint64_t size = 0;
    if (words >> size) attributes.size = size;
    const ObjectReply made = client_->create(client_->root(), name, UNCHECKED, attributes);
    if (made.status == NFS3_OK) files_[name] = made.handle;
    return status_name(made.status);
  }

  std::string list(const std::string& cookie, std::istringstream& words) {
    std::uint64_t verifier = 0;
    std::uint32_t bytes = 0;
    words >> verifier >> bytes;
    const DirectoryPage page =
        client_->readdir(client_->root(), std::stoull(cookie), verifier, bytes);
    if (page.status != NFS3_OK) return status_name(page.status);
    std::string names;
    for (const DirectoryEntry& entry : page.entries)
      names += (names.empty() ? "" : "/") + entry.name;
    return status_name(page.status) + " verifier=" + std::to_string(page.verifier) + " cookie=" +
           (page.entries.empty() ? cookie : std::to_string(page.entries.back().cookie)) +
           " eof=" + (page.eof ? "1" : "0") + " names=" + names;
  }

  const Handle* find(const std::string& name) {
    const auto known = files_.find(name);
    if (known != files_.end()) return &known->second;
    const ObjectReply found = client_->lookup(client_->root(), name);
    last_lookup_ = found.status;
    return found.status == NFS3_OK ? &(files_[name] = found.handle) : nullptr;
  }

  static std::string with_verifier(const WriteReply& reply) {
    return status_name(reply.status) +
           (reply.status == NFS3_OK ? " verifier=" + std::to_string(reply.verifier) : "");
  }

  // Stops at the first chunk that fails.
  std::string write(const Handle& file, std::uint64_t offset, std::uint64_t bytes, char fill,
                    bool unstable) {
    WriteReply reply;
    for (std::uint64_t done = 0; done < bytes; done += kChunkBytes) {
      const std::string data(std::min<std::uint64_t>(kChunkBytes, bytes - done), fill);
      reply = client_->write(file, offset + done, data, unstable ? UNSTABLE : FILE_SYNC);
      if (reply.status != NFS3_OK) break;
    }
    return with_verifier(reply);
  }

  std::string read(const Handle& file, std::uint64_t offset, std::uint64_t bytes, char fill) {
    std::string differs;
    for (std::uint64_t done = 0; done < bytes; done += kChunkBytes) {
      const auto count =
          static_cast<std::uint32_t>(std::min<std::uint64_t>(kChunkBytes, bytes - done));
      const ReadReply got = client_->read(file, offset + done, count);
      if (got.status != NFS3_OK) return status_name(got.status);
      if (got.data != std::string(count, fill)) differs = " differs";
    }
    return status_name(NFS3_OK) + differs;
  }

  std::unique_ptr<Nfs3Client> client_;
  std::map<std::string, Handle> files_;
  int last_lookup_ = NFS3_OK;
};

}  // namespace

int main(int argc, char** argv) {
  const auto line = CommandLine::parse(argc, argv);
  const auto url = line ? Url::parse(line->text("url")) : std::nullopt;
  if (!url) {
    std::fprintf(stderr, "usage: nfs_shell --url nfs://ADDRESS/EXPORT [--deadline-s N]\n");
    return 2;
  }
  std::string error;
  auto client = Nfs3Client::mount(*url, error);
  if (client == nullptr) {
    std::fprintf(stderr, "nfs_shell: %s\n", error.c_str());
    return 3;
  }
  client->set_deadline_ms(static_cast<int>(line->number("deadline-s", 240)) * 1000);
  Shell shell(std::move(client));
  std::string input;
  while (std::getline(std::cin, input)) {
    const auto since = Clock::now();
    const std::string answer = shell.run(input);
    const auto ms =
        std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - since).count();
    std::printf("%s ms=%lld\n", answer.c_str(), static_cast<long long>(ms));
    std::fflush(stdout);
  }
  return 0;
}
