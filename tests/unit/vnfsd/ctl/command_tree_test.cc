// The whole tree of commands: examples, manual pages, suggestions.
#include "vnfsd/ctl/command_tree.h"

#include <sstream>

#include <gtest/gtest.h>

#include "vnfsd/ctl/commands.h"
#include "vnfsd/ctl/details.h"
#include "vnfsd/ctl/examples.h"
#include "vnfsd/ctl/man_page.h"
#include "vnfsd/ctl/suggestions.h"
#include "vnfsd/ctl/value_kinds.h"

namespace symnas::vnfsd::ctl {
namespace {

class CommandTreeTest : public ::testing::Test {
 protected:
  CommandTreeTest() { add_commands(line); }
  std::vector<std::string> leaves() const {
    std::vector<std::string> out;
    for_each_command(app, [&](const std::string& path, const CLI::App& command) {
      if (verbs_of(command).empty()) out.push_back(path.substr(1));
    });
    return out;
  }
  CLI::App app{"Manage a cluster", "symnas"};
  CommandLine line{app, {}};
};

// The words of a line, as a shell divides it; it may have '...'.
std::vector<std::string> words_of_line(const std::string& line) {
  std::vector<std::string> words(1);
  bool quoted = false;
  for (const char c : line) {
    if (c == '\'') {
      quoted = !quoted;
    } else if (c == ' ' && !quoted) {
      words.emplace_back();
    } else {
      words.back() += c;
    }
  }
  return words;
}

TEST_F(CommandTreeTest, EveryCommandHasExamplesThatParse) {
  for (const std::string& path : leaves()) {
    const auto examples = examples_of(*find_command(app, path));
    EXPECT_FALSE(examples.empty()) << path << " has no example (vnfsd/ctl/examples.cc)";
    for (const std::string& example : examples) {
      EXPECT_EQ(example.rfind(path, 0), 0u) << example << " is no example of " << path;
      std::vector<std::string> words = words_of_line(example);
      std::reverse(words.begin(), words.end());
      CLI::App fresh("Manage a cluster", "symnas");
      CommandLine of_fresh{fresh, {}};
      add_commands(of_fresh);
      EXPECT_NO_THROW(fresh.parse(words)) << example;
      EXPECT_TRUE(of_fresh.action) << example;
    }
  }
}

TEST_F(CommandTreeTest, EveryCommandAndOptionIsInItsManualPage) {
  for (const std::string& group : man_groups(app)) {
    const std::string page = man_page(app, group, "January 1, 2026");
    const CLI::App& noun = *app.get_subcommand(group);
    const auto look = [&](const std::string& path, const CLI::App& command) {
      if (!verbs_of(command).empty()) return;
      std::string title = ".Ss " + group + path + "\n";
      for (std::size_t at = 0; (at = title.find('-', at)) != std::string::npos; at += 2)
        title.insert(at, 1, '\\');
      EXPECT_NE(page.find(title), std::string::npos) << title;
      for (const CLI::Option* option : command.get_options()) {
        for (const std::string& name : option->get_lnames()) {
          std::string shown = "\\-\\-" + name;
          for (std::size_t at = 4; (at = shown.find('-', at)) != std::string::npos; at += 2)
            shown.insert(at, 1, '\\');
          if (name == "help") continue;
          EXPECT_NE(page.find(shown), std::string::npos) << group << shown;
        }
      }
    };
    look("", noun);
    for_each_command(noun, look);
  }
  EXPECT_NE(man_page(app, "", "January 1, 2026").find("Xr symnas\\-vnfs 1\n"), std::string::npos);
}

TEST_F(CommandTreeTest, HiddenCommandsAreInNoList) {
  for (const std::string& path : leaves()) {
    EXPECT_NE(path, "complete-names");
    EXPECT_NE(path, "man");
  }
  EXPECT_NE(find_command(app, "complete-names"), nullptr);
}

TEST_F(CommandTreeTest, DetailsAreOfCommandsThatExist) {
  EXPECT_NE(details_of("vnfs rehost"), "");
  EXPECT_EQ(details_of("vnfs"), "");
}

TEST_F(CommandTreeTest, SaysWhatWasMeant) {
  EXPECT_EQ(meant_by(app, {"statsu"}), "statsu: did you mean status?");
  EXPECT_EQ(meant_by(app, {"vnfs", "rehots", "vnfs1"}), "rehots: did you mean rehost?");
  EXPECT_EQ(meant_by(app, {"vnfs", "set", "vnfs1", "--head=c1n1"}),
            "--head: did you mean --heads?");
  EXPECT_EQ(meant_by(app, {"vnfs", "rehost", "vnfs1", "c1n1"}), "");
  EXPECT_EQ(meant_by(app, {"banana"}), "");
  EXPECT_EQ(meant_by(app, {}), "");
}

TEST_F(CommandTreeTest, KnowsWhatValuesAre) {
  const auto kind = [&](const std::string& path, const std::string& name) {
    return value_kind(path, *find_command(app, path)->get_option(name));
  };
  EXPECT_EQ(kind("vnfs rehost", "NAME"), "vnfs");
  EXPECT_EQ(kind("vnfs rehost", "HEAD"), "heads");
  EXPECT_EQ(kind("vnfs set", "--failback"), "=auto manual");
  EXPECT_EQ(kind("vnfs create", "NAME"), "-");
  EXPECT_EQ(kind("vnfs create", "--heads"), "heads,");
  EXPECT_EQ(kind("export set", "NAME"), "exports");
  EXPECT_EQ(kind("fs rm", "NAME"), "filesystems");
  EXPECT_EQ(kind("etcd rm", "NAME"), "members");
  EXPECT_EQ(kind("head join", "--bundle"), "files");
  EXPECT_EQ(kind("explain", "CODE").rfind("=invalid_argument ", 0), 0u);
}

TEST_F(CommandTreeTest, SynopsisShowsWhatIsNeeded) {
  EXPECT_EQ(synopsis_of(*find_command(app, "vnfs rehost"), " vnfs rehost"),
            "vnfs rehost NAME HEAD [--dry-run] [--timeout N]");
}

}  // namespace
}  // namespace symnas::vnfsd::ctl
