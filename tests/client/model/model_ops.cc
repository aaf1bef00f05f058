// The operations of ModelRun on names and attributes (model_bytes.cc: on bytes). Each chooses its
// arguments, asks the server, compares, and changes the model as the server has acknowledged.
#include "tests/client/model/model_run.h"

namespace symnas::model {
namespace {

using nfs3::NewAttributes;
using nfs3::ObjectReply;

constexpr std::uint32_t kPageBytesMin = 512;  // smaller pages may be refused with TOOSMALL

std::string in_directory(const Node& directory, const std::string& name) {
  std::string shown = name.size() > 60 ? name.substr(0, 60) + "..." : name;
  return "'" + shown + "' in " + std::to_string(directory.fileid);
}

}  // namespace

// Attributes for a new object; stored in `as_made` as the server should show them.
NewAttributes ModelRun::new_attributes(Node& as_made) {
  NewAttributes attributes;
  as_made.mode = static_cast<std::uint32_t>(below(0777 + 1));
  attributes.mode = as_made.mode;
  if (one_in(3)) {
    attributes.uid = as_made.uid = static_cast<std::uint32_t>(1000 + below(5));
    attributes.gid = as_made.gid = static_cast<std::uint32_t>(1000 + below(5));
  }
  return attributes;
}

void ModelRun::op_lookup() {
  Node& directory = any_directory();
  const std::string name = any_name(directory);
  note("LOOKUP " + in_directory(directory, name));
  const ObjectReply got = client().lookup(directory.handle, name);
  if (check_status(got.status, TreeModel::allowed_lookup(directory, name))) {
    Node& node = *TreeModel::find(directory, name);
    check(got.handle == node.handle, "the handle changed");
    check_attributes(node, got.attributes);
  }
  if (directory.dead() || !directory.is_directory()) return;
  note("LOOKUP . in " + std::to_string(directory.fileid));
  const ObjectReply self = client().lookup(directory.handle, ".");
  check_status(self.status, {NFS3_OK});
  check(self.handle == directory.handle, "'.' has another handle");
  if (directory.parent == nullptr) return;
  note("LOOKUP .. in " + std::to_string(directory.fileid));
  const ObjectReply parent = client().lookup(directory.handle, "..");
  check_status(parent.status, {NFS3_OK});
  check(parent.handle == directory.parent->handle, "'..' is not the parent");
}

void ModelRun::op_getattr() {
  Node& node = any_node();
  note("GETATTR of " + std::to_string(node.fileid));
  const nfs3::AttributesReply got = client().getattr(node.handle);
  if (check_status(got.status, {NFS3_OK})) check_attributes(node, got.attributes);
}

void ModelRun::op_setattr() {
  Node& node = any_node();
  NewAttributes attributes;
  const bool has_mode = node.type != NF3LNK;  // a symlink's mode means nothing
  if (has_mode && one_in(2)) attributes.mode = static_cast<std::uint32_t>(below(01777 + 1));
  if (one_in(3)) attributes.uid = static_cast<std::uint32_t>(1000 + below(5));
  if (one_in(3)) attributes.gid = static_cast<std::uint32_t>(1000 + below(5));
  const nfstime3 exact{static_cast<u_int>(1'000'000'000 + below(1'000'000'000)),
                       static_cast<u_int>(below(1'000'000'000))};
  if (one_in(3)) {
    attributes.mtime_how = one_in(2) ? SET_TO_CLIENT_TIME : SET_TO_SERVER_TIME;
    attributes.mtime = exact;
    attributes.atime_how = one_in(2) ? SET_TO_CLIENT_TIME : DONT_CHANGE;
    attributes.atime = exact;
  }
  std::optional<nfstime3> guard;
  Statuses allowed{NFS3_OK};
  if (one_in(6)) {
    const nfs3::AttributesReply now = client().getattr(node.handle);
    note("GETATTR for a guard of " + std::to_string(node.fileid));
    check_status(now.status, {NFS3_OK});
    guard = now.attributes->ctime;
    if (one_in(2)) {
      guard->nseconds = (guard->nseconds + 1) % 1'000'000'000;
      allowed = {NFS3ERR_NOT_SYNC};
    }
  }
  note("SETATTR of " + std::to_string(node.fileid) + " type " + std::to_string(node.type) +
       (attributes.mode ? " mode" : "") + (attributes.uid ? " uid" : "") +
       (attributes.gid ? " gid" : "") + " mtime_how " + std::to_string(attributes.mtime_how) +
       " atime_how " + std::to_string(attributes.atime_how) + (guard ? " guarded" : ""));
  busy_ = {&node};
  nfs3::AttributesReply got = client().setattr(node.handle, attributes, guard);
  if (executed_before(got.status, NFS3ERR_NOT_SYNC, allowed)) got = client().getattr(node.handle);
  if (!check_status(got.status, allowed)) return;
  node.mode = attributes.mode.value_or(node.mode);
  node.uid = attributes.uid.value_or(node.uid);
  node.gid = attributes.gid.value_or(node.gid);
  if (attributes.mtime_how != DONT_CHANGE) node.mtime.reset();
  if (attributes.mtime_how == SET_TO_CLIENT_TIME) node.mtime = exact;
  // Too many operations read directories and symlinks: the model does not know their access time.
  if (attributes.atime_how == SET_TO_CLIENT_TIME && node.type == NF3REG) node.atime = exact;
  check_attributes(node, got.attributes);
}

void ModelRun::op_create() {
  Node& directory = any_directory();
  const std::string name = any_name(directory);
  const bool guarded = one_in(2);
  const Statuses allowed = guarded ? TreeModel::allowed_make(directory, name)
                                   : TreeModel::allowed_create_unchecked(directory, name);
  Node* there = directory.is_directory() ? TreeModel::find(directory, name) : nullptr;
  Node wanted;
  NewAttributes attributes = new_attributes(wanted);
  const bool truncate = !guarded && one_in(2);
  if (there != nullptr && !guarded) attributes = NewAttributes{};
  if (truncate) attributes.size = 0;
  note(std::string(guarded ? "CREATE guarded " : "CREATE unchecked ") +
       (truncate ? "size 0 " : "") + in_directory(directory, name));
  if (there != nullptr) busy_ = {there};
  ObjectReply got =
      client().create(directory.handle, name, guarded ? GUARDED : UNCHECKED, attributes);
  if (executed_before(got.status, NFS3ERR_EXIST, allowed))
    got = client().lookup(directory.handle, name);
  if (!check_status(got.status, allowed)) return;
  if (there != nullptr) {
    if (truncate) {
      there->bytes.resize(0);
      there->uncommitted.resize(0);
      there->mtime.reset();
    }
    check(got.handle.empty() || got.handle == there->handle, "CREATE gave another handle");
    // Setting the size that the file already has may or may not count as a change.
    if (truncate) there->atime.reset();
    note("GETATTR after truncating CREATE");
    const nfs3::AttributesReply now = client().getattr(there->handle);
    if (check_status(now.status, {NFS3_OK})) check_attributes(*there, now.attributes);
    return;
  }
  Node& node = model_.make(directory, name, NF3REG);
  node.mode = wanted.mode;
  node.uid = wanted.uid;
  node.gid = wanted.gid;
  learn(node, got);
}

// An exclusive CREATE may be repeated with its verifier until attributes are set (RFC 1813 3.3.8).
void ModelRun::op_create_exclusive() {
  Node& directory = any_directory();
  const std::string name = any_name(directory);
  const Statuses allowed = TreeModel::allowed_make(directory, name);
  const std::uint64_t verifier = random_();
  note("CREATE exclusive " + in_directory(directory, name));
  const ObjectReply got = client().create(directory.handle, name, EXCLUSIVE, {}, verifier);
  if (!check_status(got.status, allowed)) return;
  note("CREATE exclusive again " + in_directory(directory, name));
  const ObjectReply again = client().create(directory.handle, name, EXCLUSIVE, {}, verifier);
  check_status(again.status, {NFS3_OK});
  check(again.handle == got.handle, "the repeated exclusive CREATE gave another object");
  note("CREATE exclusive, other verifier " + in_directory(directory, name));
  const ObjectReply other = client().create(directory.handle, name, EXCLUSIVE, {}, verifier + 1);
  check_status(other.status, {NFS3ERR_EXIST});

  Node& node = model_.make(directory, name, NF3REG);
  node.handle = got.handle;
  NewAttributes attributes = new_attributes(node);
  attributes.uid = node.uid;
  attributes.gid = node.gid;
  attributes.atime_how = attributes.mtime_how = SET_TO_SERVER_TIME;
  note("SETATTR after exclusive CREATE");
  const nfs3::AttributesReply set = client().setattr(node.handle, attributes);
  check_status(set.status, {NFS3_OK});
  learn(node, {NFS3_OK, got.handle, set.attributes});
}

void ModelRun::op_mkdir() {
  Node& directory = any_directory();
  const std::string name = any_name(directory);
  const Statuses allowed = TreeModel::allowed_make(directory, name);
  Node wanted;
  const NewAttributes attributes = new_attributes(wanted);
  note("MKDIR " + in_directory(directory, name));
  ObjectReply got = client().mkdir(directory.handle, name, attributes);
  if (executed_before(got.status, NFS3ERR_EXIST, allowed))
    got = client().lookup(directory.handle, name);
  if (!check_status(got.status, allowed)) return;
  Node& node = model_.make(directory, name, NF3DIR);
  node.mode = wanted.mode;
  node.uid = wanted.uid;
  node.gid = wanted.gid;
  learn(node, got);
}

void ModelRun::op_symlink() {
  Node& directory = any_directory();
  const std::string name = any_name(directory);
  const Statuses allowed = TreeModel::allowed_make(directory, name);
  const std::string target(1 + below(one_in(10) ? 900 : 60), static_cast<char>('a' + below(26)));
  note("SYMLINK " + in_directory(directory, name));
  NewAttributes attributes;
  attributes.mode = 0777;
  ObjectReply got = client().symlink(directory.handle, name, target, attributes);
  if (executed_before(got.status, NFS3ERR_EXIST, allowed))
    got = client().lookup(directory.handle, name);
  if (!check_status(got.status, allowed)) return;
  Node& node = model_.make(directory, name, NF3LNK);
  node.mode = 0777;
  node.target = target;
  learn(node, got);
  const nfs3::TextReply link = client().readlink(node.handle);
  note("READLINK of " + std::to_string(node.fileid));
  check_status(link.status, {NFS3_OK});
  check(link.text == target, "READLINK gave another target");
}

void ModelRun::op_mknod() {
  Node& directory = any_directory();
  const std::string name = any_name(directory);
  const Statuses allowed = TreeModel::allowed_make(directory, name);
  constexpr ftype3 kTypes[] = {NF3FIFO, NF3SOCK, NF3CHR, NF3BLK};
  const ftype3 type = kTypes[below(4)];
  const specdata3 device{static_cast<u_int>(below(200)), static_cast<u_int>(below(200))};
  Node wanted;
  const NewAttributes attributes = new_attributes(wanted);
  note("MKNOD " + in_directory(directory, name));
  ObjectReply got = client().mknod(directory.handle, name, type, attributes, device);
  if (executed_before(got.status, NFS3ERR_EXIST, allowed))
    got = client().lookup(directory.handle, name);
  if (!check_status(got.status, allowed)) return;
  Node& node = model_.make(directory, name, type);
  node.mode = wanted.mode;
  node.uid = wanted.uid;
  node.gid = wanted.gid;
  if (type == NF3CHR || type == NF3BLK) node.device = device;
  learn(node, got);
}

void ModelRun::op_remove() {
  Node& directory = any_directory();
  const std::string name = any_name(directory);
  note("REMOVE " + in_directory(directory, name));
  const Statuses allowed = TreeModel::allowed_remove(directory, name);
  if (directory.is_directory()) busy_ = {TreeModel::find(directory, name)};
  const int status = client().remove(directory.handle, name);
  if (executed_before(status, NFS3ERR_NOENT, allowed) || check_status(status, allowed))
    model_.unlink(directory, name);
}

void ModelRun::op_rmdir() {
  Node& directory = any_directory();
  const std::string name = any_name(directory);
  note("RMDIR " + in_directory(directory, name));
  const Statuses allowed = TreeModel::allowed_rmdir(directory, name);
  const int status = client().rmdir(directory.handle, name);
  if (executed_before(status, NFS3ERR_NOENT, allowed) || check_status(status, allowed))
    model_.unlink(directory, name);
}

void ModelRun::op_link() {
  Node& file = one_in(10) ? any_node() : any_file();
  Node& directory = any_directory();
  const std::string name = any_name(directory);
  note("LINK " + std::to_string(file.fileid) + " as " + in_directory(directory, name));
  const Statuses allowed = TreeModel::allowed_link(file, directory, name);
  busy_ = {&file};
  const int status = client().link(file.handle, directory.handle, name);
  if (executed_before(status, NFS3ERR_EXIST, allowed)) {
    const ObjectReply there = client().lookup(directory.handle, name);
    check_status(there.status, {NFS3_OK});
    check(there.handle == file.handle, "the new link is another object");
    model_.link(file, directory, name);
  } else if (check_status(status, allowed)) {
    model_.link(file, directory, name);
  }
}

void ModelRun::op_rename() {
  Node& from = any_directory();
  Node& to = one_in(2) ? from : any_directory();
  const std::string from_name = any_name(from);
  const std::string to_name = any_name(to);
  note("RENAME " + in_directory(from, from_name) + " to " + in_directory(to, to_name));
  const Statuses allowed = TreeModel::allowed_rename(from, from_name, to, to_name);
  Node* moved = from.is_directory() ? TreeModel::find(from, from_name) : nullptr;
  Node* replaced = to.is_directory() ? TreeModel::find(to, to_name) : nullptr;
  busy_ = {moved, replaced};
  const int status = client().rename(from.handle, from_name, to.handle, to_name);
  if (executed_before(status, NFS3ERR_NOENT, allowed)) {
    const ObjectReply there = client().lookup(to.handle, to_name);
    check_status(there.status, {NFS3_OK});
    check(there.handle == moved->handle, "the new name is another object's");
    model_.rename(from, from_name, to, to_name);
  } else if (check_status(status, allowed)) {
    model_.rename(from, from_name, to, to_name);
  }
}

// Compares one page's entries and counts them in `seen`.
void ModelRun::compare_page(Node& directory, const nfs3::DirectoryPage& page, bool plus,
                            std::map<std::string, int>& seen) {
  for (const nfs3::DirectoryEntry& entry : page.entries) {
    seen[entry.name] += 1;
    if (entry.name == "." || entry.name == "..") continue;
    Node* node = TreeModel::find(directory, entry.name);
    check(node != nullptr, "READDIR shows '" + entry.name + "', which does not exist");
    check(entry.fileid == node->fileid, "READDIR shows another fileid for '" + entry.name + "'");
    if (!plus) continue;
    check_attributes(*node, entry.attributes);
    check(entry.handle.empty() || entry.handle == node->handle,
          "READDIRPLUS shows another handle for '" + entry.name + "'");
  }
}

void ModelRun::list_all(Node& directory, bool plus) {
  const std::uint32_t bytes = kPageBytesMin << below(6);
  std::map<std::string, int> seen;
  std::uint64_t cookie = 0;
  std::uint64_t verifier = 0;
  for (;;) {
    note((plus ? "READDIRPLUS " : "READDIR ") + std::to_string(directory.fileid) + " after " +
         std::to_string(cookie) + " bytes " + std::to_string(bytes));
    const nfs3::DirectoryPage page =
        plus ? client().readdirplus(directory.handle, cookie, verifier, bytes, bytes * 4)
             : client().readdir(directory.handle, cookie, verifier, bytes);
    check_status(page.status, {NFS3_OK});
    compare_page(directory, page, plus, seen);
    if (page.eof) break;
    check(!page.entries.empty(), "a page without entries is not the last one");
    cookie = page.entries.back().cookie;
    verifier = page.verifier;
  }
  for (const auto& [name, count] : seen) {
    check(count == 1, "READDIR shows '" + name + "' " + std::to_string(count) + " times");
  }
  for (const auto& [name, node] : directory.entries) {
    check(seen.contains(name), "READDIR does not show '" + name + "'");
  }
}

void ModelRun::op_readdir() {
  Node& directory = any_directory();
  if (directory.dead() || !directory.is_directory()) return;
  list_all(directory, one_in(2));
}

// Names that stay are shown exactly once, whatever happens to others between two pages.
void ModelRun::op_readdir_while_changing() {
  Node& directory = any_directory();
  if (directory.dead() || directory.entries.size() < 8) return;
  std::map<std::string, Node*> stays = directory.entries;
  std::map<std::string, int> seen;
  std::uint64_t cookie = 0;
  std::uint64_t verifier = 0;
  for (;;) {
    note("READDIR while changing " + std::to_string(directory.fileid) + " after " +
         std::to_string(cookie));
    const nfs3::DirectoryPage page =
        client().readdir(directory.handle, cookie, verifier, kPageBytesMin);
    check_status(page.status, {NFS3_OK});
    compare_page(directory, page, false, seen);
    if (page.eof) break;
    cookie = page.entries.back().cookie;
    verifier = page.verifier;
    const std::string name = any_name(directory);
    if (Node* there = TreeModel::find(directory, name); there == nullptr) {
      note("CREATE between pages " + in_directory(directory, name));
      Node wanted;
      const NewAttributes attributes = new_attributes(wanted);
      const Statuses allowed = TreeModel::allowed_make(directory, name);
      ObjectReply got = client().create(directory.handle, name, GUARDED, attributes);
      if (executed_before(got.status, NFS3ERR_EXIST, allowed))
        got = client().lookup(directory.handle, name);
      if (!check_status(got.status, allowed)) continue;
      Node& node = model_.make(directory, name, NF3REG);
      node.mode = wanted.mode;
      node.uid = wanted.uid;
      node.gid = wanted.gid;
      learn(node, got);
    } else if (!there->is_directory()) {
      note("REMOVE between pages " + in_directory(directory, name));
      busy_ = {there};
      const int status = client().remove(directory.handle, name);
      if (!executed_before(status, NFS3ERR_NOENT, {NFS3_OK})) check_status(status, {NFS3_OK});
      model_.unlink(directory, name);
      stays.erase(name);
    }
  }
  for (const auto& [name, node] : stays) {
    check(TreeModel::find(directory, name) != node || seen[name] == 1,
          "READDIR shows '" + name + "' " + std::to_string(seen[name]) +
              " times while others change");
  }
}

void ModelRun::op_access() {
  Node& node = any_node();
  constexpr std::uint32_t kReadWrite = ACCESS3_READ | ACCESS3_MODIFY | ACCESS3_EXTEND;
  note("ACCESS of " + std::to_string(node.fileid));
  const nfs3::AccessReply got = client().access(node.handle, kReadWrite);
  check_status(got.status, {NFS3_OK});
  check(got.granted == kReadWrite, "root is not granted reading and writing");
}

void ModelRun::op_filesystem() {
  note("FSSTAT and PATHCONF");
  const nfs3::SpaceReply space = client().fsstat(top_);
  check_status(space.status, {NFS3_OK});
  check(space.space.tbytes >= space.space.fbytes && space.space.fbytes >= space.space.abytes,
        "FSSTAT: total >= free >= available does not hold");
  const nfs3::NamesReply names = client().pathconf(top_);
  check_status(names.status, {NFS3_OK});
  check(names.names.name_max == 255, "name_max is " + std::to_string(names.names.name_max));
  check(names.names.case_preserving && !names.names.case_insensitive, "PATHCONF: letter case");
}

void ModelRun::op_dead_handle() {
  Node* dead = nullptr;
  for (int tries = 0; tries < 20 && dead == nullptr; ++tries) {
    Node& node = *model_.nodes()[below(model_.nodes().size())];
    if (node.dead()) dead = &node;
  }
  if (dead == nullptr) return;
  const Statuses allowed{NFS3ERR_STALE, NFS3ERR_BADHANDLE};
  note("GETATTR of dead " + std::to_string(dead->fileid));
  check_status(client().getattr(dead->handle).status, allowed);
  if (dead->type != NF3REG) return;
  note("READ of dead " + std::to_string(dead->fileid));
  check_status(client().read(dead->handle, 0, 100).status, allowed);
  note("WRITE of dead " + std::to_string(dead->fileid));
  check_status(client().write(dead->handle, 0, "x", FILE_SYNC).status, allowed);
  note("SETATTR of dead " + std::to_string(dead->fileid));
  NewAttributes attributes;
  attributes.mode = 0600;
  check_status(client().setattr(dead->handle, attributes).status, allowed);
}

}  // namespace symnas::model
