// symnas man: writes the manual pages. Hidden: packages call it.
#include <cstdlib>
#include <ctime>
#include <fstream>

#include <fmt/chrono.h>
#include <fmt/core.h>

#include "vnfsd/ctl/commands.h"
#include "vnfsd/ctl/man_page.h"

namespace symnas::vnfsd::ctl {
namespace {

// Of SOURCE_DATE_EPOCH, so that the same sources give the same pages (reproducible-builds.org), or
// of today.
std::string date_of_pages() {
  const char* const epoch = std::getenv("SOURCE_DATE_EPOCH");
  std::time_t seconds = std::time(nullptr);
  if (epoch != nullptr) seconds = static_cast<std::time_t>(std::strtoll(epoch, nullptr, 10));
  const std::tm day = fmt::gmtime(seconds);
  return fmt::format("{:%B} {}, {:%Y}", day, day.tm_mday, day);
}

Status write_page(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  file.close();
  if (file) return {};
  return fail(ErrorCode::kIo, fmt::format("man: {} cannot be written", path));
}

Status write_pages(const CLI::App& app, const std::string& directory) {
  SYMNAS_TRY(write_page(directory + "/symnas.1", man_page(app, "", date_of_pages())));
  for (const std::string& group : man_groups(app)) {
    SYMNAS_TRY(write_page(fmt::format("{}/symnas-{}.1", directory, group),
                          man_page(app, group, date_of_pages())));
  }
  return {};
}

Status print_page(Context& context, const CLI::App& app, const std::string& group) {
  bool known = group.empty();
  for (const std::string& one : man_groups(app)) known = known || one == group;
  if (!known) return fail(ErrorCode::kNotFound, fmt::format("man {}: no such page", group));
  context.out << man_page(app, group, date_of_pages());
  return {};
}

}  // namespace

void add_man(CommandLine& line) {
  struct Options {
    std::string group, directory;
  };
  auto o = std::make_shared<Options>();
  CLI::App* verb = line.app.add_subcommand("man", "Print a manual page, or write all of them");
  verb->group("");
  verb->add_option("GROUP", o->group, "The page symnas-GROUP(1); without it: symnas(1)");
  verb->add_option("--out", o->directory, "Directory for all pages");
  verb->callback([&line, o] {
    line.action = [&line, o](Context& context) {
      return o->directory.empty() ? print_page(context, line.app, o->group)
                                  : write_pages(line.app, o->directory);
    };
  });
}

}  // namespace symnas::vnfsd::ctl
