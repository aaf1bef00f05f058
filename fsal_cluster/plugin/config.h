/* What ganesha's configuration parser fills in for us. Strings are allocated by the parser
 * (gsh_malloc). */
#ifndef SYMNAS_FSAL_CLUSTER_PLUGIN_CONFIG_H_
#define SYMNAS_FSAL_CLUSTER_PLUGIN_CONFIG_H_

#ifdef __cplusplus
extern "C" {
#endif

struct config_block;

struct symnas_module_config {
  char* instance_file; /* JSON written by vnfsd: docs/formats/instance_file.md */
};

struct symnas_export_config {
  char* filesystem; /* name of the filesystem */
  char* subtree;    /* path inside it, "/" = its root */
};

/* CLUSTER { Instance_File = ...; } */
struct config_block* symnas_module_block(void);
/* EXPORT { FSAL { Name = CLUSTER; Filesystem = ...; Subtree = ...; } } */
struct config_block* symnas_export_block(void);

#ifdef __cplusplus
}
#endif

#endif
