#include "vnfsd/daemon/admin/keytab_admin.h"

#include <vector>

#include "common/base/log.h"
#include "vnfsd/instance/keytab_writer.h"
#include "vnfsd/plans/keytab.h"
#include "vnfsd/plans/plan_keytab.h"

namespace symnas::vnfsd::daemon {
namespace {

// With the former keys, as far as this head can open them.
std::vector<KeytabEntry> kept(const ThisHead& head, const ClusterView& view,
                              const std::string& vnfs, std::vector<KeytabEntry> entries) {
  const auto former = view.keytabs.find(vnfs);
  if (former == view.keytabs.end()) return entries;
  const auto file =
      instance::open_keytab(head.config, former->second.record, keytab_subject(view, vnfs));
  const auto before = file ? parse_keytab(*file) : tl::unexpected<Error>(file.error());
  if (before) return with_former_keys(std::move(entries), *before);
  log::warn("vnfs {}: its former keys are not kept: {}", vnfs, before.error().message);
  return entries;
}

}  // namespace

Result<std::string> KeytabAdmin::set_keytab(const api::KeytabRequest& request, Mode mode) {
  const std::string& vnfs = request.vnfs;
  SYMNAS_ASSIGN(const std::vector<KeytabEntry> entries, parse_keytab(request.file));
  SYMNAS_ASSIGN(const std::string domain, parse_owner_domain(request.owner_domain.value_or("")));
  SYMNAS_TRY(check_keytab(entries, vnfs));
  SYMNAS_TRY(read_when_ready(head_, reader_));
  return exports_.edit_exports(
      [&](const ClusterView& view) -> Result<Change> {
        const std::vector<KeytabEntry> all = kept(head_, view, vnfs, entries);
        SYMNAS_TRY(check_size(all));
        SYMNAS_ASSIGN(records::KeytabRecord sealed,
                      instance::seal_keytab(view, vnfs, all, head_.clock.wall_ns()));
        const auto former = view.keytabs.find(vnfs);
        if (request.owner_domain) {
          sealed.set_owner_domain(domain);
        } else if (former != view.keytabs.end()) {
          sealed.set_owner_domain(former->second.record.owner_domain());
        }
        return plan_keytab_set(view, vnfs, sealed);
      },
      mode);
}

Result<std::string> KeytabAdmin::remove_keytab(const std::string& vnfs, Mode mode) {
  return exports_.edit_exports(
      [&](const ClusterView& view) { return plan_keytab_remove(view, vnfs); }, mode);
}

}  // namespace symnas::vnfsd::daemon
