// Connection: one TCP connection to an NFS server from one local address, on libnfs: mount, open
// the files of a job, then reads and stable writes, many at a time. Confined to one thread, which
// polls `fd()` and calls `service()`. It never repeats anything and never connects again: what
// ends is destroyed, and its socket is closed with a reset (libnfs sets a linger of 0), so that no
// request of it is sent any more.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tests/workloads/dnfs/local_bind.h"
#include "tests/workloads/dnfs/paths.h"

namespace symnas::dnfs {

// libnfs 4 has no room for a larger WRITE of NFSv4 (its buffer for a call has 4096 bytes).
inline constexpr std::uint32_t kMaxWriteBytesV4 = 3584;

struct FileToOpen {
  std::string path;  // below the export
  bool create = false;
  bool write = false;
};

struct ConnectionTarget {
  std::string server;
  std::string exported;
  LocalAddress local;
  int version = 3;  // 3 or 4
  int uid = -1;     // -1: of this process
  int gid = -1;
  std::string owner;  // NFSv4: names the client, must be unique
};

enum class IoEnd {
  kDone,
  kTransport,  // no answer: the connection is of no use any more
  kLater,      // the server asks to come again later
  kError,      // the server refuses; `why` has its status
};

// All are called from within service() and must not destroy the connection.
struct ConnectionEvents {
  std::function<void()> ready;
  // `refused`: the server answered, and would not.
  std::function<void(const std::string& why, bool refused)> ended;
  // `data`: what was read, valid during the call.
  std::function<void(RequestId, IoEnd, const std::string& why, std::span<const char> data)> io;
};

class Connection {
 public:
  Connection(ConnectionTarget target, const std::vector<FileToOpen>& files,
             ConnectionEvents events);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Begins to connect; the outcome is `ready` or `ended`.
  void begin();
  int fd() const;
  short wanted() const;
  void service(short events);

  // `file`: index of the files to open. REQUIRES: `ready` was called.
  void read(RequestId id, std::size_t file, std::uint64_t offset, std::uint32_t bytes);
  void write(RequestId id, std::size_t file, std::uint64_t offset, std::span<const char> data);

 private:
  struct Wires;  // what libnfs calls back
  std::unique_ptr<Wires> wires_;
};

}  // namespace symnas::dnfs
