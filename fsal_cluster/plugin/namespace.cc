// Namespace operations: unpack ganesha's types, call the core, map the answer. No policy here.
#include <algorithm>
#include <string>

#include "fsal_cluster/ops/rename.h"
#include "fsal_cluster/plugin/acl.h"
#include "fsal_cluster/plugin/guarded.h"
#include "fsal_cluster/plugin/limits.h"
#include "fsal_cluster/plugin/memory_report.h"
#include "fsal_cluster/plugin/object.h"
#include "fsal_cluster/plugin/recorded_calls.h"

namespace symnas::plugin {
namespace {

void hand_out(const fs::Attributes& attributes, fsal_obj_handle** handle,
              fsal_attrlist* attrs_out) {
  *handle = &make_object(op_ctx->fsal_export, attributes)->fsal;
  if (attrs_out != nullptr) fill_attributes(attrs_out, attributes);
}

fsal_status_t lookup(fsal_obj_handle* dir, const char* name, fsal_obj_handle** handle,
                     fsal_attrlist* attrs_out) {
  return guarded([&] {
    const Object* object = object_of(dir);
    const auto found = object->mount->lookup(object->handle, name);
    if (!found) return failed(found);
    hand_out(*found, handle, attrs_out);
    return ok_status();
  });
}

fsal_status_t readdir(fsal_obj_handle* dir, fsal_cookie_t* whence, void* dir_state,
                      fsal_readdir_cb callback, attrmask_t mask, bool* eof) {
  return guarded([&] {
    const Object* object = object_of(dir);
    std::uint64_t cookie = whence != nullptr ? *whence : 0;
    *eof = false;
    for (;;) {
      auto page = object->mount->readdir(object->handle, cookie, kReaddirPageEntries);
      if (!page) return failed(page);
      for (const fs::DirectoryEntry& entry : page->entries) {
        fsal_attrlist attrs{};
        fsal_prepare_attrs(&attrs, mask);
        fill_attributes(&attrs, entry.attributes);
        fsal_obj_handle* handle = &make_object(op_ctx->fsal_export, entry.attributes)->fsal;
        const auto next = callback(entry.name.c_str(), handle, &attrs, dir_state, entry.cookie);
        fsal_release_attrs(&attrs);
        if (next >= DIR_READAHEAD) return ok_status();
        cookie = entry.cookie;
      }
      if (page->end_of_directory) {
        *eof = true;
        return ok_status();
      }
      if (page->entries.empty()) return ok_status();
    }
  });
}

Result<fs::NewNode> new_node(fs::FileType type, const fsal_attrlist* attrs) {
  fs::NewNode node;
  node.type = type;
  if (attrs != nullptr) {
    SYMNAS_ASSIGN(node.attributes, to_set_attributes(*attrs));
  }
  node.attributes.size_bytes.reset();
  return node;
}

fsal_status_t hand_out_created(const Result<fs::Created>& created, fsal_obj_handle** handle,
                               fsal_attrlist* attrs_out, fsal_attrlist* pre, fsal_attrlist* post) {
  if (!created) return failed(created);
  hand_out(created->attributes, handle, attrs_out);
  fill_if_wanted(pre, created->directory.pre);
  fill_if_wanted(post, created->directory.post);
  return ok_status();
}

fsal_status_t mkdir(fsal_obj_handle* dir, const char* name, fsal_attrlist* attrs_in,
                    fsal_obj_handle** handle, fsal_attrlist* attrs_out, fsal_attrlist* pre,
                    fsal_attrlist* post) {
  return guarded([&] {
    const fs::CallScope scope(this_call());
    const Object* object = object_of(dir);
    const auto node = new_node(fs::FileType::kDirectory, attrs_in);
    if (!node) return failed(node);
    const auto created = object->mount->mkdir(caller(), object->handle, name, *node);
    return hand_out_created(created, handle, attrs_out, pre, post);
  });
}

fsal_status_t mknode(fsal_obj_handle* dir, const char* name, object_file_type_t type,
                     fsal_attrlist* attrs_in, fsal_obj_handle** handle, fsal_attrlist* attrs_out,
                     fsal_attrlist* pre, fsal_attrlist* post) {
  return guarded([&] {
    const fs::CallScope scope(this_call());
    const Object* object = object_of(dir);
    auto node = new_node(fs::FileType::kFifo, attrs_in);
    if (!node) return failed(node);
    switch (type) {
      case BLOCK_FILE: node->type = fs::FileType::kBlockDevice; break;
      case CHARACTER_FILE: node->type = fs::FileType::kCharDevice; break;
      case FIFO_FILE: node->type = fs::FileType::kFifo; break;
      case SOCKET_FILE: node->type = fs::FileType::kSocket; break;
      default: return fsalstat(ERR_FSAL_INVAL, EINVAL);
    }
    if (attrs_in != nullptr && (attrs_in->valid_mask & ATTR_RAWDEV) != 0) {
      node->rdev_major = static_cast<std::uint32_t>(attrs_in->rawdev.major);
      node->rdev_minor = static_cast<std::uint32_t>(attrs_in->rawdev.minor);
    }
    const auto created = object->mount->mknod(caller(), object->handle, name, *node);
    return hand_out_created(created, handle, attrs_out, pre, post);
  });
}

fsal_status_t symlink(fsal_obj_handle* dir, const char* name, const char* target,
                      fsal_attrlist* attrs_in, fsal_obj_handle** handle, fsal_attrlist* attrs_out,
                      fsal_attrlist* pre, fsal_attrlist* post) {
  return guarded([&] {
    const fs::CallScope scope(this_call());
    const Object* object = object_of(dir);
    auto node = new_node(fs::FileType::kSymlink, attrs_in);
    if (!node) return failed(node);
    node->symlink_target = target;
    const auto created = object->mount->symlink(caller(), object->handle, name, *node);
    return hand_out_created(created, handle, attrs_out, pre, post);
  });
}

fsal_status_t readlink(fsal_obj_handle* handle, gsh_buffdesc* content, bool) {
  return guarded([&] {
    const Object* object = object_of(handle);
    const auto target = object->mount->readlink(object->handle);
    if (!target) return failed(target);
    content->len = target->size() + 1;  // ganesha counts the NUL
    content->addr = gsh_malloc(content->len);
    std::memcpy(content->addr, target->c_str(), content->len);
    return ok_status();
  });
}

fsal_status_t link(fsal_obj_handle* handle, fsal_obj_handle* dir, const char* name,
                   fsal_attrlist* pre, fsal_attrlist* post) {
  return guarded([&] {
    const fs::CallScope scope(this_call());
    const Object* object = object_of(handle);
    const auto change = object->mount->link(caller(), object->handle, object_of(dir)->handle, name);
    if (!change) return failed(change);
    fill_if_wanted(pre, change->pre);
    fill_if_wanted(post, change->post);
    return ok_status();
  });
}

fsal_status_t rename(fsal_obj_handle*, fsal_obj_handle* old_dir, const char* old_name,
                     fsal_obj_handle* new_dir, const char* new_name, fsal_attrlist* old_pre,
                     fsal_attrlist* old_post, fsal_attrlist* new_pre, fsal_attrlist* new_post) {
  return guarded([&] {
    const fs::CallScope scope(this_call());
    const Object* from = object_of(old_dir);
    const auto renamed =
        from->mount->rename(caller(), from->handle, old_name, object_of(new_dir)->handle, new_name);
    if (!renamed) return failed(renamed);
    fill_if_wanted(old_pre, renamed->from.pre);
    fill_if_wanted(old_post, renamed->from.post);
    fill_if_wanted(new_pre, renamed->to.pre);
    fill_if_wanted(new_post, renamed->to.post);
    return ok_status();
  });
}

fsal_status_t unlink(fsal_obj_handle* dir, fsal_obj_handle* victim, const char* name,
                     fsal_attrlist* pre, fsal_attrlist* post) {
  return guarded([&] {
    const fs::CallScope scope(this_call());
    const Object* object = object_of(dir);
    const auto change = victim->type == DIRECTORY
                            ? object->mount->rmdir(caller(), object->handle, name)
                            : object->mount->unlink(caller(), object->handle, name);
    if (!change) return failed(change);
    fill_if_wanted(pre, change->pre);
    fill_if_wanted(post, change->post);
    return ok_status();
  });
}

fsal_status_t getattrs(fsal_obj_handle* handle, fsal_attrlist* attrs) {
  const Object* object = object_of(handle);
  const auto answer = [&](const Result<fs::Attributes>& attributes) {
    if (!attributes) {
      if ((attrs->request_mask & ATTR_RDATTR_ERR) != 0) attrs->valid_mask = ATTR_RDATTR_ERR;
      return failed(attributes);
    }
    fill_attributes(attrs, *attributes);
    return ok_status();
  };
  return contained([&] {
    // Every READ and WRITE comes here, too: a permit is taken only when etcd has to be asked.
    const auto freshness = freshness_of_request();
    if (const auto known = object->mount->getattr_from_cache(object->handle, freshness))
      return answer(*known);
    return guarded([&] { return answer(object->mount->getattr(object->handle)); });
  });
}

fsal_status_t setattr2(fsal_obj_handle* handle, bool bypass, state_t* state, fsal_attrlist* attrs) {
  return guarded([&] {
    const fs::CallScope scope(this_call());
    Object* object = object_of(handle);
    if ((attrs->valid_mask & ATTR_SIZE) != 0 && state == nullptr) {
      // A size change without an open state is a write: it respects deny modes (RFC 8881 18.30.3).
      const auto denied = check_share_conflict_and_update_locked(
          handle, &object->share, FSAL_O_CLOSED, FSAL_O_WRITE, bypass);
      if (FSAL_IS_ERROR(denied)) return denied;
      update_share_counters_locked(handle, &object->share, FSAL_O_WRITE, FSAL_O_CLOSED);
      const auto elsewhere = check_denied_elsewhere(object, FSAL_O_WRITE, bypass);
      if (FSAL_IS_ERROR(elsewhere)) return elsewhere;
    }
    const auto changes = to_set_attributes(*attrs);
    if (!changes) return failed(changes);
    const auto changed = object->mount->setattr(caller(), object->handle, *changes);
    return changed ? ok_status() : failed(changed);
  });
}

void release(fsal_obj_handle* handle) {
  fsal_obj_handle_fini(handle, true);
  gsh_free(object_of(handle));
  MemoryReport::count(-1);
}

// MDCACHE found two objects of one file: the original stays and takes over the share counters.
fsal_status_t merge(fsal_obj_handle* original, fsal_obj_handle* duplicate) {
  if (original->type != REGULAR_FILE) return ok_status();
  return merge_share(original, &object_of(original)->share, &object_of(duplicate)->share);
}

fsal_status_t handle_to_wire(const fsal_obj_handle* handle, fsal_digesttype_t, gsh_buffdesc* out) {
  const Object* object = object_of(handle);
  if (out->len < object->wire.size()) return fsalstat(ERR_FSAL_TOOSMALL, 0);
  std::memcpy(out->addr, object->wire.data(), object->wire.size());
  out->len = object->wire.size();
  return ok_status();
}

void handle_to_key(fsal_obj_handle* handle, gsh_buffdesc* out) {
  Object* object = object_of(handle);
  out->addr = object->wire.data();
  out->len = object->wire.size();
}

}  // namespace

void set_namespace_operations(fsal_obj_ops& ops) {
  ops.release = release;
  ops.merge = merge;
  ops.lookup = lookup;
  ops.readdir = readdir;
  ops.mkdir = mkdir;
  ops.mknode = mknode;
  ops.symlink = symlink;
  ops.readlink = readlink;
  ops.link = link;
  ops.rename = rename;
  ops.unlink = unlink;
  ops.getattrs = getattrs;
  ops.setattr2 = setattr2;
  ops.test_access = test_access;
  ops.handle_to_wire = handle_to_wire;
  ops.handle_to_key = handle_to_key;
}

}  // namespace symnas::plugin
