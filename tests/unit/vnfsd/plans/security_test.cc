#include "vnfsd/plans/security.h"

#include <gtest/gtest.h>

#include "vnfsd/plans/export_options.h"
#include "vnfsd/plans/exports.h"

namespace symnas::vnfsd {
namespace {

Result<records::ExportRecord> with(std::vector<std::string> rules, std::vector<std::string> sec) {
  ExportEdit edit;
  edit.name = "e";
  edit.clients = {"10.0.0.0/24"};
  if (!rules.empty()) edit.rules = std::move(rules);
  edit.sec = std::move(sec);
  records::ExportRecord record;
  record.set_name("e");
  SYMNAS_TRY(set_export_options(edit, record));
  return record;
}

std::string of(const Result<records::ExportRecord>& record) {
  if (!record) return record.error().message;
  std::string out;
  for (const EffectiveRule& rule : effective_rules(*record))
    out += rule.who + "=" + security_text(rule.security) + " ";
  return out;
}

TEST(Security, WordsAndTheirOrder) {
  EXPECT_EQ(security_text(*parse_security("krb5p:krb5:sys")), "krb5p:krb5:sys");
  EXPECT_EQ(security_text(*parse_security("krb5i"), ", "), "krb5i");
  for (const char* text : {"", "krb", "krb5:", ":krb5", "krb5:krb5", "KRB5", "krb5,krb5i", "none"})
    EXPECT_FALSE(parse_security(std::string_view(text))) << text;
}

TEST(Security, ARuleHasTheExportsUnlessItSaysMore) {
  EXPECT_EQ(of(with({}, {})), "10.0.0.0/24=sys ");
  EXPECT_EQ(of(with({}, {"krb5p", "krb5"})), "10.0.0.0/24=krb5p:krb5 ");
  EXPECT_EQ(of(with({"10.0.0.7:rw,sec=krb5:krb5i", "10.0.0.8:ro"}, {"krb5p"})),
            "10.0.0.7/32=krb5:krb5i 10.0.0.8/32=krb5p 10.0.0.0/24=krb5p ");
  EXPECT_EQ(of(with({"fd00::/64:sec=krb5:sys,no_root_squash"}, {})),
            "fd00::/64=krb5:sys 10.0.0.0/24=sys ");
  EXPECT_EQ(of(with({"*.x.org:sec=krb5"}, {})), "10.0.0.0/24=sys *.x.org=krb5 ");
  EXPECT_NE(of(with({"10.0.0.7:sec=krb4"}, {})).find("krb4"), std::string::npos);
}

TEST(Security, WhoUsesAndWhoNeedsKerberos) {
  EXPECT_FALSE(uses_kerberos(*with({}, {})));
  EXPECT_TRUE(uses_kerberos(*with({}, {"sys", "krb5"})));
  EXPECT_FALSE(needs_kerberos(*with({}, {"sys", "krb5"})));
  EXPECT_TRUE(needs_kerberos(*with({"10.0.0.7:sec=krb5"}, {})));
}

}  // namespace
}  // namespace symnas::vnfsd
