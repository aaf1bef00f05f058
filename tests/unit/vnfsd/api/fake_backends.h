// FakeBackends: the API's backends over an in-memory store, without devices. Each is a double of
// its own, so that a test may take one and leave the others.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "common/env/clock.h"
#include "tests/unit/vnfsd/plans/view_builder.h"
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
    return nlohmann::json{{"history", {{{"to", "c1n1"}, {"cause", name}}}}};
  }
  FakeRecords& records;
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
    return nlohmann::json{{"devices", paths}};
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
    return nlohmann::json{{"done", {"invited " + name + member}}, {"bundle", {{"secret", 1}}}};
  }
  Result<std::string> fence_head(const std::string& name, Mode) override {
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
    return nlohmann::json{{"members", {{{"name", "c1n1"}, {"role", "voter"}}}}};
  }
  Result<std::string> remove_etcd_member(const std::string& name, Mode) override {
    return notes("remove etcd " + name);
  }
  Notes& notes;
};

struct FakeInspection final : InspectionBackend {
  Result<nlohmann::json> check_filesystem(const std::string& name) override {
    return nlohmann::json{{"filesystem", name}};
  }
  Result<nlohmann::json> dump_inode(const std::string& fs, const DumpRequest& request) override {
    return nlohmann::json{{"filesystem", fs}, {"path", request.path}, {"ino", request.ino.value()}};
  }
  Result<nlohmann::json> capacity() override { return nlohmann::json{{"etcd", {}}}; }
};

struct FakeLocks final : LocksBackend {
  explicit FakeLocks(Notes& told) : notes(told) {}
  Result<nlohmann::json> locks(const LockFilter& filter) override {
    return nlohmann::json{{"locks", {{{"client", filter.client}, {"ino", filter.ino.value()}}}}};
  }
  Result<std::string> clear_locks(const LockFilter& filter, Mode mode) override {
    return notes((mode == Mode::kDryRun ? "would clear " : "clear ") + filter.client);
  }
  Notes& notes;
};

struct FakeStatus final : StatusBackend {
  nlohmann::json local_status() override {
    nlohmann::json document = {
        {"head", "c1n1"},
        {"silent", silent},
        {"etcd", nlohmann::json::array()},
        {"luns", {{{"name", "LUN0"}, {"path", "/dev/sda"}, {"error", ""}}}},
        {"instances",
         {{"vnfs1", {{"state", "serving"}, {"pid", 42}, {"restarts", 3}, {"error", ""}}}}}};
    if (!corosync.is_null()) document["corosync"] = corosync;
    return document;
  }
  Result<nlohmann::json> events(Revision after) override {
    return nlohmann::json{{"events", nlohmann::json::array()}, {"revision", after.value()}};
  }
  nlohmann::json silent = nlohmann::json::array();
  nlohmann::json corosync;
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
    return nlohmann::json{{"standing", name_of(sight.standing)}, {"why", sight.why}};
  }
  FakeRecords& records;
};

struct FakeBackends {
  Backends all() {
    return {records,     vnfs,  deciders, exports,    luns,  volumes,
            filesystems, heads, members,  inspection, locks, status};
  }

  ViewBuilder builder;
  Notes notes;
  FakeRecords records{builder.store};
  FakeVnfs vnfs{records, notes};
  FakeDeciders deciders{records};
  FakeExports exports{records, notes};
  FakeLuns luns{notes};
  FakeVolumes volumes{records, notes};
  FakeFilesystems filesystems{notes};
  FakeHeads heads{notes};
  FakeMembers members{notes};
  FakeInspection inspection;
  FakeLocks locks{notes};
  FakeStatus status;
};

}  // namespace symnas::vnfsd::api
