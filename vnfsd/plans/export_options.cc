#include "vnfsd/plans/export_options.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "vnfsd/names/names.h"
#include "vnfsd/network/net_address.h"
#include "vnfsd/plans/exports.h"
#include "vnfsd/plans/limits.h"
#include "vnfsd/plans/security.h"

namespace symnas::vnfsd {
namespace {

tl::unexpected<Error> bad(const std::string& name, std::string_view why) {
  return fail(ErrorCode::kInvalidArgument, fmt::format("export {}: {}", name, why));
}

Result<records::Access> parse_access(const std::string& name, const std::string& word) {
  if (word == "rw") return records::ACCESS_RW;
  if (word == "ro") return records::ACCESS_RO;
  return bad(name, fmt::format("access '{}': must be rw or ro", word));
}

Result<records::Squash> parse_squash(const std::string& name, const std::string& word) {
  if (word == "root") return records::SQUASH_ROOT;
  if (word == "none") return records::SQUASH_NONE;
  if (word == "all") return records::SQUASH_ALL;
  return bad(name, fmt::format("squash '{}': must be root, none or all", word));
}

Status set_clients(const std::string& name, const std::vector<std::string>& clients,
                   records::ExportRecord& record) {
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

Result<std::vector<records::Security>> security_of(
    const std::string& name, const Result<std::vector<records::Security>>& parsed) {
  if (!parsed) return bad(name, parsed.error().message);
  return parsed;
}

// One option of exports(5) of a rule. False: there is no such option.
Result<bool> set_rule_option(const std::string& name, std::string_view word,
                             records::ClientRule& rule) {
  const auto id = [&](std::string_view prefix) {
    return parse_id(name, word.substr(prefix.size()));
  };
  if (word == "rw" || word == "ro") {
    rule.set_access(word == "rw" ? records::ACCESS_RW : records::ACCESS_RO);
  } else if (word == "root_squash" || word == "no_all_squash") {
    rule.set_squash(records::SQUASH_ROOT);
  } else if (word == "no_root_squash") {
    rule.set_squash(records::SQUASH_NONE);
  } else if (word == "all_squash") {
    rule.set_squash(records::SQUASH_ALL);
  } else if (word.starts_with("anonuid=")) {
    SYMNAS_ASSIGN(const std::uint32_t uid, id("anonuid="));
    rule.set_anon_uid(uid);
  } else if (word.starts_with("anongid=")) {
    SYMNAS_ASSIGN(const std::uint32_t gid, id("anongid="));
    rule.set_anon_gid(gid);
  } else if (word.starts_with("sec=")) {
    SYMNAS_ASSIGN(const auto flavors, security_of(name, parse_security(word.substr(4))));
    rule.clear_sec();
    for (const records::Security one : flavors) rule.add_sec(one);
  } else {
    return false;
  }
  return true;
}

// An address of IPv6 has colons, too, and so has the option sec=: what follows the last one before
// that are options if no group of digits of an address looks like it.
Result<records::ClientRule> parse_rule(const std::string& name, const std::string& text) {
  std::string_view who(text);
  std::string_view options;
  const std::size_t colon = who.substr(0, who.find("sec=")).rfind(':');
  if (colon != who.npos && who.find_first_of("ghijklmnopqrstuvwxyz=", colon) != who.npos) {
    options = who.substr(colon + 1);
    who = who.substr(0, colon);
  }
  records::ClientRule rule;
  SYMNAS_ASSIGN(const std::string normalised, normalise_who(who));
  rule.set_who(normalised);
  while (!options.empty()) {
    const std::string_view word = options.substr(0, options.find(','));
    options.remove_prefix(std::min(options.size(), word.size() + 1));
    SYMNAS_ASSIGN(const bool known, set_rule_option(name, word, rule));
    if (!known) {
      return bad(name, fmt::format("client {}: option '{}' is not known (ro, rw, root_squash, "
                                   "no_root_squash, all_squash, anonuid=N, anongid=N, "
                                   "sec=FLAVOR:FLAVOR)",
                                   who, word));
    }
  }
  return rule;
}

Status set_rules(const std::string& name, const std::vector<std::string>& rules,
                 records::ExportRecord& record) {
  record.clear_rules();
  if (rules.size() == 1 && rules[0].empty()) return {};
  if (rules.size() > kClientsPerExportMax) {
    return bad(name, fmt::format("more than {} clients", kClientsPerExportMax));
  }
  for (const std::string& text : rules) {
    SYMNAS_ASSIGN(const records::ClientRule rule, parse_rule(name, text));
    for (const records::ClientRule& other : record.rules()) {
      if (other.who() == rule.who()) {
        return bad(name, fmt::format("client {}: named twice", rule.who()));
      }
    }
    *record.add_rules() = rule;
  }
  return {};
}

// One of the two lists may be empty, and nobody may be in both.
Status check_clients(const std::string& name, const records::ExportRecord& record) {
  if (record.clients().empty() && record.rules().empty()) {
    return bad(name, "no clients: nobody could mount it (give networks, or '*' for everybody)");
  }
  for (const records::ClientRule& rule : record.rules()) {
    const auto& clients = record.clients();
    if (std::find(clients.begin(), clients.end(), rule.who()) != clients.end()) {
      return bad(name, fmt::format("client {}: named twice (--clients and --client)", rule.who()));
    }
  }
  return {};
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
  if (edit.rules) SYMNAS_TRY(set_rules(edit.name, *edit.rules, record));
  SYMNAS_TRY(check_clients(edit.name, record));
  if (edit.access) {
    SYMNAS_ASSIGN(const records::Access access, parse_access(edit.name, *edit.access));
    record.set_access(access);
  }
  if (edit.squash) {
    SYMNAS_ASSIGN(const records::Squash squash, parse_squash(edit.name, *edit.squash));
    record.set_squash(squash);
  }
  if (edit.anon) SYMNAS_TRY(set_anon(edit.name, *edit.anon, record));
  if (edit.manage_gids) {
    const std::string& word = *edit.manage_gids;
    if (word != "on" && word != "off" && !word.empty()) {
      return bad(edit.name, fmt::format("manage-gids '{}': must be on or off", word));
    }
    record.set_manage_gids(word == "on");
  }
  if (edit.sec) {
    SYMNAS_ASSIGN(const auto flavors, security_of(edit.name, parse_security(*edit.sec)));
    record.clear_sec();
    for (const records::Security one : flavors) record.add_sec(one);
  }
  if (edit.pseudo) SYMNAS_TRY(set_pseudo(edit.name, *edit.pseudo, record));
  return {};
}

bool changes_anything(const ExportEdit& edit) {
  return edit.clients || edit.rules || edit.access || edit.squash || edit.anon ||
         edit.manage_gids || edit.pseudo || edit.sec;
}

std::string rules_of(const records::ExportRecord& record) {
  std::string out;
  for (const EffectiveRule& rule : effective_rules(record)) {
    out += fmt::format("{}{} {}, squash {} to {}:{}{}", out.empty() ? "" : "; ", rule.who,
                       rule.access == records::ACCESS_RO ? "ro" : "rw",
                       rule.squash == records::SQUASH_ALL    ? "all"
                       : rule.squash == records::SQUASH_NONE ? "none"
                                                             : "root",
                       rule.anon.uid, rule.anon.gid,
                       rule.security == std::vector{records::SECURITY_SYS}
                           ? ""
                           : ", sec " + security_text(rule.security));
  }
  return out;
}

}  // namespace symnas::vnfsd
