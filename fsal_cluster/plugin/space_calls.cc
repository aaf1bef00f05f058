// ALLOCATE, DEALLOCATE and SEEK of NFSv4.2 (RFC 7862 15.1, 15.4, 15.11).
#include "fsal_cluster/plugin/guarded.h"
#include "fsal_cluster/plugin/object.h"
#include "fsal_cluster/quota/exemption.h"

namespace symnas::plugin {
namespace {

fsal_status_t fallocate(fsal_obj_handle* handle, state_t* state, std::uint64_t offset,
                        std::uint64_t length, bool allocates) {
  return guarded([&] {
    Object* object = object_of(handle);
    const auto allowed = check_deny(object, state, FSAL_O_WRITE, false);
    if (allowed.major == ERR_FSAL_SHARE_DENIED) return fsalstat(ERR_FSAL_LOCKED, 0);
    if (FSAL_IS_ERROR(allowed)) return allowed;
    const fs::QuotaExemption exemption(caller_exemption());
    const Status done = allocates
                            ? object->mount->allocate(object->handle, FileOffset{offset}, length)
                            : object->mount->deallocate(object->handle, FileOffset{offset}, length);
    return done ? ok_status() : failed(done);
  });
}

fsal_status_t seek2(fsal_obj_handle* handle, state_t* state, io_info* info) {
  return guarded([&] {
    Object* object = object_of(handle);
    const auto allowed = check_deny(object, state, FSAL_O_READ, false);
    if (allowed.major == ERR_FSAL_SHARE_DENIED) return fsalstat(ERR_FSAL_LOCKED, 0);
    if (FSAL_IS_ERROR(allowed)) return allowed;
    const auto content =
        info->io_content.what == NFS4_CONTENT_HOLE ? fs::Content::kHole : fs::Content::kData;
    const auto found =
        object->mount->seek(object->handle, FileOffset{info->io_content.hole.di_offset}, content);
    if (!found) return failed(found);
    if (!*found) return fsalstat(ERR_FSAL_NXIO, ENXIO);
    info->io_content.hole.di_offset = (*found)->offset;
    info->io_eof = (*found)->end_of_file;
    return ok_status();
  });
}

}  // namespace

void set_space_operations(fsal_obj_ops& ops) {
  ops.fallocate = fallocate;
  ops.seek2 = seek2;
}

}  // namespace symnas::plugin
