// Instance: the exports that ganesha serves, and their changes while it does.
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include <nlohmann/json.hpp>

#include "common/base/log.h"
#include "fsal_cluster/plugin/ganesha.h"
#include "fsal_cluster/plugin/instance.h"
#include "fsal_cluster/plugin/kerberos.h"
#include "fsal_cluster/plugin/names.h"

namespace symnas::plugin {
namespace {

// Takes the problems of an export that this thread changes; null: problems go to vnfsd's status.
thread_local std::string* reason = nullptr;

void add(std::string& to, const std::string& text) { to += (to.empty() ? "" : "; ") + text; }

// ganesha's own error lines end with "; ".
std::string trimmed(std::string text) {
  while (text.ends_with(' ') || text.ends_with(';')) text.pop_back();
  return text;
}

}  // namespace

void Instance::report_problem(const std::string& text) const {
  if (reason != nullptr) return add(*reason, text);
  std::ofstream file(std::filesystem::path(path_).parent_path() / "problems", std::ios::app);
  file << text << "\n";
  if (!file.flush()) log::error("cannot tell vnfsd: {}", text);
}

void Instance::note_export(FsId fs, std::uint16_t export_id,
                           std::shared_ptr<ExportClients> clients) {
  const MutexLock lock(exports_mutex_);
  exports_[export_id] = {fs, std::move(clients)};
  unserved_exports_.served(export_id);
}

std::vector<std::uint16_t> Instance::exports_of(FsId fs) {
  std::vector<std::uint16_t> out;
  const MutexLock lock(exports_mutex_);
  for (const auto& [id, entry] : exports_) {
    if (entry.fs == fs) out.push_back(id);
  }
  return out;
}

void Instance::change_exports(const Control::Say& say) {
  exports_read_ = true;  // ganesha listens by now: it has read its exports
  const auto file = read_instance_file(path_);
  if (!file) return say({{"error", file.error().message}});
  // Callers with Kerberos never meet a realm that is nobody's: they would be anonymous.
  if (file->kerberos) use_names(file->exports, file->kerberos);
  if (const Status usable = use_kerberos(file->kerberos); !usable)
    report_problem(usable.error().message);
  if (!file->kerberos) use_names(file->exports, file->kerberos);
  const Status done = export_changes_.follow(file->exports);
  if (!done) return say({{"error", done.error().message}});
  say({{"exports", file->exports.size()}});
}

Status Instance::set_export(const InstanceFile::Export& wanted) {
  const std::filesystem::path path = std::filesystem::path(path_).replace_filename("export.conf");
  std::ofstream out(path, std::ios::trunc);
  out << wanted.block;
  out.close();
  if (!out) return fail(ErrorCode::kIo, path.string() + ": cannot be written");
  std::string why;
  unserved_exports_.wanted(wanted.id);
  reason = &why;
  char* const refused = nfs_set_export(path.c_str(), wanted.id);
  reason = nullptr;
  if (refused == nullptr && why.empty()) {
    log::info("export {}: set as vnfsd wants it", wanted.pseudo);
    return {};
  }
  if (refused != nullptr) {
    log::error("export {}: {}", wanted.pseudo, trimmed(refused));
    if (why.empty()) why = "export " + wanted.pseudo + ": " + trimmed(refused);
    gsh_free(refused);
  }
  return fail(ErrorCode::kInvalidArgument, why);
}

void Instance::remove_export(std::uint16_t id) {
  {
    const MutexLock lock(exports_mutex_);
    exports_.erase(id);
    unserved_exports_.removed(id);
  }
  if (nfs_remove_export(id)) log::info("export {}: removed", id);
}

bool Instance::has_export(std::uint16_t id) {
  gsh_export* const found = get_gsh_export(id);
  if (found != nullptr) put_gsh_export(found);
  return found != nullptr;
}

void Instance::say_clients(const Control::Say& say) {
  nlohmann::json exports = nlohmann::json::array();
  {
    const MutexLock lock(exports_mutex_);
    for (const auto& [id, entry] : exports_)
      exports.push_back({{"id", id}, {"clients", entry.clients->all()}});
  }
  say({{"exports", exports}});
}

}  // namespace symnas::plugin
