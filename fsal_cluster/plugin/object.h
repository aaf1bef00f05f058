// The objects that ganesha holds of a file or directory, of an open, and of an export.
//
// Thread class: the structures are ganesha's; `share` is guarded by its obj_lock, open flags by its
// state lock.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string>

#include "fsal_cluster/mount/mount.h"
#include "fsal_cluster/plugin/export_clients.h"
#include "fsal_cluster/plugin/ganesha.h"
#include "fsal_cluster/quota/quotas.h"
#include "fsal_cluster/schema/handle.h"
#include "fsal_cluster/types/types.h"

namespace symnas::plugin {

// REQUIRES: standard layout, `fsal` first: ganesha only knows &fsal.
struct Object {
  fsal_obj_handle fsal;
  fs::Mount* mount;
  fs::Handle handle;
  std::array<char, fs::kHandleBytes> wire;  // also the MDCACHE key
  fsal_share share;
};

struct OpenState {
  state_t state;
  fsal_openflags_t openflags;
  bool counted;  // Mount::opened was called for this open
};

struct Export {
  fsal_export fsal;
  fs::Mount* mount;
  std::string* filesystem;
  std::string* subtree;    // path inside the filesystem
  std::string* full_path;  // "/" and its name
  std::shared_ptr<ExportClients>* clients;
};

inline Object* object_of(fsal_obj_handle* handle) { return reinterpret_cast<Object*>(handle); }
inline const Object* object_of(const fsal_obj_handle* handle) {
  return reinterpret_cast<const Object*>(handle);
}
inline Export* export_of(fsal_export* e) { return reinterpret_cast<Export*>(e); }
inline OpenState* open_state_of(state_t* state) { return reinterpret_cast<OpenState*>(state); }

// A new object for ganesha to own; released through its release operation.
Object* make_object(fsal_export* fsal_export, const fs::Attributes& attributes);

// Fills `out` (keeps its request_mask). All attributes that symnas supplies are always filled: they
// come as one record.
void fill_attributes(fsal_attrlist* out, const fs::Attributes& attributes);
void fill_if_wanted(fsal_attrlist* out, const std::optional<fs::Attributes>& attributes);
// The attributes that a client wants to set; ATTR_SIZE included. Errors: kInvalidArgument
// (nanoseconds that are none), kNotSupported (ACL).
Result<fs::SetAttributes> to_set_attributes(const fsal_attrlist& in);
// The share modes of an open with these flags.
fs::ShareMode share_of(fsal_openflags_t flags);
// For I/O and truncation by a client that has not opened the file: whether an open through another
// VNFS denies it, as far as this instance knows (RFC 8881 9.10). `bypass`: as ganesha says.
fsal_status_t check_denied_elsewhere(const Object* object, fsal_openflags_t access, bool bypass);
// A READ, WRITE or the like without an open respects deny modes of opens (RFC 8881 9.10), here and
// elsewhere. `state`: the open, or null.
fsal_status_t check_deny(Object* object, const state_t* state, fsal_openflags_t access,
                         bool bypass);
// The squashed caller of the request that runs on this thread; root for internal calls.
fs::Credentials caller();
// Whether no quota stops that caller.
fs::Quotas::Exempt caller_exemption();
// How fresh the attributes must be for which the request on this thread asks. Those of NFSv3 READ
// and WRITE, and of the access checks before them, must not make I/O wait for etcd (INV-4).
fs::Freshness freshness_of_request();
object_file_type_t to_object_type(fs::FileType type);

inline constexpr attrmask_t kSuppliedAttributes = ATTRS_POSIX;

// Operation vectors, filled by the files of this folder.
void set_namespace_operations(fsal_obj_ops& ops);
void set_open_operations(fsal_obj_ops& ops);
void set_io_operations(fsal_obj_ops& ops);
void set_space_operations(fsal_obj_ops& ops);
// From now on every reply of this process passes the gates of the mounts.
void gate_replies();
void set_lock_operations(fsal_obj_ops& ops);
void set_xattr_operations(fsal_obj_ops& ops);
// fs::ReleaseLocks for ganesha's lists of locks. Not on an RPC worker.
Status release_locks(const fs::Handle& file, const fs::LockOwner& owner,
                     const std::function<bool()>& begin, const std::function<void()>& end);
void set_export_operations(export_ops& ops);
// The module's object operations, filled once at registration.
fsal_obj_ops& object_operations();

}  // namespace symnas::plugin
