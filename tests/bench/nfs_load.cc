// One NFSv3 load against one server, through libnfs's raw asynchronous calls: `connections`
// sockets, `depth` requests in flight on each, one thread. Prints one JSON object: {case, ops,
// seconds, ops_per_s, mib_per_s, p50_us, p99_us, errors}.
//
// Usage: nfs_load --url nfs://SERVER/EXPORT --case CASE [--connections N] [--depth N] [--seconds S]
//                 [--file NAME] [--file-mib M] [--seed N] [--dir NAME]
// --dir: create_remove works in that directory, which is made.
// Cases: prepare (writes and commits the file), read8k, write8k (unstable), write8k_sync, read1m,
// write1m, getattr, create_remove, create (--files of them), lock (LOCK and UNLOCK of NLM in turns,
// each request slot on a file of its own).
#include <poll.h>
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <nfsc/libnfs.h>
#include <CLI/CLI.hpp>

#include <nfsc/libnfs-raw-mount.h>
#include <nfsc/libnfs-raw-nfs.h>
#include <nfsc/libnfs-raw-nlm.h>
#include <nfsc/libnfs-raw.h>

namespace {

using Clock = std::chrono::steady_clock;

struct Options {
  std::string url;
  std::string load_case;
  std::string file = "bench.dat";
  std::string dir;
  int connections = 1;
  int depth = 1;
  double seconds = 5;
  std::uint64_t file_mib = 256;
  std::uint64_t files = 1000;
  std::uint64_t seed = 1;
};

enum class Kind { kRead, kWrite, kGetattr, kCreateRemove, kCreate, kLock };
struct Shape {
  Kind kind = Kind::kGetattr;
  std::uint32_t bytes = 0;
  bool random = false;
  stable_how stable = UNSTABLE;
  bool once = false;  // one pass over the file, or --files of them, instead of a duration
};

[[noreturn]] void die(const std::string& what) {
  std::fprintf(stderr, "nfs_load: %s\n", what.c_str());
  std::exit(1);
}

Shape shape_of(const std::string& name) {
  constexpr std::uint32_t k8 = 8 << 10;
  constexpr std::uint32_t m1 = 1 << 20;
  if (name == "prepare") return {Kind::kWrite, m1, false, UNSTABLE, true};
  if (name == "read8k") return {Kind::kRead, k8, true, UNSTABLE, false};
  if (name == "write8k") return {Kind::kWrite, k8, true, UNSTABLE, false};
  if (name == "write8k_sync") return {Kind::kWrite, k8, true, FILE_SYNC, false};
  if (name == "read1m") return {Kind::kRead, m1, false, UNSTABLE, false};
  if (name == "write1m") return {Kind::kWrite, m1, false, UNSTABLE, false};
  if (name == "getattr") return {Kind::kGetattr, 0, false, UNSTABLE, false};
  if (name == "create_remove") return {Kind::kCreateRemove, 0, false, UNSTABLE, false};
  if (name == "lock") return {Kind::kLock, 0, false, UNSTABLE, false};
  if (name == "create") return {Kind::kCreate, 0, false, UNSTABLE, true};
  die("no case " + name);
}

class Load;

struct Connection {
  nfs_context* nfs = nullptr;
  rpc_context* rpc = nullptr;
  rpc_context* nlm = nullptr;  // lock
  std::string file_handle;
  std::string dir_handle;
};

// One request slot: sends its next request from its own callback.
struct Slot {
  Load* load = nullptr;
  Connection* connection = nullptr;
  Clock::time_point sent;
  std::string name;      // create_remove, lock: the file of this slot
  std::string handle;    // lock: of that file
  bool created = false;  // create_remove: the next request is REMOVE; lock: it is UNLOCK
};

class Load {
 public:
  explicit Load(Options options)
      : options_(std::move(options)), shape_(shape_of(options_.load_case)), random_(options_.seed) {
    data_.resize(std::max<std::uint32_t>(shape_.bytes, 1));
    for (auto& byte : data_) byte = static_cast<char>(random_());
    file_bytes_ = options_.file_mib << 20;
  }

  void run() {
    connect();
    start_ = Clock::now();
    for (auto& slot : slots_) send(*slot);
    while (in_flight_ > 0) poll_once();
    double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
    if (shape_.kind == Kind::kWrite && shape_.stable == UNSTABLE) commit();
    if (options_.load_case == "prepare" || options_.load_case == "write1m")
      seconds = std::chrono::duration<double>(Clock::now() - start_).count();
    print(seconds);
  }

  static void answered(rpc_context*, int status, void* data, void* private_data) {
    auto* slot = static_cast<Slot*>(private_data);
    slot->load->on_answer(*slot, status, data);
  }

