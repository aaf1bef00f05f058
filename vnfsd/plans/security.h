// Security flavors of exports (sec= of exports(5)), from and to words. Thread-safe: pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "vnfsd/records/records.pb.h"

namespace symnas::vnfsd {

// "sys", "krb5", "krb5i", "krb5p".
const char* security_word(records::Security security);
// Errors: kInvalidArgument (unknown, or named twice; which words there are).
Result<std::vector<records::Security>> parse_security(const std::vector<std::string>& words);
// The same, from words with colons between them, as exports(5) has it: "krb5:krb5i".
Result<std::vector<records::Security>> parse_security(std::string_view text);
// "krb5:krb5i". `separator`: ", " for ganesha.conf.
std::string security_text(const std::vector<records::Security>& flavors,
                          std::string_view separator = ":");

// Whether some client of the export may, or has to, come with Kerberos.
bool uses_kerberos(const records::ExportRecord& exported);
// Whether some client of the export has nothing else.
bool needs_kerberos(const records::ExportRecord& exported);

}  // namespace symnas::vnfsd
