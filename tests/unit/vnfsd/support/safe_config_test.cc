#include <gtest/gtest.h>

#include "vnfsd/config/config.h"
#include "vnfsd/support/redact.h"

namespace symnas::vnfsd::support {
namespace {

constexpr const char* kText = R"(# bmc password was Secret0
[cluster]
name = "lab"
uuid = "0e8c7a52-3c44-4b4e-9d0c-0a1b2c3d4e5f"
[head]
name = "c1n1"
address = "10.99.0.1" # Secret1
admission = "Secret2"
[etcd]
endpoints = ["https://root:Secret3@10.99.0.1:2379"]
ca = "/etc/symnas/tls/ca.crt"
cert = "/etc/symnas/tls/head.crt"
key = "/etc/symnas/tls/head.key"
[fence]
agent = "/usr/sbin/fence_ipmilan"
options = [ "ip=10.1.1.1", "login=Secret4", "passwd=Secret5",
  'p=Secret6', # Secret7
  "snmp_priv_passwd=/Secret8", """k=Secret9""",
]
)";

void expect_none(const std::string& text) {
  EXPECT_EQ(text.find("Secret"), std::string::npos) << text;
}

TEST(SafeConfigTest, SettingsStayAndSecretsGo) {
  ASSERT_TRUE(parse_config(kText, "x")) << parse_config(kText, "x").error().message;
  const SafeConfig safe = safe_config(kText);
  expect_none(safe.text);
  for (const char* kept : {"10.99.0.1", "/etc/symnas/tls/head.key", "ip=(left out)",
                           "passwd=(left out)", "/usr/sbin/fence_ipmilan"})
    EXPECT_NE(safe.text.find(kept), std::string::npos) << kept << " is not in " << safe.text;
}

TEST(SafeConfigTest, WhatItHeldIsStruckOutOfOtherTexts) {
  const SafeConfig safe = safe_config(kText);
  expect_none(safe.secrets.strike("Secret2 Secret5 Secret6 /Secret8 Secret9"));
  EXPECT_EQ(safe.secrets.strike("at 10.1.1.1"), "at 10.1.1.1") << "where the agent is is no secret";
}

TEST(SafeConfigTest, OfAFileThatVnfsdRefusesSimpleLinesStay) {
  for (const std::string& broken :
       {std::string(kText) + "[fence]\n", std::string(kText) + "misspelt = \"Secret10\"\n",
        std::string("[fence]\noptions = [\"passwd=Secret11\"\nagent = Secret12\nname = \"c1n1\"\n"),
        std::string("fence.options = ['passwd=Secret13']\nname = \"a=Secret14\"\n"
                    "address = \"10.99.0.1\" # Secret15\nca = \"\"\"Secret16\n"
                    "Secret17\n\"\"\"\nendpoints = [\"a\", \"pass=Secret18\"]\n"
                    "name = \"10.99.0.1\"\n")}) {
    ASSERT_FALSE(parse_config(broken, "x"));
    const SafeConfig safe = safe_config(broken);
    expect_none(safe.text);
    EXPECT_NE(safe.text.find("name = \""), std::string::npos) << safe.text;
  }
  const SafeConfig safe = safe_config(std::string(kText) + "x");
  expect_none(safe.secrets.strike("Secret5 Secret6 /Secret8"));
}

TEST(SafeConfigTest, EtcdConfigLosesComments) {
  const std::string text =
      "# Secret0\nname: c1n1 # Secret1\nlisten: https://u:Secret2@h:1\npassword: Secret3\n";
  EXPECT_EQ(safe_etcd_config(text, Secrets()),
            "name: c1n1\nlisten: https://(left out)@h:1\npassword: (left out)\n");
}

}  // namespace
}  // namespace symnas::vnfsd::support
