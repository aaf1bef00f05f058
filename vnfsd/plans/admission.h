// Admission: which machine is the head of a name. An invitation makes an id that its bundle carries
// into the machine's vnfsd.toml; a machine with another id is not the head, whatever its
// certificate says. So a machine that was removed never acts for its name again, also when another
// machine has the name by then. Thread-safe: pure functions.
#pragma once

#include <cstdint>
#include <string>

#include "common/base/result.h"
#include "vnfsd/plans/change.h"
#include "vnfsd/records/cluster_view.h"

namespace symnas::vnfsd {

// A head in one boot of a machine.
struct HeadBoot {
  std::string head;
  std::string incarnation;  // the kernel's boot id
  std::string admission;    // the machine's own id; "" = it has none, as the cluster's first head
};
// Whether that machine, in that boot, is the head of its name. Errors: kForeign.
Status check_not_removed(const ClusterView& view, const HeadBoot& boot);
// Adds the compares that the admitted machine, and whether the boot was fenced, are as in `view`.
void compare_admission(const ClusterView& view, const HeadBoot& boot, kv::Txn& txn);

// `admission`: the machine's own id, "" = it has none, as the cluster's first head.
bool is_admitted(const ClusterView& view, const std::string& head, const std::string& admission);

// From now on only the machine with that id is the head; `admission` is new.
Result<Change> plan_head_admit(const std::string& head, const std::string& admission,
                               std::int64_t now_ns);

// The compare of a transaction in the name of the head: nobody was admitted or removed since the
// view.
kv::Compare admitted_as_seen(const ClusterView& view, const std::string& head);

}  // namespace symnas::vnfsd
