#include "vnfsd/daemon/admin/heads_admin.h"

#include <filesystem>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "common/base/log.h"
#include "common/base/uuid.h"
#include "vnfsd/config/bundle.h"
#include "vnfsd/daemon/journal/commit.h"
#include "vnfsd/instance/files.h"
#include "vnfsd/names/names.h"
#include "vnfsd/network/net_address.h"
#include "vnfsd/pki/authority.h"
#include "vnfsd/plans/admission.h"
#include "vnfsd/plans/plans.h"

namespace symnas::vnfsd::daemon {

Result<nlohmann::json> HeadsAdmin::invite_head(const std::string& name, const std::string& address,
                                               api::EtcdRole role, Mode mode) {
  SYMNAS_TRY(check_host_name("head", name));
  SYMNAS_TRY(IpAddress::parse(address));
  SYMNAS_ASSIGN(const ClusterView view, read_when_ready(head_, reader_));
  for (const auto& [other, head] : view.heads) {
    if (other == name || head.record.address() == address) {
      return fail(ErrorCode::kAlreadyExists,
                  fmt::format("head {}: {} {} has joined already (choose another name and address)",
                              name, other, head.record.address()));
    }
  }
  const std::string ca_key_path =
      (std::filesystem::path(head_.config.etcd.ca).parent_path() / "ca.key").string();
  const auto ca_key = instance::read_file(ca_key_path);
  if (!ca_key) {
    return fail(
        ErrorCode::kNotFound,
        fmt::format("head {}: {} is not on this head (invite on the head where symnas cluster "
                    "init was run)",
                    name, ca_key_path));
  }
  SYMNAS_ASSIGN(const std::string ca, instance::read_file(head_.config.etcd.ca));
  SYMNAS_ASSIGN(const pki::Authority authority, pki::Authority::load(ca, *ca_key));
  if (mode == Mode::kDryRun) {
    return nlohmann::json{{"done", {fmt::format("head {}: would be invited", name)}}};
  }
  const std::string admission = Uuid::generate().to_string();
  SYMNAS_TRY(commit(
      head_, events_,
      [&](const ClusterView& now) -> Result<Change> {
        if (now.heads.contains(name)) {
          return fail(ErrorCode::kAlreadyExists,
                      fmt::format("head {}: has joined meanwhile (choose another name)", name));
        }
        return plan_head_admit(name, admission, head_.clock.wall_ns());
      },
      mode));
  SYMNAS_ASSIGN(const pki::Identity identity, authority.issue(name, {address, "127.0.0.1", name}));
  Bundle bundle{head_.config.cluster_name,
                head_.config.cluster_uuid,
                name,
                address,
                head_.config.etcd.endpoints,
                {},
                ca,
                identity.certificate_pem,
                identity.key_pem,
                head_.config.etcd.quota_bytes,
                admission};
  if (role == api::EtcdRole::kMember) {
    SYMNAS_ASSIGN(bundle.initial_cluster, members_.add_etcd_learner(name, address));
  }
  const std::string what = fmt::format(
      "head {}: invited{}", name, role == api::EtcdRole::kMember ? ", also as an etcd member" : "");
  log::info("{}", what);
  return nlohmann::json{{"done", {what}}, {"bundle", bundle_to_json(bundle)}};
}

Result<std::string> HeadsAdmin::fence_head(const std::string& name, Mode mode, Progress& progress) {
  progress.tell(0.0, "waits for its turn");
  return fencing_.fence_head(name, mode, [&](FenceStep step) -> Status {
    switch (step) {
      case FenceStep::kBegins:
        SYMNAS_TRY(
            progress.commit("its fence is recorded: from then on the head may be cut off, "
                            "and may claim nothing"));
        progress.tell(0.1, "the fence is being recorded");
        return {};
      case FenceStep::kCutsOff: progress.tell(0.2, "the head is being cut off"); return {};
      case FenceStep::kEnds:
        progress.tell(0.8, "the head is cut off; its mounts are being ended");
        return {};
    }
    return {};
  });
}

Result<std::string> HeadsAdmin::remove_head(const std::string& name, api::Consent consent,
                                            Mode mode) {
  const TakeOff take_off = consent == api::Consent::kYes ? TakeOff::kYes : TakeOff::kNo;
  const Planner planner = [&](const ClusterView& view) {
    return plan_head_remove(view, name, take_off, head_.clock.wall_ns());
  };
  SYMNAS_ASSIGN(const ClusterView before, read_when_ready(head_, reader_));
  SYMNAS_TRY(planner(before));
  SYMNAS_ASSIGN(const std::optional<kv::StoreMember> member, members_.spare_member(name));
  auto done = commit(head_, events_, planner, mode);
  if (!done || mode == Mode::kDryRun || !member) return done;
  const Status removed = members_.remove(*member);
  *done += removed ? fmt::format("\netcd {}: removed (stop its etcd and delete its data)", name)
                   : fmt::format("\netcd {}: is still a member: {} (symnas etcd rm {})", name,
                                 removed.error().message, name);
  return done;
}

}  // namespace symnas::vnfsd::daemon
