#include "fsal_cluster/plugin/module.h"

#include <string>

#include "common/base/log.h"
#include "fsal_cluster/plugin/config.h"
#include "fsal_cluster/plugin/door.h"
#include "fsal_cluster/plugin/instance.h"
#include "fsal_cluster/plugin/limits.h"
#include "fsal_cluster/plugin/load.h"
#include "fsal_cluster/plugin/object.h"
#include "fsal_cluster/plugin/recorded_calls.h"
#include "fsal_cluster/plugin/status.h"

namespace symnas::plugin {
namespace {

struct Module {
  fsal_module fsal;
  fsal_obj_ops operations;
};

// ganesha wants zeroed memory that lives as long as the process.
Module& module() {
  static Module instance{};
  return instance;
}

void set_static_info(fsal_staticfsinfo_t& info) {
  info.maxfilesize = fs::kFileBytesMax;
  info.maxlink = fs::kLinkMax;
  info.maxnamelen = fs::kNameBytesMax;
  info.maxpathlen = MAXPATHLEN;
  info.no_trunc = true;
  info.chown_restricted = true;
  info.case_preserving = true;
  info.link_support = true;
  info.symlink_support = true;
  info.lock_support = true;
  info.lock_support_async_block = false;
  info.unique_handles = true;
  info.cansettime = true;
  info.homogenous = true;
  info.supported_attrs = kSuppliedAttributes;
  info.maxread = kIoBytesMax;
  info.maxwrite = kIoBytesMax;
  info.readdir_plus = true;
  info.compliant_eof_behavior = true;    // READ sets end_of_file itself
  info.allocate_own_read_buffer = true;  // aligned buffers from the volume's pool
  info.fsal_grace = true;                // reclaims come to us; there is no global grace period
  info.expire_time_parent = 0;           // ".." is looked up every time
}

fsal_status_t init_config(fsal_module*, config_file_t parsed, config_error_type* errors) {
  if (Instance::started()) return ok_status();
  log::init("instance", "info");
  symnas_module_config config{};
  (void)load_config_from_parse(parsed, symnas_module_block(), &config, true, errors);
  if (!config_error_is_harmless(errors) || config.instance_file == nullptr)
    return fsalstat(ERR_FSAL_INVAL, EINVAL);
  const std::string path(config.instance_file);
  gsh_free(config.instance_file);
  const auto started = Instance::start(path, nfs_param.core_param.rpc.ioq_thrd_max);
  if (started) {
    gate_replies();
    guard_door();
    answer_former_calls();
    count_load();
    return ok_status();
  }
  LogCrit(COMPONENT_FSAL, "CLUSTER: %s", started.error().message.c_str());
  return to_fsal(started.error());
}

void register_module() {
  Module& self = module();
  set_static_info(self.fsal.fs_info);
  if (register_fsal(&self.fsal, "CLUSTER", FSAL_MAJOR_VERSION, FSAL_MINOR_VERSION,
                    FSAL_ID_NO_PNFS) != 0) {
    LogCrit(COMPONENT_FSAL, "CLUSTER: ganesha refused to register the module");
    return;
  }
  self.fsal.m_ops.create_export = create_export;
  self.fsal.m_ops.update_export = check_export_update;
  self.fsal.m_ops.init_config = init_config;
  fsal_default_obj_ops_init(&self.operations);
  set_namespace_operations(self.operations);
  set_open_operations(self.operations);
  set_io_operations(self.operations);
  set_lock_operations(self.operations);
  set_xattr_operations(self.operations);
}

}  // namespace

fsal_obj_ops& object_operations() { return module().operations; }

}  // namespace symnas::plugin

MODULE_INIT void symnas_cluster_init(void) { symnas::plugin::register_module(); }
MODULE_FINI void symnas_cluster_fini(void) {}
