// Nfs3Client: a synchronous NFSv3 client (RFC 1813) over libnfs' raw calls, for tests.
//
// It works with file handles and exact nfsstat3 values, caches nothing and repeats nothing. A call
// whose connection broke or whose deadline passed returns kNoReply, may or may not have been
// executed, and leaves the client disconnected until reconnect(). After ride_outages() such a call
// is repeated, as a client with a hard mount does. Reads and writes can also be pipelined.
//
// Thread class: confined to one thread at a time; several clients may run in several threads.
#pragma once

// libnfs.h comes first because it defines what the other headers use.
#include <nfsc/libnfs.h>

#include <nfsc/libnfs-raw-mount.h>
#include <nfsc/libnfs-raw-nfs.h>
#include <nfsc/libnfs-raw.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace symnas::nfs3 {

constexpr int kNoReply = -1;
constexpr int kDefaultDeadlineMs = 60'000;

using Handle = std::string;  // the bytes of an nfs_fh3
using Attributes = std::optional<fattr3>;

// sattr3: an attribute that is absent is not set.
struct NewAttributes {
  std::optional<std::uint32_t> mode;
  std::optional<std::uint32_t> uid;
  std::optional<std::uint32_t> gid;
  std::optional<std::uint64_t> size;
  time_how atime_how = DONT_CHANGE;
  time_how mtime_how = DONT_CHANGE;
  nfstime3 atime{};
  nfstime3 mtime{};
};

// The status of every reply is an nfsstat3 or kNoReply; the rest is valid when it is NFS3_OK.
struct AttributesReply {
  int status = kNoReply;
  Attributes attributes;
};
struct ObjectReply {
  int status = kNoReply;
  Handle handle;
  Attributes attributes;
};
struct TextReply {
  int status = kNoReply;
  std::string text;
};
struct AccessReply {
  int status = kNoReply;
  std::uint32_t granted = 0;
};
struct ReadReply {
  int status = kNoReply;
  std::string data;
  bool eof = false;
  Attributes attributes;
};
struct WriteReply {
  int status = kNoReply;
  std::uint32_t count = 0;
  stable_how committed = UNSTABLE;
  std::uint64_t verifier = 0;
  Attributes attributes;
};
struct DirectoryEntry {
  std::uint64_t fileid = 0;
  std::string name;
  std::uint64_t cookie = 0;
  Attributes attributes;  // readdirplus only
  Handle handle;          // readdirplus only
};
struct DirectoryPage {
  int status = kNoReply;
  std::vector<DirectoryEntry> entries;
  bool eof = false;
  std::uint64_t verifier = 0;
};
struct SpaceReply {
  int status = kNoReply;
  FSSTAT3resok space{};
};
struct LimitsReply {
  int status = kNoReply;
  FSINFO3resok limits{};
};
struct NamesReply {
  int status = kNoReply;
  PATHCONF3resok names{};
};

// wcc_data of a reply: the object before and after the change.
struct Wcc {
  std::optional<wcc_attr> before;
  Attributes after;
};

// The place of an export: nfs://ADDRESS/EXPORT/PATH.
struct Url {
  std::string server;
  std::string path;  // begins with '/'

  // Returns nothing when `text` is not such a URL.
  static std::optional<Url> parse(std::string_view text);
};

class Nfs3Client {
 public:
  // Connects (MOUNT through the server's portmapper, NFS on port 2049) and asks for the root.
  // Returns null and sets `error` when that fails within deadline_ms.
  static std::unique_ptr<Nfs3Client> mount(const Url& url, std::string& error,
                                           int deadline_ms = kDefaultDeadlineMs);
  ~Nfs3Client();
  Nfs3Client(const Nfs3Client&) = delete;
  Nfs3Client& operator=(const Nfs3Client&) = delete;

  const Handle& root() const { return root_; }
  bool connected() const { return rpc_ != nullptr; }
  void set_deadline_ms(int deadline_ms) { deadline_ms_ = deadline_ms; }
  // The identity of all later calls (AUTH_SYS).
  void set_identity(int uid, int gid);

  // Tries to connect until it succeeds or deadline_ms have passed; handles stay valid.
  bool reconnect(int deadline_ms);

