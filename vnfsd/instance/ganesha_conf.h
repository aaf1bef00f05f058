// ganesha.conf of an instance. Pure. Why each setting is what it is:
// docs/architecture/ganesha_settings.md.
#pragma once

#include <string>

#include "common/base/result.h"
#include "vnfsd/instance/plan.h"

namespace symnas::vnfsd::instance {

// The part that depends on the FSAL.
class FsalBlocks {
 public:
  virtual ~FsalBlocks() = default;
  // Inside "FSAL { ... }" of an export.
  virtual std::string export_block(const records::ExportRecord& exported) const = 0;
  // Top-level blocks, or "".
  virtual std::string global_blocks(const InstancePlan& plan) const = 0;
};

// FSAL CLUSTER: libfsalcluster.so.
const FsalBlocks& cluster_fsal();

// Errors: kInvalidArgument when a value holds what cannot be quoted (the rules of names keep such
// values out).
Result<std::string> render_export(const records::ExportRecord& exported, const FsalBlocks& fsal);
// Errors: as render_export().
Result<std::string> render_ganesha_conf(const InstancePlan& plan, const FsalBlocks& fsal);

}  // namespace symnas::vnfsd::instance
