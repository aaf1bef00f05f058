// Extended attributes (RFC 8276): unpack ganesha's types, call the core, map the answer. ganesha's
// names come and go without "user.".
#include <string>
#include <vector>

#include "fsal_cluster/plugin/guarded.h"
#include "fsal_cluster/plugin/object.h"

namespace symnas::plugin {
namespace {

std::string bytes_of(const utf8string& from) {
  return from.utf8string_len == 0 ? std::string()
                                  : std::string(from.utf8string_val, from.utf8string_len);
}

// `to` frees what it holds with gsh_free().
void copy_bytes(const std::string& from, utf8string& to) {
  to.utf8string_len = static_cast<u_int>(from.size());
  to.utf8string_val = static_cast<char*>(gsh_malloc(from.size() + 1));
  std::memcpy(to.utf8string_val, from.c_str(), from.size() + 1);
}

// What is absent or too large is an attribute here, not a file.
template <class T>
fsal_status_t xattr_failed(const Result<T>& result) {
  const ErrorCode code = result.error().code;
  if (code == ErrorCode::kNotFound) return fsalstat(ERR_FSAL_NOXATTR, ENODATA);
  if (code == ErrorCode::kTooLarge) return fsalstat(ERR_FSAL_XATTR2BIG, E2BIG);
  return failed(result);
}

// ganesha brings a buffer of 1 KiB, and asks again with a larger one if that is said to be too
// small. The value may have changed by then: so the buffer is exchanged here.
fsal_status_t getxattrs(fsal_obj_handle* handle, xattrkey4* name, xattrvalue4* value) {
  return guarded([&] {
    const Object* object = object_of(handle);
    const auto found = object->mount->get_xattr(caller(), object->handle, bytes_of(*name));
    if (!found) return xattr_failed(found);
    gsh_free(value->utf8string_val);
    copy_bytes(*found, *value);
    return ok_status();
  });
}

fsal_status_t setxattrs(fsal_obj_handle* handle, setxattr_option4 option, xattrkey4* name,
                        xattrvalue4* value) {
  return guarded([&] {
    fs::XattrOption wanted = fs::XattrOption::kEither;
    switch (option) {
      case SETXATTR4_EITHER: break;
      case SETXATTR4_CREATE: wanted = fs::XattrOption::kCreate; break;
      case SETXATTR4_REPLACE: wanted = fs::XattrOption::kReplace; break;
      default: return fsalstat(ERR_FSAL_INVAL, EINVAL);
    }
    const Object* object = object_of(handle);
    const Status set = object->mount->set_xattr(caller(), object->handle, bytes_of(*name),
                                                bytes_of(*value), wanted);
    return set ? ok_status() : xattr_failed(set);
  });
}

fsal_status_t removexattrs(fsal_obj_handle* handle, xattrkey4* name) {
  return guarded([&] {
    const Object* object = object_of(handle);
    const Status removed = object->mount->remove_xattr(caller(), object->handle, bytes_of(*name));
    return removed ? ok_status() : xattr_failed(removed);
  });
}

// `bytes_max`: of the list as XDR has it: a length, and for each name a length and padded bytes.
fsal_status_t listxattrs(fsal_obj_handle* handle, count4 bytes_max, nfs_cookie4* cookie,
                         bool_t* end_of_list, xattrlist4* out) {
  return guarded([&] {
    const Object* object = object_of(handle);
    const auto names = object->mount->list_xattrs(caller(), object->handle, *cookie);
    if (!names) return xattr_failed(names);
    std::size_t bytes = sizeof(count4);
    std::size_t fit = 0;
    for (; fit < names->size(); ++fit) {
      bytes += sizeof(count4) + RNDUP((*names)[fit].name.size());
      if (bytes > bytes_max) break;
    }
    if (fit == 0 && !names->empty()) return fsalstat(ERR_FSAL_TOOSMALL, 0);
    *end_of_list = fit == names->size() ? TRUE : FALSE;
    out->xl4_count = static_cast<count4>(fit);
    out->xl4_entries = static_cast<xattrkey4*>(gsh_calloc(fit + 1, sizeof(xattrkey4)));
    for (std::size_t i = 0; i < fit; ++i) copy_bytes((*names)[i].name, out->xl4_entries[i]);
    if (fit > 0) *cookie = (*names)[fit - 1].cookie;
    return ok_status();
  });
}

}  // namespace

void set_xattr_operations(fsal_obj_ops& ops) {
  ops.getxattrs = getxattrs;
  ops.setxattrs = setxattrs;
  ops.removexattrs = removexattrs;
  ops.listxattrs = listxattrs;
}

}  // namespace symnas::plugin
