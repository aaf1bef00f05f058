#include "vnfsd/ctl/completion.h"

#include <gtest/gtest.h>

namespace symnas::vnfsd::ctl {
namespace {

class CompletionTest : public ::testing::Test {
 protected:
  CompletionTest() {
    CLI::App* noun = app.add_subcommand("vnfs");
    CLI::App* verb = noun->add_subcommand("rehost");
    verb->add_option("NAME");
    verb->add_flag("--no-wait");
    app.add_subcommand("status");
  }
  CLI::App app;
};

TEST_F(CompletionTest, EachVerbHasItsVerbsAndOptions) {
  for (const char* shell : {"bash", "zsh"}) {
    const std::string script = completion_script(app, shell);
    const std::string everywhere = "-o --output --socket --help";
    for (const std::string& line :
         {"    \"\") echo \"vnfs status " + everywhere + "\" ;;\n",
          "    \" vnfs\") echo \"rehost " + everywhere + "\" ;;\n",
          "    \" vnfs rehost\") echo \"--no-wait " + everywhere + "\" ;;\n",
          "    \" status\") echo \"" + everywhere + "\" ;;\n"})
      EXPECT_NE(script.find(line), std::string::npos) << script;
  }
}

TEST_F(CompletionTest, EachShellHasItsOwnForm) {
  EXPECT_EQ(completion_script(app, "zsh").rfind("#compdef symnas\n", 0), 0u);
  EXPECT_NE(completion_script(app, "bash").find("\ncomplete -o default -F _symnas symnas\n"),
            std::string::npos);
}

}  // namespace
}  // namespace symnas::vnfsd::ctl