 private:
  void connect() {
    for (int i = 0; i < options_.connections; ++i) {
      auto connection = std::make_unique<Connection>();
      connection->nfs = nfs_init_context();
      nfs_url* url = nfs_parse_url_dir(connection->nfs, options_.url.c_str());
      if (url == nullptr) die("bad url " + options_.url);
      if (nfs_mount(connection->nfs, url->server, url->path) != 0)
        die(std::string("mount: ") + nfs_get_error(connection->nfs));
      connection->rpc = nfs_get_rpc_context(connection->nfs);
      connection->dir_handle = root_handle(url->server, url->path);
      connection->file_handle = file_handle(*connection, options_.file);
      if (!options_.dir.empty()) connection->dir_handle = dir_handle(*connection, options_.dir);
      if (shape_.kind == Kind::kLock) connection->nlm = lock_manager(url->server);
      nfs_destroy_url(url);
      for (int d = 0; d < options_.depth; ++d) {
        auto slot = std::make_unique<Slot>();
        slot->load = this;
        slot->connection = connection.get();
        slot->name =
            "b" + std::to_string(options_.seed) + "." + std::to_string(i) + "." + std::to_string(d);
        if (connection->nlm != nullptr) slot->handle = file_handle(*connection, slot->name);
        slots_.push_back(std::move(slot));
      }
      connections_.push_back(std::move(connection));
    }
  }

  // An answer on its way, and the handle in it.
  struct Wait {
    bool done = false;
    std::string handle;
  };

  // The file's handle, by CREATE UNCHECKED: it makes the file or finds it.
  static std::string file_handle(Connection& c, std::string name) {
    Wait wait;
    CREATE3args args{};
    args.where.dir = fh3(c.dir_handle);
    args.where.name = name.data();
    args.how.mode = UNCHECKED;
    const auto on_create = [](rpc_context*, int status, void* data, void* private_data) {
      auto* out = static_cast<Wait*>(private_data);
      out->done = true;
      const auto* res = static_cast<CREATE3res*>(data);
      if (status != RPC_STATUS_SUCCESS || res->status != NFS3_OK) return;
      const auto& fh = res->CREATE3res_u.resok.obj.post_op_fh3_u.handle.data;
      out->handle.assign(fh.data_val, fh.data_len);
    };
    if (rpc_nfs3_create_async(c.rpc, on_create, &args, &wait) != 0) die("CREATE not sent");
    while (!wait.done) serve(c.rpc);
    if (wait.handle.empty()) die("CREATE " + name + " failed");
    return wait.handle;
  }

  // A directory's handle, by MKDIR, and by LOOKUP if it exists.
  static std::string dir_handle(Connection& c, std::string name) {
    Wait wait;
    MKDIR3args args{};
    args.where.dir = fh3(c.dir_handle);
    args.where.name = name.data();
    const auto on_mkdir = [](rpc_context*, int, void*, void* private_data) {
      static_cast<Wait*>(private_data)->done = true;
    };
    if (rpc_nfs3_mkdir_async(c.rpc, on_mkdir, &args, &wait) != 0) die("MKDIR not sent");
    while (!wait.done) serve(c.rpc);
    wait.done = false;
    LOOKUP3args look{args.where};
    const auto on_lookup = [](rpc_context*, int status, void* data, void* private_data) {
      auto* out = static_cast<Wait*>(private_data);
      out->done = true;
      const auto* res = static_cast<LOOKUP3res*>(data);
      if (status != RPC_STATUS_SUCCESS || res->status != NFS3_OK) return;
      const auto& fh = res->LOOKUP3res_u.resok.object.data;
      out->handle.assign(fh.data_val, fh.data_len);
    };
    if (rpc_nfs3_lookup_async(c.rpc, on_lookup, &look, &wait) != 0) die("LOOKUP not sent");
    while (!wait.done) serve(c.rpc);
    if (wait.handle.empty()) die("MKDIR " + name + " failed");
    return wait.handle;
  }

