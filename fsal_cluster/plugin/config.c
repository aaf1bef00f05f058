/* Configuration tables of the plugin. C, because ganesha's macros use nested designated
 * initialisers that C++ lacks. */
#include "config.h"

#include "config_parsing.h"
#include "fsal.h"

#include "fsal_cluster/plugin/config.h"

static struct config_item module_items[] = {
    CONF_MAND_STR("Instance_File", 1, MAXPATHLEN, NULL, symnas_module_config, instance_file),
    CONFIG_EOL};

static struct config_block module_block = {
    .dbus_interface_name = "org.ganesha.nfsd.config.fsal.cluster",
    .blk_desc.name = "CLUSTER",
    .blk_desc.type = CONFIG_BLOCK,
    .blk_desc.flags = CONFIG_UNIQUE,
    .blk_desc.u.blk.init = noop_conf_init,
    .blk_desc.u.blk.params = module_items,
    .blk_desc.u.blk.commit = noop_conf_commit};

static struct config_item export_items[] = {
    CONF_ITEM_NOOP("name"),
    CONF_MAND_STR("Filesystem", 1, 255, NULL, symnas_export_config, filesystem),
    CONF_ITEM_STR("Subtree", 1, MAXPATHLEN, "/", symnas_export_config, subtree), CONFIG_EOL};

static struct config_block export_block = {
    .dbus_interface_name = "org.ganesha.nfsd.config.fsal.cluster-export",
    .blk_desc.name = "FSAL",
    .blk_desc.type = CONFIG_BLOCK,
    .blk_desc.u.blk.init = noop_conf_init,
    .blk_desc.u.blk.params = export_items,
    .blk_desc.u.blk.commit = noop_conf_commit};

struct config_block* symnas_module_block(void) {
  return &module_block;
}
struct config_block* symnas_export_block(void) {
  return &export_block;
}
