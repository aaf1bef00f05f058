// What must not leave a head, and how it is struck out of what does. Pure.
// Thread-safe: functions without state; Secrets is thread-compatible.
//
// Invariant: a text that went through Secrets::strike() holds no value that was added, no PEM
// private key, and nothing that follows a name of a secret (is_secret_name) as its value.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace symnas::vnfsd::support {

inline constexpr std::string_view kLeftOut = "(left out)";

// "passwd", "snmp_priv_passwd", "clientSecret", "probe_key", ...
bool is_secret_name(std::string_view name);
// Whether a file is never taken, whatever it is asked for: keys, keytabs, bundles, all below tls/.
bool must_stay(std::string_view path);

class Secrets {
 public:
  // From now on the value is struck out, also in JSON, base64 and hexadecimal. A value of less than
  // kSecretBytesMin bytes is not: it would be found in everything.
  void add(std::string_view value);
  std::string strike(std::string text) const;
  // The same for every text in the document; what has the name of a secret goes as a whole.
  nlohmann::json strike_document(const nlohmann::json& document) const;

 private:
  std::vector<std::string> forms_;  // longest first
};

struct SafeConfig {
  std::string text;
  Secrets secrets;  // that stood in it
};
// A vnfsd.toml: its settings, without comments, values of fence options and the admission. Of one
// that vnfsd would refuse, the lines that are simple known settings.
SafeConfig safe_config(std::string_view text);
// An etcd.yml: its lines without comments.
std::string safe_etcd_config(std::string_view text, const Secrets& secrets);

}  // namespace symnas::vnfsd::support
