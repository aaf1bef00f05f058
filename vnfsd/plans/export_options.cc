#include "vnfsd/plans/export_options.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "vnfsd/names/names.h"
#include "vnfsd/network/net_address.h"
#include "vnfsd/plans/exports.h"
#include "vnfsd/plans/limits.h"

namespace symnas::vnfsd {
namespace {

tl::unexpected<Error> bad(const std::string& name, std::string_view why) {
  return fail(ErrorCode::kInvalidArgument, fmt::format("export {}: {}", name, why));
}

Status set_access(const std::string& name, const std::string& word, records::ExportRecord& record) {
  if (word != "rw" && word != "ro") {
    return bad(name, fmt::format("access '{}': must be rw or ro", word));
  }
  record.set_access(word == "rw" ? records::ACCESS_RW : records::ACCESS_RO);
  return {};
}

Status set_squash(const std::string& name, const std::string& word, records::ExportRecord& record) {
  if (word == "root") {
    record.set_squash(records::SQUASH_ROOT);
  } else if (word == "none") {
    record.set_squash(records::SQUASH_NONE);
  } else if (word == "all") {
    record.set_squash(records::SQUASH_ALL);
  } else {
    return bad(name, fmt::format("squash '{}': must be root, none or all", word));
  }
  return {};
}

Status set_clients(const std::string& name, const std::vector<std::string>& clients,
                   records::ExportRecord& record) {
  if (clients.empty()) {
    return bad(name, "no clients: nobody could mount it (give networks, or '*' for everybody)");
  }
  if (clients.size() > kClientsPerExportMax) {
    return bad(name, fmt::format("more than {} clients", kClientsPerExportMax));
  }
  record.clear_clients();
  for (const std::string& text : clients) {
    SYMNAS_ASSIGN(const std::string client, normalise_client(text));
    if (std::find(record.clients().begin(), record.clients().end(), client) !=
        record.clients().end()) {
      return bad(name, fmt::format("client {}: named twice", client));
    }
    record.add_clients(client);
  }
  return {};
}

Status set_pseudo(const std::string& name, const std::string& path, records::ExportRecord& record) {
  record.clear_pseudo();
  if (path.empty()) return {};
  SYMNAS_ASSIGN(const std::string pseudo, normalise_export_path(path));
  if (pseudo == "/") return bad(name, "path '/': what clients mount must have a name");
  if (pseudo != "/" + name) record.set_pseudo(pseudo);
  return {};
}

Result<std::uint32_t> parse_id(const std::string& name, std::string_view text) {
  std::uint32_t id = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  // The largest number is the one that means "none".
  if (error != std::errc{} || end != text.data() + text.size() || id == UINT32_MAX) {
    return bad(name, fmt::format("anonymous id '{}': must be a number from 0 to {}", text,
                                 UINT32_MAX - 1));
  }
  return id;
}

Status set_anon(const std::string& name, const std::string& text, records::ExportRecord& record) {
  record.clear_anon_uid();
  record.clear_anon_gid();
  if (text.empty()) return {};
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos) {
    return bad(name, fmt::format("anonymous ids '{}': must be UID:GID", text));
  }
  SYMNAS_ASSIGN(const std::uint32_t uid, parse_id(name, std::string_view(text).substr(0, colon)));
  SYMNAS_ASSIGN(const std::uint32_t gid, parse_id(name, std::string_view(text).substr(colon + 1)));
  record.set_anon_uid(uid);
  record.set_anon_gid(gid);
  return {};
}

}  // namespace

Status set_export_options(const ExportEdit& edit, records::ExportRecord& record) {
  if (edit.clients) SYMNAS_TRY(set_clients(edit.name, *edit.clients, record));
  if (edit.access) SYMNAS_TRY(set_access(edit.name, *edit.access, record));
  if (edit.squash) SYMNAS_TRY(set_squash(edit.name, *edit.squash, record));
  if (edit.anon) SYMNAS_TRY(set_anon(edit.name, *edit.anon, record));
  if (edit.pseudo) SYMNAS_TRY(set_pseudo(edit.name, *edit.pseudo, record));
  return {};
}

bool changes_anything(const ExportEdit& edit) {
  return edit.clients || edit.access || edit.squash || edit.anon || edit.pseudo;
}

std::string rules_of(const records::ExportRecord& record) {
  const AnonymousIds anon = anonymous_ids(record);
  return fmt::format("{} for {}, squash {} to {}:{}",
                     record.access() == records::ACCESS_RO ? "ro" : "rw",
                     fmt::join(record.clients(), ","),
                     record.squash() == records::SQUASH_ALL    ? "all"
                     : record.squash() == records::SQUASH_NONE ? "none"
                                                               : "root",
                     anon.uid, anon.gid);
}

}  // namespace symnas::vnfsd
