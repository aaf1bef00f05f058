#include "vnfsd/ctl/terminal.h"

#include <fcntl.h>

#include <map>

#include <gtest/gtest.h>

#include "common/base/unique_fd.h"

namespace symnas::vnfsd::ctl {
namespace {

using Variables = std::map<std::string, std::string>;

Terminal terminal(int fd, const Variables& variables) {
  return terminal_of(fd, [&](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? "" : found->second;
  });
}

TEST(Terminal, AFileIsNone) {
  const UniqueFd file(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  const Terminal seen = terminal(file.get(), {{"TERM", "xterm"}, {"LANG", "C"}});
  EXPECT_FALSE(seen.is_terminal);
  EXPECT_EQ(seen.charset, Charset::kUtf8);  // what goes into a file is not cut down
}

TEST(Terminal, ItsEnvironmentSaysWhatItCan) {
  const UniqueFd pty(::open("/dev/ptmx", O_RDWR | O_CLOEXEC | O_NOCTTY));
  ASSERT_TRUE(pty.valid());
  EXPECT_TRUE(terminal(pty.get(), {}).is_terminal);
  EXPECT_TRUE(terminal(pty.get(), {}).is_dumb);
  EXPECT_TRUE(terminal(pty.get(), {{"TERM", "dumb"}}).is_dumb);
  EXPECT_FALSE(terminal(pty.get(), {{"TERM", "xterm"}}).is_dumb);
  EXPECT_TRUE(terminal(pty.get(), {{"NO_COLOR", "1"}}).no_colour);
  EXPECT_EQ(terminal(pty.get(), {{"LANG", "de_DE.UTF-8"}}).charset, Charset::kUtf8);
  EXPECT_EQ(terminal(pty.get(), {{"LC_ALL", "C"}, {"LANG", "de_DE.UTF-8"}}).charset,
            Charset::kAscii);
  EXPECT_EQ(terminal(pty.get(), {}).charset, Charset::kAscii);
}

}  // namespace
}  // namespace symnas::vnfsd::ctl