  // From now on a call without an answer reconnects, calls `recovered`, and is sent again, until it
  // is answered or `patience_ms` have passed. Calls made by `recovered` are not repeated: it
  // returns false when one of them got no reply, and is then called again after the next reconnect.
  void ride_outages(int patience_ms, std::function<bool()> recovered);
  // Whether the last call was sent more than once: an earlier copy may have been executed.
  bool repeated() const { return repeated_; }
  // Outages ridden out so far.
  std::uint64_t outages() const { return outages_; }
  // The longest wait for one copy of a call: until its answer, the loss of its connection, or the
  // deadline.
  double longest_wait_ms() const { return longest_wait_ms_; }

  AttributesReply getattr(const Handle& object);
  // guard: the ctime that the object must still have.
  AttributesReply setattr(const Handle& object, const NewAttributes& attributes,
                          std::optional<nfstime3> guard = std::nullopt);
  ObjectReply lookup(const Handle& directory, const std::string& name);
  AccessReply access(const Handle& object, std::uint32_t wanted);
  TextReply readlink(const Handle& link);
  ReadReply read(const Handle& file, std::uint64_t offset, std::uint32_t count);
  WriteReply write(const Handle& file, std::uint64_t offset, std::string_view data,
                   stable_how stable);
  WriteReply commit(const Handle& file, std::uint64_t offset, std::uint32_t count);
  // mode: UNCHECKED or GUARDED use `attributes`, EXCLUSIVE uses `verifier`.
  ObjectReply create(const Handle& directory, const std::string& name, createmode3 mode,
                     const NewAttributes& attributes, std::uint64_t verifier = 0);
  ObjectReply mkdir(const Handle& directory, const std::string& name,
                    const NewAttributes& attributes);
  ObjectReply symlink(const Handle& directory, const std::string& name, const std::string& target,
                      const NewAttributes& attributes);
  ObjectReply mknod(const Handle& directory, const std::string& name, ftype3 type,
                    const NewAttributes& attributes, specdata3 device);
  int remove(const Handle& directory, const std::string& name);
  int rmdir(const Handle& directory, const std::string& name);
  int rename(const Handle& from_directory, const std::string& from_name, const Handle& to_directory,
             const std::string& to_name);
  int link(const Handle& file, const Handle& directory, const std::string& name);
  // wcc_data of the last CREATE, REMOVE or SETATTR, refused ones included.
  const Wcc& last_wcc() const { return wcc_; }
  DirectoryPage readdir(const Handle& directory, std::uint64_t cookie, std::uint64_t verifier,
                        std::uint32_t count);
  DirectoryPage readdirplus(const Handle& directory, std::uint64_t cookie, std::uint64_t verifier,
                            std::uint32_t dircount, std::uint32_t maxcount);
  SpaceReply fsstat(const Handle& root);
  LimitsReply fsinfo(const Handle& root);
  NamesReply pathconf(const Handle& object);

  // Pipelining: `done` is called from run_once() with the status, and for reads with the data.
  using Done = std::function<void(int status, const char* data, std::uint32_t count)>;
  void submit_read(const Handle& file, std::uint64_t offset, std::uint32_t count, Done done);
  void submit_write(const Handle& file, std::uint64_t offset, std::string_view data,
                    stable_how stable, Done done);
  // Waits at most timeout_ms for replies and delivers them.
  void run_once(int timeout_ms);

 private:
  struct Call;

  Nfs3Client() = default;
  bool connect_once(int deadline_ms);
  bool ask_root(const Url& url, std::string& error, int deadline_ms);
  void disconnect();
  static bool pump(rpc_context* rpc, int timeout_ms);
  static void on_reply(rpc_context*, int status, void* data, void* call);
  static void on_connected(rpc_context*, int status, void*, void* call);
  bool ride_out();
  int call_once(const std::function<int(rpc_context*, rpc_cb, void*)>& submit,
                const std::function<void(void*)>& take);
  // Sends with `submit(rpc, callback, private)` and waits; `take` receives the result structure.
  int call(const std::function<int(rpc_context*, rpc_cb, void*)>& submit,
           const std::function<void(void*)>& take);

  Url url_;
  rpc_context* rpc_ = nullptr;
  Handle root_;
  Wcc wcc_;
  int deadline_ms_ = kDefaultDeadlineMs;
  int uid_ = 0;
  int gid_ = 0;
  int patience_ms_ = 0;
  std::function<bool()> recovered_;
  bool recovering_ = false;  // true while recovered_ runs
  bool repeated_ = false;
  std::uint64_t outages_ = 0;
  double longest_wait_ms_ = 0;
};

// "NFS3ERR_NOENT" and the like; "no reply" for kNoReply.
std::string status_name(int status);

}  // namespace symnas::nfs3
