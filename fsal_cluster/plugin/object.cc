#include "fsal_cluster/plugin/object.h"

#include <type_traits>

#include "fsal_cluster/plugin/acl.h"
#include "fsal_cluster/plugin/file_time.h"
#include "fsal_cluster/plugin/memory_report.h"

namespace symnas::plugin {
namespace {

static_assert(offsetof(Object, fsal) == 0 && offsetof(Export, fsal) == 0 &&
              offsetof(OpenState, state) == 0);

// Of the export that the request on this thread is for.
attrmask_t supported_attributes() {
  if (op_ctx == nullptr || op_ctx->fsal_export == nullptr) return kSuppliedAttributes;
  fsal_export* e = op_ctx->fsal_export;
  return e->exp_ops.fs_supported_attrs(e);
}

}  // namespace

object_file_type_t to_object_type(fs::FileType type) {
  switch (type) {
    case fs::FileType::kRegular: return REGULAR_FILE;
    case fs::FileType::kDirectory: return DIRECTORY;
    case fs::FileType::kSymlink: return SYMBOLIC_LINK;
    case fs::FileType::kBlockDevice: return BLOCK_FILE;
    case fs::FileType::kCharDevice: return CHARACTER_FILE;
    case fs::FileType::kFifo: return FIFO_FILE;
    case fs::FileType::kSocket: return SOCKET_FILE;
  }
  return NO_FILE_TYPE;
}

Object* make_object(fsal_export* fsal_export, const fs::Attributes& attributes) {
  auto* object = static_cast<Object*>(gsh_calloc(1, sizeof(Object)));
  object->mount = export_of(fsal_export)->mount;
  object->handle = attributes.handle;
  const std::string wire = fs::encode_handle(attributes.handle);
  std::memcpy(object->wire.data(), wire.data(), object->wire.size());
  fsal_obj_handle_init(&object->fsal, fsal_export, to_object_type(attributes.type), true);
  object->fsal.fsid.major = attributes.handle.fs.value();
  object->fsal.fsid.minor = 0;
  object->fsal.fileid = attributes.handle.ino.value();
  object->fsal.obj_ops = &object_operations();
  MemoryReport::count(1);
  return object;
}

void fill_attributes(fsal_attrlist* out, const fs::Attributes& in) {
  out->type = to_object_type(in.type);
  out->fsid.major = in.handle.fs.value();
  out->fsid.minor = 0;
  out->fileid = in.handle.ino.value();
  out->generation = in.handle.generation.value();
  out->mode = in.mode;
  out->numlinks = in.nlink;
  out->owner = in.uid;
  out->group = in.gid;
  out->filesize = in.size_bytes;
  out->spaceused = in.space_used_bytes;
  out->rawdev.major = in.rdev_major;
  out->rawdev.minor = in.rdev_minor;
  out->atime = to_timespec(in.atime_ns);
  out->mtime = to_timespec(in.mtime_ns);
  out->ctime = to_timespec(in.ctime_ns);
  out->change = in.change;
  out->valid_mask = kSuppliedAttributes;
  out->supported = supported_attributes();
  fill_acl(out, in);
}

void fill_if_wanted(fsal_attrlist* out, const std::optional<fs::Attributes>& attributes) {
  if (out != nullptr && attributes) fill_attributes(out, *attributes);
}

Result<fs::SetAttributes> to_set_attributes(const fsal_attrlist& in) {
  fs::SetAttributes set;
  const auto has = [&](attrmask_t bit) { return (in.valid_mask & bit) != 0; };
  if (has(ATTR_MODE)) set.mode = in.mode & 07777;
  if (has(ATTR_OWNER)) set.uid = static_cast<std::uint32_t>(in.owner);
  if (has(ATTR_GROUP)) set.gid = static_cast<std::uint32_t>(in.group);
  if (has(ATTR_SIZE)) set.size_bytes = in.filesize;
  SYMNAS_ASSIGN(set.acl, to_acl_change(in));
  const auto time = [&](attrmask_t server, attrmask_t client, const timespec& wanted,
                        std::optional<std::int64_t>& out) {
    if (has(server))
      out = fs::kServerTime;
    else if (has(client))
      out = to_ns(wanted);
    return !has(server | client) || out.has_value();
  };
  if (!time(ATTR_ATIME_SERVER, ATTR_ATIME, in.atime, set.atime_ns) ||
      !time(ATTR_MTIME_SERVER, ATTR_MTIME, in.mtime, set.mtime_ns))
    return fail(ErrorCode::kInvalidArgument, "a time with more than a second of nanoseconds");
  return set;
}

fs::Freshness freshness_of_request() {
  if (op_ctx == nullptr || op_ctx->nfs_reqdata == nullptr) return fs::Freshness::kStrict;
  const rpc_msg& call = op_ctx->nfs_reqdata->svc.rq_msg;
  const bool io = call.cb_prog == NFS_PROGRAM && call.cb_vers == NFS_V3 &&
                  (call.cb_proc == NFSPROC3_READ || call.cb_proc == NFSPROC3_WRITE);
  return io ? fs::Freshness::kApplied : fs::Freshness::kStrict;
}

fs::ShareMode share_of(fsal_openflags_t flags) {
  const auto bit = [flags](fsal_openflags_t flag, int bits) {
    return static_cast<std::uint8_t>((flags & flag) != 0 ? bits : 0);
  };
  fs::ShareMode mode;
  mode.access |= bit(FSAL_O_READ, fs::kShareRead);
  mode.access |= bit(FSAL_O_WRITE, fs::kShareWrite);
  mode.deny |= bit(FSAL_O_DENY_READ, fs::kShareRead);
  mode.deny |= bit(FSAL_O_DENY_WRITE, fs::kShareWrite);
  mode.deny |= bit(FSAL_O_DENY_WRITE_MAND, fs::kShareWrite | fs::kShareMandatory);
  return mode;
}

fsal_status_t check_denied_elsewhere(const Object* object, fsal_openflags_t access, bool bypass) {
  // As ganesha's check_share_conflict() does with the opens of this instance.
  std::uint8_t bits = 0;
  if ((access & FSAL_O_READ) != 0 && !bypass) bits |= fs::kShareRead;
  if ((access & FSAL_O_WRITE) != 0) bits |= bypass ? fs::kShareMandatory : fs::kShareWrite;
  if (bits == 0 || !object->mount->is_denied(object->handle, bits))
    return fsalstat(ERR_FSAL_NO_ERROR, 0);
  return fsalstat(ERR_FSAL_SHARE_DENIED, EBUSY);
}

fs::Credentials caller() {
  fs::Credentials who;
  if (op_ctx == nullptr) return who;
  const user_cred& creds = op_ctx->creds;
  who.uid = creds.caller_uid;
  who.gid = creds.caller_gid;
  who.groups.assign(creds.caller_garray, creds.caller_garray + creds.caller_glen);
  return who;
}

fs::Quotas::Exempt caller_exemption() {
  const bool root = op_ctx == nullptr || op_ctx->creds.caller_uid == 0;
  return root ? fs::Quotas::Exempt::kYes : fs::Quotas::Exempt::kNo;
}

}  // namespace symnas::plugin
