// Open, close and share reservations. ganesha's counters decide between the opens of one object,
// the mount decides between those of all instances (docs/architecture/shares.md). As long as no
// open denies anything, opens write nothing to etcd.
#include <cstring>

#include "fsal_cluster/access/access.h"
#include "fsal_cluster/plugin/guarded.h"
#include "fsal_cluster/plugin/milestones.h"
#include "fsal_cluster/plugin/object.h"
#include "fsal_cluster/plugin/recorded_calls.h"
#include "fsal_cluster/state/share_modes.h"
#include "fsal_cluster/types/acl.h"

namespace symnas::plugin {
namespace {

std::uint64_t to_verifier(const fsal_verifier_t verifier) {
  std::uint64_t value = 0;
  static_assert(sizeof(fsal_verifier_t) == sizeof(value));
  std::memcpy(&value, verifier, sizeof(value));
  return value;
}

// ganesha checks the caller's rights after an open; before a file is emptied they are checked here.
// To empty a file is to write it, whatever it is opened for. An owner without the mode's bits may
// truncate (SETATTR), but not by an open. `asked`: what the file is to be open for that it is not.
fsal_status_t check_may_empty(Object* object, const state_t* state, fsal_openflags_t asked) {
  const auto attributes = object->mount->getattr(object->handle);
  if (!attributes) return failed(attributes);
  const std::uint32_t wanted =
      fs::kMayWrite | ((asked & FSAL_O_READ) != 0 ? fs::kMayRead : std::uint32_t{0});
  if (const Status allowed = fs::check_access(caller(), *attributes, wanted); !allowed)
    return to_fsal(allowed.error());
  constexpr std::uint32_t kWrites = fs::kAceWriteData | fs::kAceAppendData;
  if (attributes->acl && fs::granted_by_acl(caller(), *attributes, kWrites) != kWrites)
    return fsalstat(ERR_FSAL_ACCESS, EACCES);
  if (state != nullptr) return ok_status();  // take_share() has checked it
  const auto denied = check_share_conflict_and_update_locked(&object->fsal, &object->share,
                                                             FSAL_O_CLOSED, FSAL_O_WRITE, false);
  if (FSAL_IS_ERROR(denied)) return denied;
  update_share_counters_locked(&object->fsal, &object->share, FSAL_O_WRITE, FSAL_O_CLOSED);
  return check_denied_elsewhere(object, FSAL_O_WRITE, false);
}

fsal_status_t truncate(Object* object, const state_t* state, fsal_openflags_t asked) {
  const auto allowed = check_may_empty(object, state, asked);
  if (FSAL_IS_ERROR(allowed)) return allowed;
  fs::SetAttributes empty;
  empty.size_bytes = 0;
  const auto done = object->mount->setattr(caller(), object->handle, empty);
  return done ? ok_status() : failed(done);
}

fsal_status_t share_with_others(Object* object, fsal_openflags_t before, fsal_openflags_t after,
                                bool is_reclaim) {
  const auto answer =
      object->mount->share(object->handle, share_of(before), share_of(after), is_reclaim);
  if (!answer) return failed(answer);
  switch (*answer) {
    case fs::ShareAnswer::kGranted: return ok_status();
    case fs::ShareAnswer::kDenied: return fsalstat(ERR_FSAL_SHARE_DENIED, EBUSY);
    case fs::ShareAnswer::kLater: return fsalstat(ERR_FSAL_DELAY, EAGAIN);
  }
  return ok_status();
}

// Counts that an open has become what is wanted. ganesha has compared what is asked for with what
// the owner has open (patch 0141); its function would compare all of that with itself.
fsal_status_t count_here(Object* object, fsal_openflags_t before, fsal_openflags_t wanted) {
  PTHREAD_RWLOCK_wrlock(&object->fsal.obj_lock);
  update_share_counters(&object->share, before, FSAL_O_CLOSED);
  const auto status = check_share_conflict(&object->share, wanted, false);
  update_share_counters(&object->share, FSAL_O_CLOSED, FSAL_IS_ERROR(status) ? before : wanted);
  PTHREAD_RWLOCK_unlock(&object->fsal.obj_lock);
  return status;
}

void note_open(Object* object, OpenState* open, fsal_openflags_t flags) {
  open->openflags = flags;
  if (!open->counted) object->mount->opened(object->handle);
  open->counted = true;
}

// Takes the share reservation for `state` and counts the open.
fsal_status_t take_share(Object* object, state_t* state, fsal_openflags_t flags) {
  if (state == nullptr) return ok_status();
  OpenState* open = open_state_of(state);
  const fsal_openflags_t wanted = FSAL_O_NFS_FLAGS(flags);
  const auto status = count_here(object, open->openflags, wanted);
  if (FSAL_IS_ERROR(status)) return status;
  const auto shared =
      share_with_others(object, open->openflags, wanted, (flags & FSAL_O_RECLAIM) != 0);
  if (FSAL_IS_ERROR(shared)) {
    update_share_counters_locked(&object->fsal, &object->share, wanted, open->openflags);
    return shared;
  }
  note_open(object, open, wanted);
  return status;
}

// The file was made with this open.
void note_first_open(Object* object, state_t* state, fsal_openflags_t flags) {
  const fsal_openflags_t granted = FSAL_O_NFS_FLAGS(flags);
  update_share_counters_locked(&object->fsal, &object->share, FSAL_O_CLOSED, granted);
  note_open(object, open_state_of(state), granted);
}

void give_share_back(Object* object, state_t* state) {
  OpenState* open = open_state_of(state);
  if (open->openflags != FSAL_O_CLOSED) {
    update_share_counters_locked(&object->fsal, &object->share, open->openflags, FSAL_O_CLOSED);
    static_cast<void>(object->mount->share(object->handle, share_of(open->openflags), {}, false));
  }
  open->openflags = FSAL_O_CLOSED;
  if (open->counted) object->mount->closed(object->handle);
  open->counted = false;
}

Result<bool> has_verifier(const Object* object, const fsal_verifier_t verifier) {
  SYMNAS_ASSIGN(const fs::Attributes attributes, object->mount->getattr(object->handle));
  return attributes.exclusive_verifier && *attributes.exclusive_verifier == to_verifier(verifier);
}

// Whether the file was made by an exclusive create whose answer was lost. ganesha takes no answer
// for "not known now".
bool check_verifier(fsal_obj_handle* handle, fsal_verifier_t verifier) {
  bool same = false;
  (void)contained([&] {
    const auto found = has_verifier(object_of(handle), verifier);
    if (!found) return failed(found);
    same = *found;
    return ok_status();
  });
  return same;
}

fsal_status_t open_by_handle(fsal_obj_handle* handle, state_t* state, fsal_openflags_t flags,
                             fsal_create_mode mode, fsal_verifier_t verifier,
                             fsal_attrlist* attrs_out) {
  Object* object = object_of(handle);
  if (mode >= FSAL_EXCLUSIVE) {
    const auto same = has_verifier(object, verifier);
    if (!same) return failed(same);
    if (!*same) return fsalstat(ERR_FSAL_EXIST, EEXIST);
  }
  const auto taken = take_share(object, state, flags);
  if (FSAL_IS_ERROR(taken)) return taken;
  if ((flags & FSAL_O_TRUNC) != 0 && mode < FSAL_EXCLUSIVE) {
    const auto emptied = truncate(object, state, flags);
    if (FSAL_IS_ERROR(emptied)) {
      if (state != nullptr) give_share_back(object, state);
      return emptied;
    }
  }
  const auto attributes = object->mount->getattr(object->handle);
  if (!attributes) {
    if (state != nullptr) give_share_back(object, state);
    return failed(attributes);
  }
  if (attrs_out != nullptr) fill_attributes(attrs_out, *attributes);
  if ((flags & FSAL_O_RECLAIM) != 0) note_reclaim();
  return ok_status();
}

fs::CreateMode to_create_mode(fsal_create_mode mode) {
  switch (mode) {
    case FSAL_GUARDED: return fs::CreateMode::kGuarded;
    case FSAL_EXCLUSIVE:
    case FSAL_EXCLUSIVE_41:
    case FSAL_EXCLUSIVE_9P: return fs::CreateMode::kExclusive;
    case FSAL_NO_CREATE:
    case FSAL_UNCHECKED: return fs::CreateMode::kUnchecked;
  }
  return fs::CreateMode::kUnchecked;
}

Result<fs::Created> find_or_create(const Object* dir, const char* name, fsal_create_mode mode,
                                   fsal_verifier_t verifier, const fsal_attrlist* attrs_in,
                                   std::optional<fs::ShareMode> open) {
  if (mode == FSAL_NO_CREATE) {
    auto found = dir->mount->lookup(dir->handle, name);
    if (!found) return tl::unexpected(found.error());
    fs::Created existing;
    existing.attributes = *found;
    existing.existed = true;
    return existing;
  }
  fs::NewNode node;
  node.open = open;
  if (attrs_in != nullptr) {
    SYMNAS_ASSIGN(node.attributes, to_set_attributes(*attrs_in));
  }
  // An existing file is emptied only after the permission check: below, with the caller's rights.
  if (node.attributes.size_bytes == 0) node.attributes.size_bytes.reset();
  const std::uint64_t stored = mode >= FSAL_EXCLUSIVE ? to_verifier(verifier) : 0;
  return dir->mount->create(caller(), dir->handle, name, to_create_mode(mode), stored, node);
}

enum class Content { kKeep, kEmpty };

// Between the lookup or creation of the name and the counting of the open, another client may have
// removed the file. From now on it lives until the close.
fsal_status_t look_again(Object* object, const state_t* state, fsal_openflags_t flags,
                         Content content, fs::Created& created) {
  if (content == Content::kEmpty) {
    const auto emptied = truncate(object, state, flags);
    if (FSAL_IS_ERROR(emptied)) return emptied;
  }
  if (state == nullptr && content == Content::kKeep) return ok_status();  // no open is counted
  const auto now = object->mount->getattr(object->handle);
  if (!now) return failed(now);
  created.attributes = *now;
  return ok_status();
}

fsal_status_t open2(fsal_obj_handle* handle, state_t* state, fsal_openflags_t flags,
                    fsal_create_mode mode, const char* name, fsal_attrlist* attrs_in,
                    fsal_verifier_t verifier, fsal_obj_handle** new_handle,
                    fsal_attrlist* attrs_out, bool* caller_perm_check, fsal_attrlist* pre,
                    fsal_attrlist* post) {
  return guarded([&] {
    const fs::CallScope scope(this_call());
    if (name == nullptr) {
      // MDCACHE comes here from an open by name, too: then the file's mode has not been checked
      // yet.
      *caller_perm_check = true;
      *new_handle = handle;
      return open_by_handle(handle, state, flags, mode, verifier, attrs_out);
    }
    std::optional<fs::ShareMode> open;
    if (state != nullptr) open = share_of(flags);
    auto created = find_or_create(object_of(handle), name, mode, verifier, attrs_in, open);
    if (!created) return failed(created);
    if (created->existed && created->attributes.type != fs::FileType::kRegular)
      return fsalstat(
          created->attributes.type == fs::FileType::kDirectory ? ERR_FSAL_ISDIR : ERR_FSAL_BADTYPE,
          0);
    Object* object = make_object(op_ctx->fsal_export, created->attributes);
    auto status = ok_status();
    if (created->opened)
      note_first_open(object, state, flags);
    else
      status = take_share(object, state, flags);
    if (!FSAL_IS_ERROR(status)) {
      const bool empty = created->existed && (flags & FSAL_O_TRUNC) != 0 && mode < FSAL_EXCLUSIVE;
      status = look_again(object, state, flags, empty ? Content::kEmpty : Content::kKeep, *created);
      if (FSAL_IS_ERROR(status) && state != nullptr) give_share_back(object, state);
    }
    if (FSAL_IS_ERROR(status)) {
      object->fsal.obj_ops->release(&object->fsal);
      return status;
    }
    *caller_perm_check = created->existed;
    *new_handle = &object->fsal;
    if (attrs_out != nullptr) fill_attributes(attrs_out, created->attributes);
    fill_if_wanted(pre, created->directory.pre);
    fill_if_wanted(post, created->directory.post);
    return ok_status();
  });
}

fsal_openflags_t status2(fsal_obj_handle*, state_t* state) {
  return open_state_of(state)->openflags;
}

fsal_status_t reopen2(fsal_obj_handle* handle, state_t* state, fsal_openflags_t flags) {
  return guarded([&] {
    Object* object = object_of(handle);
    const fsal_openflags_t before = open_state_of(state)->openflags;
    const auto taken = take_share(object, state, flags);
    if (FSAL_IS_ERROR(taken)) return taken;
    if ((flags & FSAL_O_TRUNC) == 0) return ok_status();
    // `flags` has what was open before, too; ganesha has checked what is asked for now.
    const auto emptied = truncate(object, state, FSAL_O_CLOSED);
    if (!FSAL_IS_ERROR(emptied)) return ok_status();
    const fsal_openflags_t taken_flags = open_state_of(state)->openflags;
    update_share_counters_locked(handle, &object->share, taken_flags, before);
    static_cast<void>(
        object->mount->share(object->handle, share_of(taken_flags), share_of(before), false));
    open_state_of(state)->openflags = before;
    return emptied;
  });
}

// There is no global descriptor to close: NFSv3 I/O needs none.
fsal_status_t close_global(fsal_obj_handle*) { return fsalstat(ERR_FSAL_NOT_OPENED, 0); }

// Takes no permit of Admission: close2() waits only when this open or another one denies something,
// and ganesha has no use for an error.
fsal_status_t close2(fsal_obj_handle* handle, state_t* state) {
  return contained([&] {
    if (open_state_of(state)->state.state_type == STATE_TYPE_SHARE || open_state_of(state)->counted)
      give_share_back(object_of(handle), state);
    return ok_status();
  });
}

}  // namespace

void set_open_operations(fsal_obj_ops& ops) {
  ops.open2 = open2;
  ops.check_verifier = check_verifier;
  ops.status2 = status2;
  ops.reopen2 = reopen2;
  ops.close = close_global;
  ops.close2 = close2;
}

}  // namespace symnas::plugin
