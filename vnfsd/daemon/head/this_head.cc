#include "vnfsd/daemon/head/this_head.h"

#include <fmt/core.h>

#include "common/kv/admin_keys.h"
#include "vnfsd/plans/admission.h"

namespace symnas::vnfsd::daemon {

tl::unexpected<Error> fenced_here(const records::FenceRecord& fence) {
  return fail(ErrorCode::kPermission,
              fmt::format("head {}: this boot of it was fenced by head {}: {} (reboot it: the next "
                          "boot serves again)",
                          fence.head(), fence.by(),
                          fence.proof().empty() ? "no proof yet" : fence.proof()));
}

Status ThisHead::check_not_removed(const ClusterView& view) const {
  const std::string& name = config.head_name;
  if (!is_admitted(view, name, config.admission)) {
    const bool replaced = !view.removed.contains(name);
    return fail(ErrorCode::kForeign,
                fmt::format("head {}: {}, it can do nothing for the cluster any more (stop vnfsd "
                            "and reboot this head: its kernel may still hold requests for the "
                            "LUNs; symnas head invite {} on another head lets one of this name "
                            "join)",
                            name,
                            replaced ? "another machine was invited under this name"
                                     : "was removed from the cluster",
                            name));
  }
  const auto boot = view.fenced_boots.find(incarnation);
  if (boot == view.fenced_boots.end()) return {};
  return fail(ErrorCode::kForeign,
              fmt::format("head {}: this boot of the machine was fenced as head {}, which was "
                          "removed from the cluster then (reboot it: the next boot may join)",
                          name, boot->second.record.head()));
}

// The admitted machine, and whether this boot was fenced, are as they were seen.
void ThisHead::compare_admission(const ClusterView& view, kv::Txn& txn) const {
  const auto removed = view.removed.find(config.head_name);
  txn.compares.push_back(admitted_as_seen(view, config.head_name));
  txn.compares.push_back(kv::mod_revision_is(
      kv::keys::kRemoved + config.head_name,
      removed == view.removed.end() ? Revision{} : removed->second.mod_revision));
  txn.compares.push_back(kv::key_absent(kv::keys::kFencedBoots + incarnation));
}

}  // namespace symnas::vnfsd::daemon
