#include "vnfsd/support/redact.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace symnas::vnfsd::support {
namespace {

using nlohmann::json;

std::string struck(const std::string& text) { return Secrets().strike(text); }

TEST(SecretsTest, WhatFollowsTheNameOfASecretIsLeftOut) {
  EXPECT_EQ(struck("a\npasswd=hunter2\nb"), "a\npasswd=(left out)\nb");
  EXPECT_EQ(struck("Password: two words\nb"), "Password: (left out)\nb");
  const std::string quoted = R"("snmp_priv_passwd" : "a \"b\" c", "n": 1)";
  EXPECT_EQ(struck(quoted), "\"snmp_priv_passwd\" : \"(left out)\", \"n\": 1");
  EXPECT_EQ(struck("[\"passwd=it's\", \"plug=3\"]"), "[\"passwd=(left out)\", \"plug=3\"]");
  EXPECT_EQ(struck("run --client-secret hunter2"), "run --client-secret (left out)");
  EXPECT_EQ(struck("run --password=hunter2"), "run --password=(left out)");
  EXPECT_EQ(struck("passphrase = 'x y'"), "passphrase = '(left out)'");
  EXPECT_EQ(struck("\"passwords\": [\"hunter2\", \"x\"]"), "\"passwords\": (left out)");
  EXPECT_EQ(struck("Authorization: Basic YTpi"), "Authorization: (left out)");
  EXPECT_EQ(struck("passwd=a passwd=b"), "passwd=(left out)");
  EXPECT_EQ(struck("no password here"), "no password here");
  EXPECT_EQ(struck("password="), "password=");
}

TEST(SecretsTest, PrivateKeysAreLeftOut) {
  const std::string begin = "-----BEGIN EC PRIVATE KEY-----";
  const std::string end = "-----END EC PRIVATE KEY-----";
  EXPECT_EQ(struck("a\n" + begin + "\nMHcC\n" + end + "\nb"), "a\n(left out)\nb");
  EXPECT_EQ(struck("{\"key\":\"" + begin + "\\nMHcC\\n" + end + "\"}"), "{\"key\":\"(left out)\"}");
  EXPECT_EQ(struck("a\n" + begin + "\nMHcC\n"), "a\n(left out)") << "its end is missing";
  EXPECT_EQ(struck("MHcC\n" + end + "\nb"), "(left out)\nb") << "its beginning is missing";
  EXPECT_EQ(struck(begin + "\nAAAA\n" + end + "\nx\n" + begin + "\nBBBB\n" + end),
            "(left out)\nx\n(left out)");
  const std::string certificate = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----";
  EXPECT_EQ(struck(certificate), certificate);
}

TEST(SecretsTest, LoginsInUrlsAreLeftOut) {
  EXPECT_EQ(struck("GET https://admin:pw@10.0.0.1/x"), "GET https://(left out)@10.0.0.1/x");
  EXPECT_EQ(struck("https://10.0.0.1:2379 a@b"), "https://10.0.0.1:2379 a@b");
}

TEST(SecretsTest, AddedValuesAreFoundInEveryForm) {
  Secrets secrets;
  secrets.add("hunter2\"x");
  secrets.add("abc");  // too short
  const std::string found = secrets.strike(
      "raw hunter2\"x json hunter2\\\"x base64 aHVudGVyMiJ4 hex 68756e746572322278 "
      "HEX 68756E746572322278 abc");
  EXPECT_EQ(found,
            "raw (left out) json (left out) base64 (left out) hex (left out) "
            "HEX (left out) abc");
}

TEST(SecretsTest, DocumentsLoseSecretsAtEveryDepth) {
  Secrets secrets;
  secrets.add("hunter2");
  const json document = {{"probe_key", "00ff"},
                         {"a", {{{"fencePassword", 1234}}, "said hunter2", 7}},
                         {"secrets", {{"x", "y"}}},
                         {"passwd=hunter3", "kept"},
                         {"line", "passwd=hunter3"}};
  const std::string text = secrets.strike_document(document).dump();
  for (const char* secret : {"00ff", "1234", "hunter", "\"y\""})
    EXPECT_EQ(text.find(secret), std::string::npos) << secret << " in " << text;
  EXPECT_NE(text.find("7"), std::string::npos);
}

TEST(MustStayTest, KeysAndWhatLiesBesideThem) {
  for (const char* path :
       {"/etc/symnas/tls/ca.crt", "/etc/symnas/tls/head.key", "/x/a.pem", "/etc/krb5.keytab",
        "/tmp/c1n2.bundle", "bundle.json", "/etc/krb5.KEYTAB", "tls/x", "/a/b.p12"})
    EXPECT_TRUE(must_stay(path)) << path;
  for (const char* path : {"/etc/symnas/vnfsd.toml", "/var/log/symnas/vnfs1.log", "/proc/version"})
    EXPECT_FALSE(must_stay(path)) << path;
}

}  // namespace
}  // namespace symnas::vnfsd::support
