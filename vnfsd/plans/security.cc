#include "vnfsd/plans/security.h"

#include <algorithm>

#include <fmt/core.h>

#include "vnfsd/plans/exports.h"

namespace symnas::vnfsd {
namespace {

constexpr records::Security kAll[] = {records::SECURITY_SYS, records::SECURITY_KRB5,
                                      records::SECURITY_KRB5I, records::SECURITY_KRB5P};

}  // namespace

const char* security_word(records::Security security) {
  switch (security) {
    case records::SECURITY_SYS: return "sys";
    case records::SECURITY_KRB5: return "krb5";
    case records::SECURITY_KRB5I: return "krb5i";
    default: return "krb5p";  // protobuf enums are open: the strictest reading
  }
}

Result<std::vector<records::Security>> parse_security(const std::vector<std::string>& words) {
  std::vector<records::Security> flavors;
  for (const std::string& word : words) {
    const auto* found = std::find_if(std::begin(kAll), std::end(kAll),
                                     [&](auto one) { return security_word(one) == word; });
    if (found == std::end(kAll)) {
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("sec '{}': must be of sys, krb5, krb5i and krb5p", word));
    }
    if (std::find(flavors.begin(), flavors.end(), *found) != flavors.end())
      return fail(ErrorCode::kInvalidArgument, fmt::format("sec {}: named twice", word));
    flavors.push_back(*found);
  }
  return flavors;
}

Result<std::vector<records::Security>> parse_security(std::string_view text) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(':', at), text.size());
    words.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parse_security(words);
}

std::string security_text(const std::vector<records::Security>& flavors,
                          std::string_view separator) {
  std::string text;
  for (const records::Security one : flavors)
    text += fmt::format("{}{}", text.empty() ? "" : separator, security_word(one));
  return text;
}

bool uses_kerberos(const records::ExportRecord& exported) {
  const std::vector<EffectiveRule> rules = effective_rules(exported);
  return std::any_of(rules.begin(), rules.end(), [](const EffectiveRule& rule) {
    return rule.security != std::vector{records::SECURITY_SYS};
  });
}

bool needs_kerberos(const records::ExportRecord& exported) {
  const std::vector<EffectiveRule> rules = effective_rules(exported);
  return std::any_of(rules.begin(), rules.end(), [](const EffectiveRule& rule) {
    return std::find(rule.security.begin(), rule.security.end(), records::SECURITY_SYS) ==
           rule.security.end();
  });
}

}  // namespace symnas::vnfsd
