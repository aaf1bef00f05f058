// Reading inodes, directories and names through the session's cache, as values with the revisions
// that a transaction will compare. Thread-safe; the functions may block while the session loads
// keys.
#pragma once

#include <optional>
#include <string>

#include "common/base/result.h"
#include "common/kv/store.h"
#include "fsal_cluster/ops/context.h"
#include "fsal_cluster/schema/inode.h"
#include "fsal_cluster/schema/records.pb.h"

namespace symnas::fs {

// The bucket of a name, whether its key exists or not.
struct Bucket {
  std::string key;
  records::DirentBucket record;
  Revision mod_revision;  // 0 = the key does not exist
};

// A name's place: its directory, and the bucket where it is or would be.
struct Place {
  Directory directory;
  std::string name;
  Bucket bucket;

  Ino ino() const { return directory.node.ino; }
  const records::Inode& record() const { return directory.node.record; }
  // The name's entry, or nullptr.
  const records::Dirent* entry() const;
};

// The inode; nullopt when it does not exist. Errors: kCorrupt, those of Session::read.
Result<std::optional<Node>> find_node(Context& context, Ino ino);
// The inode of a handle. Errors: kStale (another filesystem or generation, or gone), kCorrupt,
// Session::read.
Result<Node> require_node(Context& context, const Handle& handle);
// As require_node(), from a value that was read already.
Result<Node> node_of(const Context& context, const Handle& handle, const kv::CachedValue& value);
// As require_node(), with content times. Errors: also kNotDirectory.
Result<Directory> require_directory(Context& context, const Handle& handle);
Result<Directory> with_times(Context& context, Node node);
// Where `name` is or would be. Cost: one read of three keys.
// Errors: those of check_name and require_directory.
Result<Place> read_place(Context& context, const Handle& directory, const std::string& name);
// The inode that the place's entry names. REQUIRES: place.entry(). Errors: kConflict (removed since
// the entry was read), kCorrupt.
Result<Node> read_target(Context& context, const Place& place);

// Attributes as GETATTR shows them: those of the record, with what FileData knows beyond it.
// Errors: kStale, kCorrupt, Session::read.
Result<Attributes> current_attributes(Context& context, const Node& node);
// As current_attributes(), but without asking a mount that may hold a newer size and newer times of
// the file.
Result<Attributes> attributes_here(Context& context, const Node& node);
Handle handle_of(const Context& context, const Node& node);

// The compare that the inode has not changed since it was read.
kv::Compare unchanged(FsId fs, const Node& node);
kv::Compare unchanged(const Bucket& bucket);
// The put of an edited record.
kv::Op put_inode(FsId fs, Ino ino, const records::Inode& record);
kv::Op put_bucket(const Bucket& bucket);  // deletes the key when no entry is left

}  // namespace symnas::fs
