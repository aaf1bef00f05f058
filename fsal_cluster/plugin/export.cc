// Exports: a subtree of a mounted filesystem.
#include <sys/quota.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "fsal_cluster/plugin/config.h"
#include "fsal_cluster/plugin/guarded.h"
#include "fsal_cluster/plugin/limits.h"
#include "fsal_cluster/plugin/module.h"
#include "fsal_cluster/plugin/object.h"

namespace symnas::plugin {
namespace {

void release(fsal_export* e) {
  Export* exported = export_of(e);
  fsal_detach_export(e->fsal, &e->exports);
  free_export_ops(e);
  delete exported->filesystem;
  delete exported->subtree;
  delete exported->full_path;
  delete exported->clients;
  gsh_free(exported);
}

// `path` is the export's own path, or a longer one for a MOUNT of a directory below it.
fsal_status_t lookup_path(fsal_export* e, const char* path, fsal_obj_handle** handle,
                          fsal_attrlist* attrs_out) {
  return guarded([&] {
    const Export* exported = export_of(e);
    std::string_view rest(path);
    const std::string& full = *exported->full_path;
    if (rest.substr(0, full.size()) == full)
      rest.remove_prefix(full.size());
    else
      rest = {};
    const auto root = exported->mount->resolve(*exported->subtree + "/" + std::string(rest));
    if (!root) return failed(root);
    *handle = &make_object(e, *root)->fsal;
    if (attrs_out != nullptr) fill_attributes(attrs_out, *root);
    return ok_status();
  });
}

Result<fs::Handle> decode(fsal_export* e, const gsh_buffdesc* buffer) {
  return fs::decode_handle({static_cast<const char*>(buffer->addr), buffer->len},
                           export_of(e)->mount->fsid());
}

// The wire form is the host form. A handle that is not one of symnas is refused before anything
// looks at it.
fsal_status_t wire_to_host(fsal_export* e, fsal_digesttype_t, gsh_buffdesc* buffer, int) {
  if (op_ctx != nullptr && op_ctx->caller_addr != nullptr)
    (*export_of(e)->clients)->note(*op_ctx->caller_addr);
  const auto handle = decode(e, buffer);
  return handle ? ok_status() : to_fsal(handle.error());
}

fsal_status_t create_handle(fsal_export* e, gsh_buffdesc* buffer, fsal_obj_handle** handle,
                            fsal_attrlist* attrs_out) {
  const auto answer = [&](const Result<fs::Attributes>& attributes) {
    if (!attributes) return failed(attributes);
    *handle = &make_object(e, *attributes)->fsal;
    if (attrs_out != nullptr) fill_attributes(attrs_out, *attributes);
    return ok_status();
  };
  return contained([&] {
    fs::Mount* const mount = export_of(e)->mount;
    const auto decoded = decode(e, buffer);
    if (!decoded) return failed(decoded);
    if (const auto known = mount->getattr_from_cache(*decoded, freshness_of_request()))
      return answer(*known);
    return guarded([&] { return answer(mount->getattr(*decoded)); });
  });
}

fsal_status_t get_fs_dynamic_info(fsal_export* e, fsal_obj_handle* object,
                                  fsal_dynamicfsinfo_t* info) {
  return guarded([&] {
    std::optional<fs::Handle> at;
    if (object != nullptr) at = object_of(object)->handle;
    const auto space = export_of(e)->mount->statfs(at);
    if (!space) return failed(space);
    info->total_bytes = space->total_bytes;
    info->free_bytes = info->avail_bytes = space->free_bytes;
    info->total_files = space->total_files;
    info->free_files = info->avail_files = space->free_files;
    info->maxread = info->maxwrite = kIoBytesMax;
    info->time_delta.tv_sec = 0;
    info->time_delta.tv_nsec = 1;
    return ok_status();
  });
}

// RQUOTA counts in units of any size, in 32 bits each; what is larger ganesha scales, up to here.
constexpr std::uint64_t kQuotaUnit = 1024;
constexpr std::uint64_t kQuotaBytesMax = std::uint64_t{1} << 60;

std::uint64_t in_32_bits(std::uint64_t value) { return std::min<std::uint64_t>(value, UINT32_MAX); }

// Rounded up: 0 is "no limit".
std::uint64_t in_units(std::uint64_t bytes) {
  return (std::min(bytes, kQuotaBytesMax) + kQuotaUnit - 1) / kQuotaUnit;
}

// `type` and `id` as the client sent them, for its caller, squashed.
fsal_status_t get_quota(fsal_export* e, const char*, int type, int id, fsal_quota_t* out) {
  return guarded([&] {
    if (type != USRQUOTA && type != GRPQUOTA) return fsalstat(ERR_FSAL_NO_QUOTA, 0);
    const fs::Subject subject{type == USRQUOTA ? fs::SubjectKind::kUser : fs::SubjectKind::kGroup,
                              static_cast<std::uint32_t>(id)};
    const auto standing = export_of(e)->mount->quota_of(caller(), subject);
    if (!standing) return failed(standing);
    if (!*standing) return fsalstat(ERR_FSAL_NO_QUOTA, 0);
    const auto& [bytes, inodes] = **standing;
    *out = {.bhardlimit = in_units(bytes.hard),
            .bsoftlimit = in_units(bytes.soft),
            .curblocks = in_units(bytes.used),
            .fhardlimit = in_32_bits(inodes.hard),
            .fsoftlimit = in_32_bits(inodes.soft),
            .curfiles = in_32_bits(inodes.used),
            .btimeleft = in_32_bits(bytes.grace_left_s),
            .ftimeleft = in_32_bits(inodes.grace_left_s),
            .bsize = kQuotaUnit};
    return ok_status();
  });
}

// Only `symnas quota set` sets limits.
fsal_status_t set_quota(fsal_export*, const char*, int, int, fsal_quota_t*, fsal_quota_t*) {
  return fsalstat(ERR_FSAL_PERM, EPERM);
}

// ACLs and extended attributes are the filesystem's: it may be one of an earlier version.
bool fs_supports(fsal_export* e, fsal_fsinfo_options_t option) {
  if (option == fso_xattr_support) return export_of(e)->mount->has_xattrs();
  return fsal_supports(&e->fsal->fs_info, option);
}

attrmask_t fs_supported_attrs(fsal_export* e) {
  const fs::Mount& mount = *export_of(e)->mount;
  return kSuppliedAttributes | (mount.keeps_acls() ? ATTR_ACL : 0) |
         (mount.has_xattrs() ? ATTR4_XATTR : 0);
}

fsal_aclsupp_t fs_acl_support(fsal_export* e) {
  constexpr fsal_aclsupp_t kSupport =
      FSAL_ACLSUPPORT_ALLOW | FSAL_ACLSUPPORT_DENY | FSAL_ACLSUPPORT_POSIX;
  return export_of(e)->mount->keeps_acls() ? kSupport : 0;
}

void free_state(state_t* state) { gsh_free(open_state_of(state)); }

state_t* alloc_state(fsal_export*, state_type type, state_t* related) {
  auto* open = static_cast<OpenState*>(gsh_calloc(1, sizeof(OpenState)));
  init_state(&open->state, free_state, type, related);
  open->openflags = FSAL_O_CLOSED;
  return &open->state;
}

// ganesha looks for the export's root later, and leaves the export out when it is not there, so
// that the other exports are served. This tells vnfsd.
void report_missing_root(fs::Mount& mount, const std::string& filesystem,
                         const std::string& subtree) {
  const auto root = mount.resolve(subtree);
  if (root && root->type == fs::FileType::kDirectory) return;
  const std::string why = root ? "it is no directory" : root.error().message;
  const std::string text = std::string("export ") + CTX_FULLPATH(op_ctx) + " is not served: path " +
                           subtree + " of filesystem " + filesystem + ": " + why;
  LogCrit(COMPONENT_FSAL, "CLUSTER: %s", text.c_str());
  Instance::get().report_problem(text);
}

struct ExportTarget {
  std::string filesystem;
  std::string subtree;
};

Result<ExportTarget> target_of(void* parse_node, config_error_type* errors) {
  symnas_export_config config{};
  if (load_config_from_node(parse_node, symnas_export_block(), &config, true, errors) != 0)
    return fail(ErrorCode::kInvalidArgument, "EXPORT FSAL block: Filesystem is missing or wrong");
  ExportTarget target{config.filesystem, config.subtree};
  gsh_free(config.filesystem);
  gsh_free(config.subtree);
  return target;
}

Result<Export*> make_export(void* parse_node, config_error_type* errors) {
  SYMNAS_ASSIGN(const ExportTarget target, target_of(parse_node, errors));
  const std::string& filesystem = target.filesystem;
  auto subtree = std::make_unique<std::string>(target.subtree);
  SYMNAS_ASSIGN(fs::Mount * mount, Instance::get().mount(filesystem));
  report_missing_root(*mount, filesystem, *subtree);
  auto* exported = static_cast<Export*>(gsh_calloc(1, sizeof(Export)));
  exported->mount = mount;
  exported->filesystem = new std::string(filesystem);
  exported->subtree = subtree.release();
  exported->full_path = new std::string(CTX_FULLPATH(op_ctx));
  exported->clients = new std::shared_ptr<ExportClients>(std::make_shared<ExportClients>());
  return exported;
}

}  // namespace

void set_export_operations(export_ops& ops) {
  ops.release = release;
  ops.lookup_path = lookup_path;
  ops.wire_to_host = wire_to_host;
  ops.create_handle = create_handle;
  ops.get_fs_dynamic_info = get_fs_dynamic_info;
  ops.get_quota = get_quota;
  ops.set_quota = set_quota;
  ops.alloc_state = alloc_state;
  ops.fs_supports = fs_supports;
  ops.fs_supported_attrs = fs_supported_attrs;
  ops.fs_acl_support = fs_acl_support;
}

fsal_status_t create_export(fsal_module* module, void* parse_node, config_error_type* errors,
                            const fsal_up_vector* up_ops) {
  return guarded([&] {
    const auto made = make_export(parse_node, errors);
    if (!made) {
      // No error of the configuration, for which ganesha would end at once, before its mounts are
      // closed. This thread stays here.
      if (made.error().code == ErrorCode::kShutdown) Instance::get().hold_if_ending(made.error());
      LogCrit(COMPONENT_FSAL, "CLUSTER: export %s: %s", CTX_FULLPATH(op_ctx),
              made.error().message.c_str());
      Instance::get().report_problem(std::string("export ") + CTX_FULLPATH(op_ctx) +
                                     " is not served: " + made.error().message);
      return to_fsal(made.error());
    }
    fsal_export* e = &(*made)->fsal;
    fsal_export_init(e);
    set_export_operations(e->exp_ops);
    e->fsal = module;
    e->up_ops = up_ops;
    const int attached = fsal_attach_export(module, &e->exports);
    if (attached != 0) {
      free_export_ops(e);
      gsh_free(*made);
      return posix2fsal_status(attached);
    }
    op_ctx->fsal_export = e;
    Instance::get().note_export((*made)->mount->fsid(), op_ctx->ctx_export->export_id,
                                *(*made)->clients);
    return ok_status();
  });
}

// An update may not change these two: handles belong to one filesystem, and a MOUNT is of a
// directory below one subtree.
fsal_status_t check_export_update(fsal_module* module, void* parse_node, config_error_type* errors,
                                  fsal_export* original, fsal_module* updated_super) {
  const fsal_status_t stacked =
      ::update_export(module, parse_node, errors, original, updated_super);
  if (FSAL_IS_ERROR(stacked)) return stacked;
  return contained([&] {
    const auto target = target_of(parse_node, errors);
    if (!target) return to_fsal(target.error());
    const Export* exported = export_of(original);
    if (target->subtree == *exported->subtree && target->filesystem == *exported->filesystem)
      return ok_status();
    Instance::get().report_problem("an export's filesystem and path cannot be changed");
    return fsalstat(ERR_FSAL_INVAL, EINVAL);
  });
}

}  // namespace symnas::plugin
