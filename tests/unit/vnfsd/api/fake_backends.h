// FakeBackends: the API's backends over an in-memory store, without devices. Each is a double of
// its own, so that a test may take one and leave the others.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "common/env/clock.h"
#include "tests/unit/vnfsd/api/schema_samples.h"
#include "tests/unit/vnfsd/plans/view_builder.h"
#include "vnfsd/api/access.h"
#include "vnfsd/api/backends.h"

namespace symnas::vnfsd::api {

// What the backends were asked for, beside what the store shows.
struct Notes {
  Result<std::string> operator()(std::string what) {
    all.push_back(what);
    return what;
  }
  std::vector<std::string> all;
};

struct FakeRecords final : RecordsBackend {
  explicit FakeRecords(kv::Store& kv_store) : store(kv_store) {}
  Result<ClusterView> view() override {
    if (away) return fail(ErrorCode::kUnavailable, "etcd: away");
    return read_view(store, kTestDeadlineMs);
  }
  Result<std::string> change(const Planner& planner, Mode mode) override {
    return make_change(store, planner, mode);
  }
  kv::Store& store;
  bool away = false;
};

struct FakeVnfs final : VnfsBackend {
  FakeVnfs(FakeRecords& all, Notes& told) : records(all), notes(told) {}
  Result<std::string> create_vnfs(const VnfsRequest& request, Mode mode) override {
    return records.change([&](const ClusterView& v) { return plan_vnfs_create(v, request); }, mode);
  }
  Result<std::string> create_vnfs_set(const VnfsSetRequest& request, Mode mode) override {
    return records.change([&](const ClusterView& v) { return plan_vnfs_create_set(v, request); },
                          mode);
  }
  Result<std::string> remove_vnfs(const std::string& name, Consent consent, Mode mode) override {
    if (consent == Consent::kYes) notes.all.push_back("remove by consent " + name);
    return records.change([&](const ClusterView& v) { return plan_vnfs_remove(v, name); }, mode);
  }
  Result<std::string> rehost_vnfs(const std::string& name, const std::string& head, Pin pin,
                                  Mode mode) override {
    const std::int64_t now_ns = env::system_clock().wall_ns();
    return records.change(
        [&](const ClusterView& v) { return plan_vnfs_rehost(v, name, head, now_ns, pin); }, mode);
  }
  Result<nlohmann::json> vnfs_history(const std::string& name) override {
    return nlohmann::json{{"history", {sample_of("Transition", {{"to", "c1n1"}, {"from", name}})}}};
  }
  FakeRecords& records;
  Notes& notes;
};

struct FakeKeytabs final : KeytabsBackend {
  explicit FakeKeytabs(Notes& told) : notes(told) {}
  Result<std::string> set_keytab(const KeytabRequest& request, Mode) override {
    return notes(fmt::format("vnfs {}: keytab of {} bytes{}", request.vnfs, request.file.size(),
                             request.owner_domain ? ", owners of " + *request.owner_domain : ""));
  }
  Result<std::string> remove_keytab(const std::string& vnfs, Mode) override {
    return notes(fmt::format("vnfs {}: keytab removed", vnfs));
  }
  Notes& notes;
};

struct FakeExports final : ExportsBackend {
  FakeExports(FakeRecords& all, Notes& told) : records(all), notes(told) {}
  Result<std::string> edit_exports(const Planner& planner, Mode mode) override {
    return records.change(planner, mode);
  }
  Result<std::string> remove_export(const std::string& name, const std::vector<std::string>& vnfses,
                                    Consent consent, Mode mode) override {
    if (consent == Consent::kYes) notes.all.push_back("remove by consent " + name);
    return records.change(
        [&](const ClusterView& v) {
          return vnfses.empty() ? plan_export_remove(v, name)
                                : plan_export_take_off(v, name, vnfses);
        },
        mode);
  }
  FakeRecords& records;
  Notes& notes;
};

struct FakeLuns final : LunsBackend {
  explicit FakeLuns(Notes& told) : notes(told) {}
  Result<std::string> import_lun(const LunImportRequest& request, Mode) override {
    if (request.path == "/bad") return fail(ErrorCode::kForeign, "lun: foreign");
    const bool force = request.force == LunImportRequest::Force::kYes;
    return notes("import " + request.name + (force ? " by force" : ""));
  }
  Result<std::string> release_lun(const std::string& name, Label label, Mode) override {
    return notes((label == Label::kForget ? "forget " : "release ") + name);
  }
  Result<nlohmann::json> scan_luns(const std::vector<std::string>& paths) override {
    nlohmann::json devices = nlohmann::json::array();
    for (const std::string& path : paths) devices.push_back(sample_of("Device", {{"path", path}}));
    return nlohmann::json{{"devices", devices}};
  }
  Notes& notes;
};

struct FakeVolumes final : VolumesBackend {
  FakeVolumes(FakeRecords& all, Notes& told) : records(all), notes(told) {}
  Result<std::string> create_volume(const VolumeRequest& request, Mode mode) override {
    return records.change([&](const ClusterView& v) { return plan_volume_create(v, request); },
                          mode);
  }
  Result<std::string> grow_volume(const VolumeRequest& request, Mode) override {
    return notes("grow " + request.name + " by " + request.luns.at(0));
  }
  Result<std::string> remove_volume(const std::string& name, Mode) override {
    return notes("remove " + name);
  }
  FakeRecords& records;
  Notes& notes;
};

struct FakeFilesystems final : FilesystemsBackend {
  explicit FakeFilesystems(Notes& told) : notes(told) {}
  Result<std::string> create_filesystem(const FilesystemRequest& request, Mode) override {
    formatted = request.format;
    return notes("format " + request.format.name);
  }
  Result<std::string> remove_filesystem(const std::string& name, Mode) override {
    return notes("remove fs " + name);
  }
  fs::FormatOptions formatted;
  Notes& notes;
};

struct FakeHeads final : HeadsBackend {
  explicit FakeHeads(Notes& told) : notes(told) {}
  Result<nlohmann::json> invite_head(const std::string& name, const std::string&, EtcdRole role,
                                     Mode) override {
    const std::string member = role == EtcdRole::kMember ? " as a member" : "";
    return nlohmann::json{{"done", {"invited " + name + member}}, {"bundle", sample_of("Bundle")}};
  }
  Result<std::string> fence_head(const std::string& name, Mode, Progress& progress) override {
    SYMNAS_TRY(progress.commit("it may be cut off"));
    return notes("fence " + name);
  }
  Result<std::string> remove_head(const std::string& name, Consent consent, Mode) override {
    return notes(std::string("remove head ") + (consent == Consent::kYes ? "by consent " : "") +
                 name);
  }
  Notes& notes;
};

struct FakeMembers final : MembersBackend {
  explicit FakeMembers(Notes& told) : notes(told) {}
  Result<nlohmann::json> etcd_members() override {
    return nlohmann::json{{"members", {sample_of("Member", {{"name", "c1n1"}})}}};
  }
  Result<std::string> remove_etcd_member(const std::string& name, Mode) override {
    return notes("remove etcd " + name);
  }
  Notes& notes;
};

struct FakeInspection final : InspectionBackend {
  Result<nlohmann::json> check_filesystem(const std::string& name, Progress& progress) override {
    while (is_slow && !progress.is_cancelled()) std::this_thread::yield();
    if (progress.is_cancelled()) return cancelled("fs " + name);
    return sample_of("CheckReport", {{"filesystem", name}});
  }
  Result<nlohmann::json> dump_inode(const std::string&, const DumpRequest& request) override {
    return sample_of("Inode", {{"symlink_target", request.path}, {"ino", request.ino.value()}});
  }
  Result<nlohmann::json> capacity() override { return sample_of("Capacity"); }
  std::atomic<bool> is_slow = false;
};

struct FakeRepair final : RepairBackend {
  Result<nlohmann::json> plan_repair(const std::string& filesystem, Progress&) override {
    return sample_of("RepairPlan", {{"filesystem", filesystem}});
  }
  Result<nlohmann::json> repair(const std::string& filesystem, const std::string& plan,
                                Progress&) override {
    return sample_of("RepairReport", {{"filesystem", filesystem}, {"plan", plan}});
  }
  Result<nlohmann::json> repairs(const std::string& filesystem) override {
    return sample_of("Repairs", {{"filesystem", filesystem}});
  }
};

struct FakeScrub final : ScrubBackend {
  explicit FakeScrub(Notes& told) : notes(told) {}
  Result<nlohmann::json> scrubs() override { return sample_of("Scrubs"); }
  Result<std::string> begin_scrub(const ScrubRequest& request) override {
    return notes("scrub " + request.lun + (request.all ? " all" : ""));
  }
  Result<std::string> stop_scrub(const std::string& lun) override {
    return notes("stop scrub " + lun);
  }
  Notes& notes;
};

struct FakeLocks final : LocksBackend {
  explicit FakeLocks(Notes& told) : notes(told) {}
  Result<nlohmann::json> locks(const LockFilter& filter) override {
    return nlohmann::json{
        {"locks", {sample_of("Lock", {{"client", filter.client}, {"ino", filter.ino.value()}})}}};
  }
  Result<std::string> clear_locks(const LockFilter& filter, Mode mode) override {
    return notes((mode == Mode::kDryRun ? "would clear " : "clear ") + filter.client);
  }
  Notes& notes;
};

struct FakeQuotas final : QuotasBackend {
  explicit FakeQuotas(Notes& told) : notes(told) {}
  Result<nlohmann::json> quotas(const std::string& filesystem) override {
    return sample_of("Quotas", {{"filesystem", filesystem}});
  }
  Result<std::string> switch_quotas(const std::string& filesystem, fs::QuotaSwitch to,
                                    Mode) override {
    return notes("quotas " + filesystem + (to == fs::QuotaSwitch::kOn ? " on" : " off"));
  }
  Result<std::string> set_quota(const std::string& filesystem, const QuotaRequest& request,
                                Mode) override {
    return notes("limit " + filesystem + " " + fs::to_string(request.subject));
  }
  Result<std::string> remove_quota(const std::string& filesystem, const QuotaRequest& request,
                                   Mode) override {
    return notes("no limit " + filesystem + " " + fs::to_string(request.subject) + request.path);
  }
  Result<std::string> add_quota_tree(const std::string& filesystem, const std::string& path,
                                     Mode) override {
    return notes("tree " + filesystem + " " + path);
  }
  Result<std::string> remove_quota_tree(const std::string& filesystem, const QuotaRequest& request,
                                        Mode) override {
    return notes("no tree " + filesystem + " " + fs::to_string(request.subject) + request.path);
  }
  Notes& notes;
};

struct FakeStatus final : StatusBackend {
  nlohmann::json local_status() override {
    nlohmann::json document = sample_of(
        "Status", {{"head", "c1n1"},
                   {"silent", silent},
                   {"unheard", unheard},
                   {"etcd", nlohmann::json::array()},
                   {"luns", {{{"name", "LUN0"}, {"path", "/dev/sda"}, {"error", ""}}}},
                   {"instances",
                    {{"vnfs1", sample_of("Instance",
                                         {{"state", "serving"}, {"pid", 42}, {"restarts", 3}})}}}});
    if (!corosync.is_null()) document["corosync"] = corosync;
    return document;
  }
  Result<ToldStates> told_states() override { return told; }
  Result<nlohmann::json> events(Revision since) override {
    after = since;
    if (away) return fail(ErrorCode::kUnavailable, "etcd: away");
    return page.is_null() ? sample_of("Events", {{"revision", since.value()}}) : page;
  }
  bool away = false;
  Revision after;
  nlohmann::json page;
  nlohmann::json silent = nlohmann::json::array();
  nlohmann::json unheard = nlohmann::json::array();
  ToldStates told;
  nlohmann::json corosync;
};

struct FakeLoad final : LoadBackend {
  Result<nlohmann::json> load() override {
    return nlohmann::json{{"vnfses", nlohmann::json::array()},
                          {"rows", nlohmann::json::array()},
                          {"missing", nlohmann::json::array()}};
  }
};

struct FakeDeciders final : DecidersBackend {
  FakeDeciders(FakeRecords& all) : records(all) {}
  Result<std::string> take(const DeciderOrder& order, Mode mode) override {
    return records.change([&](const ClusterView& v) { return plan_take(v, order, 1); }, mode);
  }
  Result<std::string> leave(const DeciderOrder& order, Mode mode) override {
    return records.change([&](const ClusterView& v) { return plan_leave(v, order); }, mode);
  }
  Result<nlohmann::json> standing(const std::string& vnfs, const std::string& head) override {
    SYMNAS_ASSIGN(const ClusterView view, records.view());
    SYMNAS_ASSIGN(const DeciderSight sight, look_as_decider(view, vnfs, head, std::nullopt));
    return nlohmann::json{{"vnfs", vnfs},
                          {"head", head},
                          {"standing", name_of(sight.standing)},
                          {"why", sight.why},
                          {"owner", sight.owner}};
  }
  FakeRecords& records;
};

struct FakeAccess final : AccessBackend {
  Result<Caller> authenticate(const Credential& credential) override {
    ++lookups;
    if (away) return fail(ErrorCode::kUnavailable, "etcd: no answer");
    if (credential.token != "secret" || credential.certificate != "print")
      return fail(ErrorCode::kPermission, "API: the token is not known, or was revoked");
    return Caller{token_name, role, "", "laptop"};
  }
  Result<nlohmann::json> tokens() override {
    return nlohmann::json{{"tokens", nlohmann::json::array()}};
  }
  Result<nlohmann::json> create_token(const TokenRequest& request, const Caller&, Mode) override {
    return nlohmann::json{{"done", {"api token " + request.name + ": made"}}, {"token", "secret"}};
  }
  Result<std::string> revoke_token(const std::string& name, Mode) override {
    return "revoke " + name;
  }
  Result<std::string> switch_on(const std::vector<std::string>&, const Caller&, Mode) override {
    return "on";
  }
  Result<nlohmann::json> certificates() override {
    return nlohmann::json{{"certificates", nlohmann::json::array()}};
  }
  Result<nlohmann::json> issue(const CertificateRequest& request, const Caller&, Mode) override {
    return nlohmann::json{
        {"done", {"issue " + request.name}}, {"certificate", "PEM"}, {"authority", "PEM"}};
  }
  Result<std::string> revoke_certificate(const std::string& which, const Caller&, Mode) override {
    if (!revoked) return tl::unexpected<Error>(revoked.error());
    return "revoke " + which;
  }
  Result<nlohmann::json> audit(Revision after) override {
    if (on_audit) on_audit();
    return nlohmann::json{{"entries", nlohmann::json::array()}, {"revision", after.value()}};
  }
  void record(const AuditEntry& entry) override { entries.push_back(entry); }
  nlohmann::json ending() override { return nlohmann::json::array(); }
  Result<std::string> authority_pem() override { return std::string("PEM"); }

  std::string token_name = "ops";
  Role role = Role::kViewer;
  std::atomic<bool> away = false;
  std::atomic<int> lookups = 0;
  std::function<void()> on_audit;
  Status revoked;  // of certificates
  std::vector<AuditEntry> entries;
};

struct FakeBackends {
  Backends all() {
    return {records, vnfs,       deciders, exports, keytabs, luns,   volumes, filesystems, heads,
            members, inspection, repair,   scrub,   locks,   quotas, status,  load};
  }

  ViewBuilder builder;
  Notes notes;
  FakeRecords records{builder.store};
  FakeVnfs vnfs{records, notes};
  FakeDeciders deciders{records};
  FakeExports exports{records, notes};
  FakeKeytabs keytabs{notes};
  FakeLuns luns{notes};
  FakeVolumes volumes{records, notes};
  FakeFilesystems filesystems{notes};
  FakeHeads heads{notes};
  FakeMembers members{notes};
  FakeInspection inspection;
  FakeRepair repair;
  FakeScrub scrub{notes};
  FakeLocks locks{notes};
  FakeQuotas quotas{notes};
  FakeStatus status;
  FakeLoad load;
  FakeAccess access;
};

}  // namespace symnas::vnfsd::api
