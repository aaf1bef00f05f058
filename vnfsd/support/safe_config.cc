#include <algorithm>
#include <array>
#include <sstream>

#include "vnfsd/config/config.h"
#include "vnfsd/support/redact.h"

namespace symnas::vnfsd::support {
namespace {

// Options of fence agents that say where and how, not who: their values are in logs for a reason.
constexpr std::array<std::string_view, 22> kPlainOptions = {
    "ip",         "ipaddr",        "ipport",        "port",          "plug",         "action",
    "method",     "lanplus",       "cipher",        "delay",         "retry_on",     "ssl",
    "power_wait", "power_timeout", "login_timeout", "shell_timeout", "ssl_insecure", "timeout",
    "login",      "username",      "prefix",        "privlvl"};

// Settings whose values are no secret; options and admission are not among them.
constexpr std::array<std::string_view, 32> kPlainSettings = {"name",
                                                             "uuid",
                                                             "address",
                                                             "probe_addresses",
                                                             "endpoints",
                                                             "ca",
                                                             "cert",
                                                             "key",
                                                             "quota_bytes",
                                                             "compact_interval_s",
                                                             "compact_keep_s",
                                                             "compact_keep_revisions",
                                                             "run_dir",
                                                             "log_dir",
                                                             "socket",
                                                             "log_level",
                                                             "lun_paths",
                                                             "prefix",
                                                             "plugin_dir",
                                                             "rpcbind",
                                                             "threads_max",
                                                             "lease_s",
                                                             "grace_s",
                                                             "persistent_reservations",
                                                             "reservation_program",
                                                             "agent",
                                                             "cuts",
                                                             "timeout_s",
                                                             "automatic",
                                                             "settle_s",
                                                             "listen",
                                                             "client_ca"};

template <typename Names>
bool holds(const Names& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r'))
    text.remove_suffix(1);
  return text;
}

// Notes what a fence option says, unless it is known to be no secret, or a path.
void note_option(std::string_view option, Secrets& secrets) {
  const std::size_t equals = option.find('=');
  if (equals == std::string_view::npos) return secrets.add(option);
  const std::string_view name = trimmed(option.substr(0, equals));
  const std::string_view value = trimmed(option.substr(equals + 1));
  if (!is_secret_name(name) && (holds(kPlainOptions, name) || value.starts_with('/'))) return;
  secrets.add(value);
}

SafeConfig of_settings(Config config) {
  SafeConfig safe;
  for (std::string& option : config.fence.options) {
    note_option(option, safe.secrets);
    option = option.substr(0, option.find('=')) + "=" + std::string(kLeftOut);
  }
  safe.secrets.add(config.admission);
  if (!config.admission.empty()) config.admission = kLeftOut;
  safe.text = "# the settings, without comments\n" + safe.secrets.strike(render_config(config));
  return safe;
}

// Every "name=value" in quotes could be a fence option.
void note_quoted_options(std::string_view text, Secrets& secrets) {
  for (const char quote : {'"', '\''}) {
    for (std::size_t at = 0; (at = text.find(quote, at)) != std::string_view::npos;) {
      const std::size_t end = text.find_first_of(std::string{quote, '\n'}, at + 1);
      const std::string_view inside = text.substr(at + 1, end - at - 1);
      if (inside.find('=') != std::string_view::npos) note_option(inside, secrets);
      if (end == std::string_view::npos) break;
      at = text[end] == quote ? end + 1 : end;
    }
  }
}

// A string without quotes and escapes in it, a list of such, a number, true or false.
bool is_simple(std::string_view value) {
  const auto is_text = [](std::string_view v) {
    return v.size() >= 2 && (v.front() == '"' || v.front() == '\'') && v.back() == v.front() &&
           v.substr(1, v.size() - 2).find_first_of("\"'\\=#") == std::string_view::npos;
  };
  if (value == "true" || value == "false" || is_text(value)) return true;
  if (!value.empty() && value.find_first_not_of("0123456789_-") == std::string_view::npos)
    return true;
  if (value.size() < 2 || value.front() != '[' || value.back() != ']') return false;
  value = trimmed(value.substr(1, value.size() - 2));
  while (!value.empty()) {
    const std::size_t comma = value.find(',');
    if (!is_text(trimmed(value.substr(0, comma)))) return false;
    value = comma == std::string_view::npos ? "" : trimmed(value.substr(comma + 1));
  }
  return true;
}

std::string safe_line(std::string_view line) {
  line = trimmed(line);
  if (line.empty()) return "";
  const bool is_section = line.front() == '[' && line.back() == ']' &&
                          line.find_first_of("\"'=,") == std::string_view::npos;
  if (is_section) return std::string(line);
  const std::size_t equals = line.find('=');
  if (equals == std::string_view::npos) return std::string(kLeftOut);
  const std::string_view name = trimmed(line.substr(0, equals));
  if (!holds(kPlainSettings, name)) return std::string(kLeftOut);
  const std::string_view value = trimmed(line.substr(equals + 1));
  return std::string(name) + " = " + std::string(is_simple(value) ? value : kLeftOut);
}

}  // namespace

SafeConfig safe_config(std::string_view text) {
  if (Result<Config> config = parse_config(text, "vnfsd.toml")) return of_settings(*config);
  SafeConfig safe;
  note_quoted_options(text, safe.secrets);
  std::string lines = "# vnfsd refuses this file: only its simple lines\n";
  std::istringstream in{std::string(text)};
  for (std::string line; std::getline(in, line);) lines += safe_line(line) + "\n";
  safe.text = safe.secrets.strike(std::move(lines));
  return safe;
}

std::string safe_etcd_config(std::string_view text, const Secrets& secrets) {
  std::string lines;
  std::istringstream in{std::string(text)};
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with('#')) continue;
    const std::size_t comment = std::min(line.find(" #"), line.find("\t#"));
    lines += line.substr(0, comment) + "\n";
  }
  return secrets.strike(std::move(lines));
}

}  // namespace symnas::vnfsd::support
