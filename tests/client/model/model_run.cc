#include "tests/client/model/model_run.h"

#include <algorithm>
#include <array>

namespace symnas::model {
namespace {

constexpr std::size_t kRecentOperations = 30;
constexpr std::uint64_t kFarOffset = 1ull << 40;       // a sparse file's far end
constexpr std::uint64_t kUsualFileBytes = 3ull << 20;  // a few stripe units
constexpr std::uint32_t kVerifyBytes = 256 << 10;
constexpr std::size_t kLiveNodesMin = 40;   // below: make rather than remove
constexpr std::size_t kLiveNodesMax = 400;  // above: remove rather than make

bool earlier(const nfstime3& a, const nfstime3& b) {
  return a.seconds != b.seconds ? a.seconds < b.seconds : a.nseconds < b.nseconds;
}

bool same(const nfstime3& a, const nfstime3& b) {
  return a.seconds == b.seconds && a.nseconds == b.nseconds;
}

std::string text(const nfstime3& t) {
  return std::to_string(t.seconds) + "." + std::to_string(t.nseconds);
}

}  // namespace

ModelRun::ModelRun(Clients clients, std::uint64_t seed, const std::string& name)
    : clients_(std::move(clients)), random_(seed), name_(name) {
  top_ = clients_.front()->root();
  const nfs3::LimitsReply limits = clients_.front()->fsinfo(top_);
  check(limits.status == NFS3_OK, "FSINFO: " + nfs3::status_name(limits.status));
  max_offset_ = std::min<std::uint64_t>(kFarOffset, limits.limits.maxfilesize / 2);
  max_read_ = limits.limits.rtmax;
  max_write_ = limits.limits.wtmax;
  check(max_read_ >= 4096 && max_write_ >= 4096, "FSINFO: rtmax or wtmax below 4 KiB");
  nfs3::NewAttributes attributes;
  attributes.mode = 0755;
  const nfs3::ObjectReply made = clients_.front()->mkdir(top_, name, attributes);
  check(made.status == NFS3_OK, "MKDIR " + name + ": " + nfs3::status_name(made.status));
  model_.root().mode = 0755;
  learn(model_.root(), made);
}

void ModelRun::step() {
  struct Choice {
    unsigned weight;
    void (ModelRun::*operation)();
  };
  // Makers first, removers last: their weights follow the number of live nodes.
  const std::size_t live =
      static_cast<std::size_t>(std::count_if(model_.nodes().begin(), model_.nodes().end(),
                                             [](const auto& node) { return !node->dead(); }));
  const unsigned make = live > kLiveNodesMax ? 1 : 3;
  const unsigned remove = live < kLiveNodesMin ? 1 : 3;
  const std::array<Choice, 21> choices{{
      {4 * make, &ModelRun::op_create},   {make, &ModelRun::op_create_exclusive},
      {2 * make, &ModelRun::op_mkdir},    {make, &ModelRun::op_symlink},
      {make, &ModelRun::op_mknod},        {2 * make, &ModelRun::op_link},
      {3 * remove, &ModelRun::op_remove}, {remove, &ModelRun::op_rmdir},
      {8, &ModelRun::op_rename},          {8, &ModelRun::op_lookup},
      {5, &ModelRun::op_getattr},         {5, &ModelRun::op_setattr},
      {6, &ModelRun::op_truncate},        {14, &ModelRun::op_read},
      {18, &ModelRun::op_write},          {3, &ModelRun::op_commit},
      {4, &ModelRun::op_readdir},         {2, &ModelRun::op_readdir_while_changing},
      {2, &ModelRun::op_access},          {1, &ModelRun::op_filesystem},
      {2, &ModelRun::op_dead_handle},
  }};
  unsigned total = 0;
  for (const Choice& choice : choices) total += choice.weight;
  std::uint64_t at = below(total);
  busy_.clear();
  for (const Choice& choice : choices) {
    if (at < choice.weight) return (this->*choice.operation)();
    at -= choice.weight;
  }
}

Node& ModelRun::any_node() {
  for (;;) {
    Node& node = *model_.nodes()[below(model_.nodes().size())];
    if (!node.dead()) return node;
  }
}

Node& ModelRun::any_directory() {
  if (one_in(4)) return model_.root();
  if (one_in(60)) return *model_.nodes()[below(model_.nodes().size())];
  for (int tries = 0; tries < 50; ++tries) {
    Node& node = any_node();
    if (node.is_directory()) return node;
  }
  return model_.root();
}

Node& ModelRun::any_file() {
  for (int tries = 0; tries < 200; ++tries) {
    Node& node = any_node();
    if (node.type == NF3REG) return node;
  }
  nfs3::NewAttributes attributes;
  attributes.mode = 0644;
  for (int n = 0;; ++n) {
    const std::string name = "spare" + std::to_string(n);
    if (TreeModel::find(model_.root(), name) != nullptr) continue;
    note("CREATE " + name);
    auto made = client().create(model_.root().handle, name, GUARDED, attributes);
    if (executed_before(made.status, NFS3ERR_EXIST, {NFS3_OK}))
      made = client().lookup(model_.root().handle, name);
    check_status(made.status, {NFS3_OK});
    Node& node = model_.make(model_.root(), name, NF3REG);
    node.mode = 0644;
    learn(node, made);
    return node;
  }
}

std::string ModelRun::any_name(const Node& directory) {
  if (!directory.entries.empty() && !one_in(3)) {
    auto it = directory.entries.begin();
    std::advance(it, static_cast<std::ptrdiff_t>(below(directory.entries.size())));
    return it->first;
  }
  if (one_in(40)) return std::string(200 + below(60), static_cast<char>('a' + below(26)));
  if (one_in(20)) return "\xc3\xa4\xe2\x82\xac " + std::to_string(below(10));  // UTF-8, a blank
  if (one_in(30)) return std::string(1, static_cast<char>('!' + below(13)));   // shell characters
  return "n" + std::to_string(below(40));
}

std::uint64_t ModelRun::any_offset(const Node& file) {
  constexpr std::array<std::uint64_t, 6> kEdges{512, 4096, 64 << 10, 256 << 10, 1 << 20, 2 << 20};
  switch (below(6)) {
    case 0: return 0;
    case 1: return file.bytes.size() > max_offset_ ? 0 : file.bytes.size();
    case 2: return kEdges[below(kEdges.size())] - below(3) + 1;
    case 3: return one_in(8) ? max_offset_ - below(1 << 20) : below(kUsualFileBytes);
    default: return below(std::min(file.bytes.size() + 4096, kUsualFileBytes));
  }
}

std::uint32_t ModelRun::any_length() {
  const std::uint32_t limit = std::min(max_read_, max_write_);
  switch (below(6)) {
    case 0: return static_cast<std::uint32_t>(1 + below(100));
    case 1: return 512;
    case 2: return 4096;
    case 3: return static_cast<std::uint32_t>(1 + below(20'000));
    case 4: return std::min<std::uint32_t>(limit, static_cast<std::uint32_t>(below(300'000) + 1));
    default: return std::min<std::uint32_t>(limit, 64 << 10);
  }
}

std::string ModelRun::any_bytes(std::uint32_t length) {
  std::string bytes(length, '\0');
  std::uint64_t word = random_();
  for (char& c : bytes) {
    word = word * 6364136223846793005ull + 1442695040888963407ull;
    c = static_cast<char>(word >> 56);
  }
  return bytes;
}

void ModelRun::note(std::string what) {
  recent_.push_back(std::move(what));
  if (recent_.size() > kRecentOperations) recent_.pop_front();
}

void ModelRun::check(bool good, const std::string& what) {
  ++checks_;
  if (!good) throw Difference(what);
}

bool ModelRun::check_status(int got, const Statuses& allowed) {
  std::string wanted;
  for (int status : allowed) wanted += (wanted.empty() ? "" : " or ") + nfs3::status_name(status);
  recent_.back() += " -> " + nfs3::status_name(got);
  check(std::find(allowed.begin(), allowed.end(), got) != allowed.end(),
        "answered " + nfs3::status_name(got) + ", allowed is " + wanted);
  return got == NFS3_OK;
}

void ModelRun::check_attributes(Node& node, const nfs3::Attributes& got) {
  if (got) check_attributes(node, *got);
}

void ModelRun::check_attributes(Node& node, const fattr3& got) {
  const std::string object = "object " + std::to_string(node.fileid) + ": ";
  const auto compare = [&](const char* what, std::uint64_t is, std::uint64_t should) {
    check(is == should,
          object + what + " is " + std::to_string(is) + ", should be " + std::to_string(should));
  };
  compare("type", got.type, node.type);
  compare("mode", got.mode & 07777, node.mode);
  compare("uid", got.uid, node.uid);
  compare("gid", got.gid, node.gid);
  if (node.fileid == 0) node.fileid = got.fileid;
  compare("fileid", got.fileid, node.fileid);
  if (!node.is_directory()) compare("nlink", got.nlink, node.nlink);
  if (node.type == NF3REG) compare("size", got.size, node.bytes.size());
  if (node.type == NF3LNK) compare("size of symlink", got.size, node.target.size());
  if (node.type == NF3CHR || node.type == NF3BLK) {
    compare("device major", got.rdev.specdata1, node.device.specdata1);
    compare("device minor", got.rdev.specdata2, node.device.specdata2);
  }
  check(!earlier(got.ctime, node.ctime_seen),
        object + "ctime ran backwards: " + text(node.ctime_seen) + " to " + text(got.ctime));
  node.ctime_seen = got.ctime;
  if (node.mtime) {
    check(same(got.mtime, *node.mtime),
          object + "mtime is " + text(got.mtime) + ", was set to " + text(*node.mtime));
  }
  if (node.atime) {
    check(same(got.atime, *node.atime),
          object + "atime is " + text(got.atime) + ", was set to " + text(*node.atime));
  }
}

void ModelRun::learn(Node& node, const nfs3::ObjectReply& reply) {
  check(!reply.handle.empty(), "the answer carries no handle");
  check(reply.handle.size() <= NFS3_FHSIZE, "handle longer than 64 bytes");
  for (const auto& other : model_.nodes()) {
    check(other.get() == &node || other->handle != reply.handle,
          "a new object got the handle of an earlier one");
  }
  node.handle = reply.handle;
  check_attributes(node, reply.attributes);
}

void ModelRun::verify_all() { verify_below(model_.root()); }

void ModelRun::verify_below(Node& directory) {
  list_all(directory, true);
  list_all(directory, false);
  for (auto& [name, node] : directory.entries) {
    note("final LOOKUP of " + name);
    const nfs3::ObjectReply got = client().lookup(directory.handle, name);
    check_status(got.status, {NFS3_OK});
    check(got.handle == node->handle, "LOOKUP of " + name + " gave another handle");
    const nfs3::AttributesReply attributes = client().getattr(node->handle);
    check_status(attributes.status, {NFS3_OK});
    check_attributes(*node, attributes.attributes);
    if (node->is_directory()) verify_below(*node);
    if (node->type == NF3LNK) {
      check(client().readlink(node->handle).text == node->target, "READLINK of " + name);
    }
    if (node->type != NF3REG) continue;
    const std::uint32_t chunk = std::min(kVerifyBytes, max_read_);
    const std::uint64_t near = std::min(node->bytes.size(), kUsualFileBytes + (1 << 20));
    for (std::uint64_t at = 0; at < near; at += chunk) verify_bytes(*node, at, chunk);
    for (std::uint64_t at : node->bytes.written_blocks()) {
      if (at >= near) verify_bytes(*node, at, FileBytes::kBlockBytes);
    }
    verify_bytes(*node, node->bytes.size(), 1);
  }
}

void ModelRun::remove_all() {
  remove_below(model_.root());
  note("RMDIR " + name_);
  const int status = client().rmdir(top_, name_);
  if (!executed_before(status, NFS3ERR_NOENT, {NFS3_OK})) check_status(status, {NFS3_OK});
}

void ModelRun::remove_below(Node& directory) {
  while (!directory.entries.empty()) {
    const auto [name, node] = *directory.entries.begin();
    if (node->is_directory()) remove_below(*node);
    note("final removal of " + name);
    busy_ = {node};
    const int status = node->is_directory() ? client().rmdir(directory.handle, name)
                                            : client().remove(directory.handle, name);
    if (!executed_before(status, NFS3ERR_NOENT, {NFS3_OK})) check_status(status, {NFS3_OK});
    model_.unlink(directory, name);
  }
  list_all(directory, false);
}

}  // namespace symnas::model