  static void serve(rpc_context* rpc) {
    pollfd fd{rpc_get_fd(rpc), static_cast<short>(rpc_which_events(rpc)), 0};
    if (poll(&fd, 1, 30'000) <= 0 || rpc_service(rpc, fd.revents) < 0) die("no answer");
  }

  // The export's root handle by the MOUNT protocol: libnfs does not show the one it has.
  static std::string root_handle(const char* server, const char* path) {
    Wait wait;
    rpc_context* rpc = rpc_init_context();
    const auto on_mount = [](rpc_context*, int status, void* data, void* private_data) {
      auto* out = static_cast<Wait*>(private_data);
      out->done = true;
      if (status != RPC_STATUS_SUCCESS) return;
      const auto* res = static_cast<mountres3*>(data);
      if (res->fhs_status != MNT3_OK) return;
      const auto& fh = res->mountres3_u.mountinfo.fhandle;
      out->handle.assign(fh.fhandle3_val, fh.fhandle3_len);
    };
    struct Step {
      Wait* wait;
      const char* path;
      rpc_cb next;
    } step{&wait, path, on_mount};
    const auto on_connect = [](rpc_context* context, int status, void*, void* private_data) {
      auto* s = static_cast<Step*>(private_data);
      if (status != RPC_STATUS_SUCCESS ||
          rpc_mount3_mnt_async(context, s->next, const_cast<char*>(s->path), s->wait) != 0)
        s->wait->done = true;
    };
    if (rpc_connect_program_async(rpc, server, MOUNT_PROGRAM, MOUNT_V3, on_connect, &step) != 0)
      die("mount protocol: cannot connect");
    while (!wait.done) serve(rpc);
    rpc_destroy_context(rpc);
    if (wait.handle.empty()) die("mount protocol: no root handle");
    return wait.handle;
  }

  static rpc_context* lock_manager(const char* server) {
    bool done = false;
    rpc_context* rpc = rpc_init_context();
    const auto on_connect = [](rpc_context*, int status, void*, void* private_data) {
      if (status != RPC_STATUS_SUCCESS) die("NLM: cannot connect");
      *static_cast<bool*>(private_data) = true;
    };
    if (rpc_connect_program_async(rpc, server, NLM_PROGRAM, NLM_V4, on_connect, &done) != 0)
      die("NLM: cannot connect");
    while (!done) serve(rpc);
    return rpc;
  }

  static nfs_fh3 fh3(std::string& bytes) {
    nfs_fh3 fh{};
    fh.data.data_len = static_cast<u_int>(bytes.size());
    fh.data.data_val = bytes.data();
    return fh;
  }

  bool finished() {
    if (shape_.kind == Kind::kCreate) return next_ >= options_.files;
    if (shape_.once) return next_ * shape_.bytes >= file_bytes_;
    return std::chrono::duration<double>(Clock::now() - start_).count() >= options_.seconds;
  }

  std::uint64_t next_offset() {
    const std::uint64_t count = file_bytes_ / shape_.bytes;
    const std::uint64_t index = shape_.random ? random_() % count : next_ % count;
    ++next_;
    return index * shape_.bytes;
  }

  void send(Slot& slot) {
    if (finished() && !slot.created) return;
    slot.sent = Clock::now();
    ++in_flight_;
    if (dispatch(slot) != 0) die("send failed");
  }

  int dispatch(Slot& slot) {
    Connection& c = *slot.connection;
    switch (shape_.kind) {
      case Kind::kRead: {
        READ3args args{fh3(c.file_handle), next_offset(), shape_.bytes};
        return rpc_nfs3_read_async(c.rpc, answered, &args, &slot);
      }
      case Kind::kWrite: {
        WRITE3args args{};
        args.file = fh3(c.file_handle);
        args.offset = next_offset();
        args.count = shape_.bytes;
        args.stable = shape_.stable;
        args.data.data_len = shape_.bytes;
        args.data.data_val = data_.data();
        return rpc_nfs3_write_async(c.rpc, answered, &args, &slot);
      }
      case Kind::kGetattr: {
        GETATTR3args args{fh3(c.file_handle)};
        return rpc_nfs3_getattr_async(c.rpc, answered, &args, &slot);
      }
      case Kind::kCreateRemove: return create_or_remove(slot);
      case Kind::kLock: return lock_or_unlock(slot);
      case Kind::kCreate: {
        slot.name = "file" + std::to_string(next_++);
        return create_or_remove(slot);
      }
    }
    return -1;
  }

  int create_or_remove(Slot& slot) {
    Connection& c = *slot.connection;
    diropargs3 where{};
    where.dir = fh3(c.dir_handle);
    where.name = slot.name.data();
    if (slot.created) {
      REMOVE3args args{where};
      return rpc_nfs3_remove_async(c.rpc, answered, &args, &slot);
    }
    CREATE3args args{};
    args.where = where;
    args.how.mode = UNCHECKED;
    args.how.createhow3_u.obj_attributes.mode.set_it = 1;
    args.how.createhow3_u.obj_attributes.mode.set_mode3_u.mode = 0644;
    return rpc_nfs3_create_async(c.rpc, answered, &args, &slot);
  }

  int lock_or_unlock(Slot& slot) {
    Connection& c = *slot.connection;
    char host[] = "nfs_load";
    nlm4_lock range{};
    range.caller_name = host;
    range.fh.data.data_len = static_cast<u_int>(slot.handle.size());
    range.fh.data.data_val = slot.handle.data();
    range.oh = slot.name.data();
    range.svid = 1;
    range.l_len = 1;
    if (slot.created) {
      NLM4_UNLOCKargs args{};
      args.lock = range;
      return rpc_nlm4_unlock_async(c.nlm, answered, &args, &slot);
    }
    NLM4_LOCKargs args{};
    args.exclusive = 1;
    args.lock = range;
    args.state = 1;
    return rpc_nlm4_lock_async(c.nlm, answered, &args, &slot);
  }

  // The status is the first word of every NFSv3 result. Those of NLM that are used here look alike.
  int status_of(const void* data) const {
    if (shape_.kind == Kind::kLock)
      return static_cast<int>(static_cast<const NLM4_LOCKres*>(data)->status);
    return static_cast<int>(*static_cast<const nfsstat3*>(data));
  }

  void on_answer(Slot& slot, int status, void* data) {
    --in_flight_;
    if (status != RPC_STATUS_SUCCESS) die("connection lost");
    const bool ok = status_of(data) == 0;
    if (!ok && errors_++ == 0)
      std::fprintf(stderr, "nfs_load: first failure: status %d\n", status_of(data));
    if (shape_.kind == Kind::kCreateRemove || shape_.kind == Kind::kLock)
      slot.created = ok && !slot.created;
    ++operations_;
    const auto us = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - slot.sent);
    latencies_us_.push_back(static_cast<std::uint32_t>(us.count()));
    send(slot);
  }

  void poll_once() {
    std::vector<rpc_context*> contexts;
    for (auto& c : connections_) {
      contexts.push_back(c->rpc);
      if (c->nlm != nullptr) contexts.push_back(c->nlm);
    }
    std::vector<pollfd> fds;
    for (rpc_context* rpc : contexts)
      fds.push_back({rpc_get_fd(rpc), static_cast<short>(rpc_which_events(rpc)), 0});
    if (poll(fds.data(), fds.size(), 30'000) <= 0) die("no answer within 30 s");
    for (std::size_t i = 0; i < fds.size(); ++i)
      if (fds[i].revents != 0 && rpc_service(contexts[i], fds[i].revents) < 0)
        die(std::string("service: ") + rpc_get_error(contexts[i]));
  }

  void commit() {
    Connection& c = *connections_.front();
    Slot slot;
    slot.load = this;
    slot.connection = &c;
    slot.sent = Clock::now();
    bool done = false;
    COMMIT3args args{fh3(c.file_handle), 0, 0};
    const auto on_commit = [](rpc_context*, int status, void* data, void* private_data) {
      if (status != RPC_STATUS_SUCCESS || *static_cast<nfsstat3*>(data) != NFS3_OK)
        die("COMMIT failed");
      *static_cast<bool*>(private_data) = true;
    };
    if (rpc_nfs3_commit_async(c.rpc, on_commit, &args, &done) != 0) die("COMMIT not sent");
    while (!done) poll_once();
  }

  void print(double seconds) {
    std::sort(latencies_us_.begin(), latencies_us_.end());
    const auto at = [&](double q) {
      return latencies_us_.empty() ? 0u
                                   : latencies_us_[static_cast<std::size_t>(
                                         q * static_cast<double>(latencies_us_.size() - 1))];
    };
    const double operations = static_cast<double>(operations_);
    std::printf(
        "{\"case\": \"%s\", \"ops\": %llu, \"seconds\": %.3f, \"ops_per_s\": %.1f, "
        "\"mib_per_s\": %.1f, \"p50_us\": %u, \"p99_us\": %u, \"errors\": %llu}\n",
        options_.load_case.c_str(), static_cast<unsigned long long>(operations_), seconds,
        operations / seconds, operations * shape_.bytes / seconds / (1 << 20), at(0.5), at(0.99),
        static_cast<unsigned long long>(errors_));
  }

  const Options options_;
  const Shape shape_;
  std::mt19937_64 random_;
  std::vector<char> data_;
  std::uint64_t file_bytes_ = 0;
  std::vector<std::unique_ptr<Connection>> connections_;
  std::vector<std::unique_ptr<Slot>> slots_;
  Clock::time_point start_;
  std::uint64_t next_ = 0;
  std::uint64_t operations_ = 0;
  std::uint64_t errors_ = 0;
  int in_flight_ = 0;
  std::vector<std::uint32_t> latencies_us_;
};

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app{"One NFSv3 load against one server"};
  app.add_option("--url", options.url)->required();
  app.add_option("--case", options.load_case)->required();
  app.add_option("--file", options.file);
  app.add_option("--dir", options.dir);
  app.add_option("--connections", options.connections)->check(CLI::Range(1, 64));
  app.add_option("--depth", options.depth)->check(CLI::Range(1, 256));
  app.add_option("--seconds", options.seconds)->check(CLI::Range(0.1, 600.0));
  app.add_option("--file-mib", options.file_mib)->check(CLI::Range(1, 1 << 20));
  app.add_option("--files", options.files);
  app.add_option("--seed", options.seed);
  CLI11_PARSE(app, argc, argv);
  Load(options).run();
  return 0;
}
