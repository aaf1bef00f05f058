#include "tests/sim/client.h"

#include <algorithm>
#include <utility>

#include "common/kv/keys.h"
#include "fsal_cluster/ops/rename.h"

namespace symnas::sim {

namespace {

using fs::FileType;
using fs::Handle;
using fs::Mount;
using fs::NamespaceModel;

const fs::Credentials kRoot{};
constexpr std::uint64_t kNames = 5;
constexpr Handle kUnknown{};

// Answers after which the operation may have happened.
bool leaves_open(ErrorCode code) { return code == ErrorCode::kIo; }

template <class T>
NamespaceModel::OpError answer_of(const Result<T>& result) {
  return result ? NamespaceModel::OpError() : NamespaceModel::OpError(result.error().code);
}
std::string text(const NamespaceModel::OpError& answer) {
  return answer ? std::string(to_string(*answer)) : std::string("ok");
}

fs::NewNode new_node(FileType type) {
  fs::NewNode node;
  node.type = type;
  node.attributes.mode = 0644;
  node.symlink_target = "target";
  return node;
}

}  // namespace

void Client::must(const std::string& complaint) const {
  if (!complaint.empty()) fail("client " + std::to_string(index_) + ": " + complaint);
}

Client::Reply Client::call(const std::function<void(Mount&)>& request) {
  const Reply reply = heads_[head_].call(epoch_, request);
  if (reply == Reply::kLost) lost_ = {head_, epoch_};
  return reply;
}

void Client::prepare() {
  choose_instance();
  std::optional<Result<fs::Created>> made;
  const std::string name = "c" + std::to_string(index_);
  call([&](Mount& mount) {
    made = mount.mkdir(kRoot, root(), name, new_node(FileType::kDirectory));
  });
  if (!made || !*made) fail("no directory for a client");
  handles_[0] = (*made)->attributes.handle;
}

void Client::run() {
  for (std::uint64_t i = 0; i < workload_.operations; ++i) {
    one();
    if (below(6) == 0) sleep_ns(static_cast<std::int64_t>(below(20'000'000)));
    if (below(60) == 0) sleep_ns(static_cast<std::int64_t>(below(5'000'000'000)));
  }
}

void Client::one() {
  choose_instance();
  if (maybe_ && !look_at_tree()) return;
  const auto all = static_cast<std::uint64_t>(workload_.namespace_weight + workload_.data_weight);
  const auto registers = static_cast<std::uint64_t>(workload_.register_weight);
  if (registers > 0 && below(all + registers) < registers) {
    one_register();
    return;
  }
  const auto weight = static_cast<std::uint64_t>(workload_.namespace_weight);
  const std::uint64_t dice = below(weight + static_cast<std::uint64_t>(workload_.data_weight));
  if (dice >= weight) {
    one_in_file();
  } else if (below(12) < static_cast<std::uint64_t>(workload_.shared_weight)) {
    one_shared_name();
  } else {
    one_in_tree();
  }
}

void Client::choose_instance() {
  if (lost_) heads_[lost_->first].wait_fenced(lost_->second);
  lost_.reset();
  if (lost_name_) shared_.names.tree.unanswered(*lost_name_);
  lost_name_.reset();
  head_ = heads_.pick(static_cast<std::size_t>(index_));
  epoch_ = heads_[head_].epoch();
}

// --- the tree

Client::Id Client::pick_node() {
  const Id id = below(4) == 0 ? below(tree_.size()) : below(std::min<Id>(tree_.size(), 6));
  return was_open_.contains(id) ? 0 : id;
}
std::string Client::pick_name() { return std::string(1, static_cast<char>('a' + below(kNames))); }

void Client::one_in_tree() {
  NamespaceModel after = tree_;
  const Id dir = pick_node();
  const Id other = pick_node();
  const std::string name = pick_name();
  const std::string to_name = pick_name();
  const Handle at = handles_[dir];
  const Handle there = handles_[other];
  switch (below(16)) {
    case 0:
    case 1:
    case 2: {
      const FileType type = below(5) == 0 ? FileType::kSymlink : FileType::kRegular;
      const bool exclusive = below(3) == 0;
      const std::uint64_t verifier = draw();
      const OpError expected = after.add(dir, name, type);
      change_tree("create", after, expected, [&](Mount& mount) -> Told {
        const auto mode = exclusive ? fs::CreateMode::kExclusive : fs::CreateMode::kGuarded;
        const auto made = type == FileType::kSymlink
                              ? mount.symlink(kRoot, at, name, new_node(type))
                              : mount.create(kRoot, at, name, mode, verifier, new_node(type));
        if (!made) return {answer_of(made), std::nullopt};
        return {std::nullopt, made->attributes.handle};
      });
      return;
    }
    case 3:
    case 4: {
      const OpError expected = after.add(dir, name, FileType::kDirectory);
      change_tree("mkdir", after, expected, [&](Mount& mount) -> Told {
        const auto made = mount.mkdir(kRoot, at, name, new_node(FileType::kDirectory));
        if (!made) return {answer_of(made), std::nullopt};
        return {std::nullopt, made->attributes.handle};
      });
      return;
    }
    case 5: {
      const OpError expected = after.link(other, dir, name);
      change_tree("link", after, expected, [&](Mount& mount) -> Told {
        return {answer_of(mount.link(kRoot, there, at, name)), std::nullopt};
      });
      return;
    }
    case 6:
    case 7: {
      const OpError expected = after.unlink(dir, name);
      change_tree("unlink", after, expected, [&](Mount& mount) -> Told {
        return {answer_of(mount.unlink(kRoot, at, name)), std::nullopt};
      });
      return;
    }
    case 8: {
      const OpError expected = after.rmdir(dir, name);
      change_tree("rmdir", after, expected, [&](Mount& mount) -> Told {
        return {answer_of(mount.rmdir(kRoot, at, name)), std::nullopt};
      });
      return;
    }
    case 9:
    case 10: {
      const OpError expected = after.rename(dir, name, other, to_name);
      change_tree("rename", after, expected, [&](Mount& mount) -> Told {
        return {answer_of(mount.rename(kRoot, at, name, there, to_name)), std::nullopt};
      });
      return;
    }
    case 11: {
      const auto mode = static_cast<std::uint32_t>(0400 + below(64));
      const OpError expected = after.chmod(dir, mode);
      fs::SetAttributes changes;
      changes.mode = mode;
      change_tree("chmod", after, expected, [&](Mount& mount) -> Told {
        return {answer_of(mount.setattr(kRoot, at, changes)), std::nullopt};
      });
      return;
    }
    case 12:
    case 13: change_attribute(std::move(after), dir, name); return;
    case 14: change_acl(std::move(after), dir); return;
    default: read_tree(); return;
  }
}

void Client::change_acl(NamespaceModel after, Id node) {
  const auto rights = [this] { return static_cast<std::uint32_t>(below(fs::kAceMask + 1)); };
  fs::AclChange change;
  change.acl = fs::Acl{{{fs::AceType::kAllow, fs::AceWho::kOwner, 0, 0, rights()},
                        {fs::AceType::kDeny, fs::AceWho::kUser, 1000, 0, rights()},
                        {fs::AceType::kAllow, fs::AceWho::kEveryone, 0, 0, rights()}}};
  const OpError expected = after.set_acl(node, *change.acl);
  fs::SetAttributes changes;
  changes.acl = std::make_shared<const fs::AclChange>(change);
  const Handle at = handles_[node];
  change_tree("set ACL", after, expected, [&](Mount& mount) -> Told {
    return {answer_of(mount.setattr(kRoot, at, changes)), std::nullopt};
  });
}

void Client::change_attribute(NamespaceModel after, Id node, const std::string& name) {
  const Handle at = handles_[node];
  if (below(3) == 0) {
    const OpError expected = after.remove_xattr(node, name);
    change_tree("remove attribute", after, expected, [&](Mount& mount) -> Told {
      return {answer_of(mount.remove_xattr(kRoot, at, name)), std::nullopt};
    });
    return;
  }
  const std::string value(below(40), static_cast<char>('a' + below(26)));
  const auto option = static_cast<fs::XattrOption>(below(3));
  const OpError expected = after.set_xattr(node, name, value, option);
  change_tree("set attribute", after, expected, [&](Mount& mount) -> Told {
    return {answer_of(mount.set_xattr(kRoot, at, name, value, option)), std::nullopt};
  });
}

void Client::change_tree(const char* what, NamespaceModel after, const OpError& expected,
                         const std::function<Told(Mount&)>& ask) {
  std::optional<Told> told;
  trace("client %d: %s, expects %s", index_, what, text(expected).c_str());
  const Reply reply = call([&](Mount& mount) { told = ask(mount); });
  if (reply == Reply::kMoved) return;
  const bool open = reply == Reply::kLost || (told->answer && leaves_open(*told->answer));
  if (open) {
    if (!expected) {
      maybe_ = std::move(after);
      maybe_what_ = what;
    }
    return;
  }
  trace("client %d: %s: %s", index_, what, text(told->answer).c_str());
  if (refuses(told->answer)) return;
  if (heads_.size() > 1 && expected == ErrorCode::kStale &&
      (told->answer == ErrorCode::kNotDirectory || told->answer == ErrorCode::kNotFound ||
       told->answer == ErrorCode::kAlreadyExists || (!told->answer && !told->handle))) {
    return;  // no names, but the inode still exists: another mount may have it open
  }
  if (told->answer != expected) {
    must(std::string(what) + " answered " + text(told->answer) + ", expected " + text(expected));
  }
  if (!expected) adopt(std::move(after), told->handle);
}

bool Client::refuses(const std::optional<ErrorCode>& answer) const {
  if (answer != ErrorCode::kConflict) return answer == ErrorCode::kNoSpace;
  MountWorld& world = heads_.first();
  const std::string root = kv::keys::inode(world.fs(), fs::kRootIno);
  const std::vector<kv::KeyValue> dump = world.server().dump();
  return std::none_of(dump.begin(), dump.end(),
                      [&](const kv::KeyValue& kv) { return kv.key == root; });
}

void Client::adopt(NamespaceModel after, const std::optional<Handle>& handle) {
  if (handle) handles_[after.size() - 1] = *handle;
  tree_ = std::move(after);
  forget_removed();
}

void Client::forget_removed() {
  for (Id id = 0; id < tree_.size(); ++id) {
    if (tree_.type(id) != FileType::kRegular) continue;
    if (tree_.nlink(id) == 0) {
      files_.erase(id);
    } else if (!files_.contains(id)) {
      // Now and then across the boundary of two map chunks.
      const std::uint64_t base = below(5) == 0 ? (std::uint64_t{64} << 20) - (32 << 10) : 0;
      files_[id] = std::make_unique<FileModel>(shared_.next_file++, base);
    }
  }
}

// Decides whether the operation without an answer has happened. False: it could not be decided now.
bool Client::look_at_tree() {
  std::string as_it_was;
  std::string changed;
  std::map<Id, Handle> found = handles_;
  std::map<Id, Handle> found_changed = handles_;
  const Reply reply = call([&](Mount& mount) {
    as_it_was = compare(tree_, found, mount);
    if (!as_it_was.empty()) changed = compare(*maybe_, found_changed, mount);
  });
  if (reply != Reply::kAnswered) return false;
  if (!as_it_was.empty()) {
    if (!changed.empty()) {
      must("after a lost answer to " + maybe_what_ + ": neither as before (" + as_it_was +
           ") nor as after (" + changed + ")");
    }
    handles_ = std::move(found_changed);
    adopt(std::move(*maybe_), std::nullopt);
  }
  trace("client %d: the %s without an answer has %shappened", index_, maybe_what_.c_str(),
        as_it_was.empty() ? "not " : "");
  maybe_.reset();
  return true;
}

std::string Client::compare(const NamespaceModel& model, std::map<Id, Handle>& found,
                            Mount& mount) const {
  for (Id id = 0; id < model.size(); ++id) {
    if (model.type(id) != FileType::kDirectory || model.nlink(id) == 0) continue;
    std::string wrong = compare_directory(model, id, found, mount);
    if (!wrong.empty()) return wrong;
  }
  for (Id id = 0; id < model.size(); ++id) {
    if (model.nlink(id) == 0 || found[id] == kUnknown) continue;
    if (attributes_of(mount, found[id]) != model.xattrs(id))
      return "node " + std::to_string(id) + " has other extended attributes";
  }
  return {};
}

std::map<std::string, std::string> Client::attributes_of(Mount& mount, const Handle& node) {
  std::map<std::string, std::string> out;
  const auto names = mount.list_xattrs(kRoot, node, 0);
  if (!names) return {{"", names.error().message}};
  for (const fs::XattrName& name : *names)
    out[name.name] = mount.get_xattr(kRoot, node, name.name).value_or("(none)");
  return out;
}

bool Client::same(const std::shared_ptr<const fs::Acl>& one,
                  const std::shared_ptr<const fs::Acl>& other) {
  return one && other ? *one == *other : one == other;
}

std::string Client::compare_directory(const NamespaceModel& model, Id dir,
                                      std::map<Id, Handle>& found, Mount& mount) const {
  std::map<std::string, fs::Attributes> seen;
  std::uint64_t cookie = 0;
  for (bool more = true; more;) {
    const auto page = mount.readdir(found[dir], cookie, 1 + below(4));
    if (!page && heads_.size() > 1 && page.error().code == ErrorCode::kNoSpace) {
      sleep_ns(20'000'000);  // a want could not be put
      continue;
    }
    if (!page) return "directory " + std::to_string(dir) + ": " + page.error().message;
    for (const fs::DirectoryEntry& entry : page->entries) {
      if (!seen.emplace(entry.name, entry.attributes).second) return "a name listed twice";
      cookie = entry.cookie;
    }
    more = !page->end_of_directory;
    if (more && page->entries.empty()) return "an empty page before the end";
  }
  for (const auto& [name, id] : model.entries(dir)) {
    const auto it = seen.find(name);
    if (it == seen.end()) return "name " + name + " is missing";
    const fs::Attributes& attributes = it->second;
    Handle& handle = found[id];
    if (handle == kUnknown) handle = attributes.handle;
    if (!(handle == attributes.handle)) return "name " + name + " means another inode";
    if (attributes.type != model.type(id)) return "name " + name + " has another type";
    if (attributes.nlink != model.nlink(id)) return "name " + name + " has a wrong link count";
    if (attributes.mode != model.mode(id)) return "name " + name + " has another mode";
    if (!same(attributes.acl, model.acl(id))) return "name " + name + " has another ACL";
    seen.erase(it);
  }
  return seen.empty() ? "" : "name " + seen.begin()->first + " should not be there";
}

// Reads the whole tree, or one directory of it: it must be exactly as in the model.
void Client::read_tree() {
  std::string wrong;
  std::optional<fs::Attributes> attributes;
  std::map<Id, Handle> found = handles_;
  const Id dir = pick_node();
  const bool is_directory = tree_.type(dir) == FileType::kDirectory && tree_.nlink(dir) > 0;
  const Reply reply = call([&](Mount& mount) {
    if (!is_directory) {
      wrong = compare(tree_, found, mount);
      return;
    }
    wrong = compare_directory(tree_, dir, found, mount);
    const auto got = mount.getattr(found[dir]);
    if (got) attributes = *got;
  });
  if (reply != Reply::kAnswered) return;
  must(wrong);
  if (!attributes) return;
  std::string names;
  for (const auto& [name, id] : tree_.entries(dir)) names += name + std::to_string(id) + " ";
  names += std::to_string(attributes->mode);
  const auto [it, fresh] = names_of_change_.emplace(
      std::pair(attributes->handle.ino.value(), attributes->change), names);
  if (it->second != names) must("one change of a directory stands for two contents");
  std::uint64_t& last = last_change_[{head_, attributes->handle.ino.value()}];
  if (attributes->change < last) must("the change of a directory went back");
  last = attributes->change;
}

// --- everything

void Client::check_all() {
  for (;;) {
    choose_instance();
    if (maybe_ && !look_at_tree()) continue;
    std::string wrong;
    std::map<Id, Handle> found = handles_;
    if (call([&](Mount& mount) { wrong = compare(tree_, found, mount); }) != Reply::kAnswered) {
      continue;
    }
    must(wrong);
    bool all = true;
    for (auto& [id, file] : files_) {
      const Target target{file.get(), handles_[id], nullptr, nullptr};
      all = all && ready(target);
      if (!all) break;
      read(target);
      getattr(target);
    }
    for (SharedFile& file : shared_.files) {
      const Target target = shared_target(file);
      all = all && ready(target);
      if (all) read(target);
    }
    if (all && heads_[head_].lives(epoch_)) return;
  }
}

void Client::closed_cleanly() {
  for (auto& [id, file] : files_) {
    if (!file->must_resolve()) file->committed(file->snapshot());
  }
}

}  // namespace symnas::sim
