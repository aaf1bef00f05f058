// symnas oranfstab: the file of Oracle's Direct NFS Client for the VIPs of VNFSs; with --check
// whether each of its paths works from here.
#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "vnfsd/ctl/commands.h"
#include "vnfsd/ctl/exit_code.h"
#include "vnfsd/ctl/nfs_path.h"
#include "vnfsd/ctl/oranfstab.h"

namespace symnas::vnfsd::ctl {
namespace {

using nlohmann::json;

constexpr std::int64_t kAskMs = 2000;  // more than a resent SYN, and a move under way

struct Options {
  OranfstabWish wish;
  bool check = false;
};

json finding(const std::string& subject, bool problem, const std::string& what,
             const std::string& next) {
  return {{"subject", subject},
          {"verdict", problem ? "problem" : "fine"},
          {"what", what},
          {"next", next}};
}

Status check(Context& context, const Oranfstab& plan) {
  json rows = json::array();
  for (const OranfstabPath& path : plan.paths) {
    const PathWords words =
        words_of(ask_path(path.local, path.vip, kAskMs), path.local, path.vip, path.vnfs);
    const std::string from = path.local.empty() ? "" : " from " + path.local;
    rows.push_back(
        finding(fmt::format("path {}{}", path.vip, from), words.problem, words.what, words.next));
    if (words.problem) context.exit_code = kExitFindings;
  }
  for (const OranfstabRemark& remark : plan.remarks) {
    rows.push_back(finding(remark.subject, true, remark.what, remark.next));
    context.exit_code = kExitFindings;
  }
  return context.print({{"findings", rows}}, "findings",
                       {plain("SUBJECT", "subject"), plain("VERDICT", "verdict"),
                        plain("SEEN", "what"), plain("WHAT TO DO", "next")});
}

Status oranfstab(Context& context, const Options& options) {
  SYMNAS_ASSIGN(const json vnfs, rows_of(context, "vnfs"));
  SYMNAS_ASSIGN(const json exports, rows_of(context, "exports"));
  SYMNAS_ASSIGN(const Oranfstab plan, plan_oranfstab(options.wish, vnfs, exports));
  if (options.check) return check(context, plan);
  if (context.output == Output::kJson)
    context.out << document_of(plan).dump(2) << "\n";
  else
    context.out << text_of(plan);
  return {};
}

}  // namespace

void add_oranfstab(CommandLine& line) {
  auto options = std::make_shared<Options>();
  OranfstabWish& wish = options->wish;
  CLI::App* verb = line.app.add_subcommand(
      "oranfstab", "The file of Oracle's Direct NFS Client for a database host");
  verb->add_option("--client", wish.client, "The database host: a name or an address")->required();
  verb->add_option("--vnfs", wish.vnfs, "VNFSs whose VIPs become its paths")
      ->delimiter(',')
      ->required();
  verb->add_option("--server", wish.server,
                   "Name of the entry; the names of the VNFSs if not given");
  verb->add_option("--local", wish.locals, "Addresses of the database host, one for each path")
      ->delimiter(',');
  verb->add_option("--mount", wish.mount, "Directory where the host mounts it; /mnt/EXPORT");
  verb->add_flag("--check", options->check,
                 "Ask each path from this host: does NFS answer, do large packets pass?");
  verb->callback([&line, options] {
    line.action = [options](Context& context) { return oranfstab(context, *options); };
  });
}

}  // namespace symnas::vnfsd::ctl
