// FakeBackend: the API's backend over an in-memory store, without devices.
#pragma once

#include "common/env/clock.h"
#include "tests/unit/vnfsd/plans/view_builder.h"
#include "vnfsd/api/backend.h"

namespace symnas::vnfsd::api {

class FakeBackend final : public Backend {
 public:
  Result<ClusterView> view() override {
    if (away) return fail(ErrorCode::kUnavailable, "etcd: away");
    return read_view(builder.store, kTestDeadlineMs);
  }
  Result<std::string> change(const Planner& planner, Mode mode) override {
    return make_change(builder.store, planner, mode);
  }
  Result<std::string> create_vnfs(const VnfsRequest& request, Mode mode) override {
    return change([&](const ClusterView& v) { return plan_vnfs_create(v, request); }, mode);
  }
  Result<std::string> create_vnfs_set(const VnfsSetRequest& request, Mode mode) override {
    return change([&](const ClusterView& v) { return plan_vnfs_create_set(v, request); }, mode);
  }
  Result<std::string> edit_exports(const Planner& planner, Mode mode) override {
    return change(planner, mode);
  }
  Result<std::string> remove_export(const std::string& name, const std::vector<std::string>& vnfses,
                                    Consent consent, Mode mode) override {
    if (consent == Consent::kYes) notes.push_back("remove by consent " + name);
    return change(
        [&](const ClusterView& v) {
          return vnfses.empty() ? plan_export_remove(v, name)
                                : plan_export_take_off(v, name, vnfses);
        },
        mode);
  }
  Result<std::string> remove_vnfs(const std::string& name, Consent consent, Mode mode) override {
    if (consent == Consent::kYes) notes.push_back("remove by consent " + name);
    return change([&](const ClusterView& v) { return plan_vnfs_remove(v, name); }, mode);
  }
  Result<std::string> rehost_vnfs(const std::string& name, const std::string& head, Pin pin,
                                  Mode mode) override {
    return change(
        [&](const ClusterView& v) {
          return plan_vnfs_rehost(v, name, head, env::system_clock().wall_ns(), pin);
        },
        mode);
  }
  Result<nlohmann::json> events(Revision after) override {
    return nlohmann::json{{"events", nlohmann::json::array()}, {"revision", after.value()}};
  }
  Result<std::string> import_lun(const LunImportRequest& request, Mode) override {
    if (request.path == "/bad") return fail(ErrorCode::kForeign, "lun: foreign");
    const bool force = request.force == LunImportRequest::Force::kYes;
    return noted("import " + request.name + (force ? " by force" : ""));
  }
  Result<std::string> release_lun(const std::string& name, Label label, Mode) override {
    return noted((label == Label::kForget ? "forget " : "release ") + name);
  }
  Result<std::string> create_volume(const VolumeRequest& request, Mode mode) override {
    return change([&](const ClusterView& v) { return plan_volume_create(v, request); }, mode);
  }
  Result<std::string> grow_volume(const VolumeRequest& request, Mode) override {
    return noted("grow " + request.name + " by " + request.luns.at(0));
  }
  Result<std::string> remove_volume(const std::string& name, Mode) override {
    return noted("remove " + name);
  }
  Result<std::string> create_filesystem(const fs::FormatOptions& options, Mode) override {
    formatted = options;
    return noted("format " + options.name);
  }
  Result<std::string> remove_filesystem(const std::string& name, Mode) override {
    return noted("remove fs " + name);
  }
  Result<nlohmann::json> invite_head(const std::string& name, const std::string&, EtcdRole role,
                                     Mode) override {
    const std::string member = role == EtcdRole::kMember ? " as a member" : "";
    return nlohmann::json{{"done", {"invited " + name + member}}, {"bundle", {{"secret", 1}}}};
  }
  Result<nlohmann::json> etcd_members() override {
    return nlohmann::json{{"members", {{{"name", "c1n1"}, {"role", "voter"}}}}};
  }
  Result<std::string> remove_etcd_member(const std::string& name, Mode) override {
    return noted("remove etcd " + name);
  }
  Result<std::string> remove_head(const std::string& name, Consent consent, Mode) override {
    return noted(std::string("remove head ") + (consent == Consent::kYes ? "by consent " : "") +
                 name);
  }
  Result<std::string> fence_head(const std::string& name, Mode) override {
    return noted("fence " + name);
  }
  Result<nlohmann::json> check_filesystem(const std::string& name) override {
    return nlohmann::json{{"filesystem", name}};
  }
  Result<nlohmann::json> locks(const LockFilter& filter) override {
    return nlohmann::json{{"locks", {{{"client", filter.client}, {"ino", filter.ino.value()}}}}};
  }
  Result<std::string> clear_locks(const LockFilter& filter, Mode mode) override {
    return noted((mode == Mode::kDryRun ? "would clear " : "clear ") + filter.client);
  }
  Result<nlohmann::json> vnfs_history(const std::string& name) override {
    return nlohmann::json{{"history", {{{"to", "c1n1"}, {"cause", name}}}}};
  }
  Result<nlohmann::json> capacity() override { return nlohmann::json{{"etcd", {}}}; }
  Result<nlohmann::json> dump_inode(const std::string& filesystem,
                                    const DumpRequest& request) override {
    return nlohmann::json{
        {"filesystem", filesystem}, {"path", request.path}, {"ino", request.ino.value()}};
  }
  nlohmann::json local_status() override {
    return {{"head", "c1n1"},
            {"silent", silent},
            {"etcd", nlohmann::json::array()},
            {"luns", {{{"name", "LUN0"}, {"path", "/dev/sda"}, {"error", ""}}}},
            {"instances",
             {{"vnfs1", {{"state", "serving"}, {"pid", 42}, {"restarts", 3}, {"error", ""}}}}}};
  }

  Result<std::string> noted(std::string what) {
    notes.push_back(what);
    return what;
  }

  ViewBuilder builder;
  std::vector<std::string> notes;
  fs::FormatOptions formatted;
  bool away = false;
  nlohmann::json silent = nlohmann::json::array();
};

}  // namespace symnas::vnfsd::api
