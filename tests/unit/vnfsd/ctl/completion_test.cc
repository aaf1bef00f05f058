#include "vnfsd/ctl/completion.h"

#include <gtest/gtest.h>

namespace symnas::vnfsd::ctl {
namespace {

// What the scripts do in their shells: tests/shells.
class CompletionTest : public ::testing::Test {
 protected:
  CompletionTest() {
    app.add_option("--socket", socket);
    CLI::App* noun = app.add_subcommand("vnfs");
    CLI::App* verb = noun->add_subcommand("rehost");
    verb->add_option("NAME", name);
    verb->add_option("HEAD", head);
    verb->add_option("--failback", policy)->check(CLI::IsMember({"auto", "manual"}));
    verb->add_option("--watch")->expected(0, 1);
    verb->add_flag("--no-wait");
    app.add_subcommand("status");
    app.add_subcommand("hidden")->group("");
  }
  std::string socket, name, head, policy;
  CLI::App app;
};

TEST_F(CompletionTest, EachCommandHasItsVerbsOptionsAndValues) {
  for (const char* shell : {"bash", "zsh"}) {
    const std::string script = completion_script(app, shell);
    for (const char* line :
         {"    \"\") echo \"vnfs status\" ;;\n", "    \" vnfs\") echo \"rehost\" ;;\n",
          "    \" vnfs rehost\") echo \"--failback --watch --no-wait $every\" ;;\n",
          "    \" vnfs rehost:1\") echo \"vnfs\" ;;\n",
          "    \" vnfs rehost:2\") echo \"heads\" ;;\n",
          "    \" vnfs rehost:--failback\") echo \"=auto manual\" ;;\n",
          "    *\":--socket\") echo \"files\" ;;\n"})
      EXPECT_NE(script.find(line), std::string::npos) << line << script;
    EXPECT_EQ(script.find("hidden"), std::string::npos);
    EXPECT_EQ(script.find(":--watch"), std::string::npos);
    EXPECT_EQ(script.find(":--no-wait"), std::string::npos);
  }
}

TEST_F(CompletionTest, EachShellHasItsOwnForm) {
  EXPECT_EQ(completion_script(app, "zsh").rfind("#compdef symnas\n", 0), 0u);
  EXPECT_NE(completion_script(app, "bash").find("\ncomplete -o default -F _symnas symnas\n"),
            std::string::npos);
}

}  // namespace
}  // namespace symnas::vnfsd::ctl
