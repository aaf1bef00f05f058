// symnas support-bundle: one archive for whoever helps.
#include <unistd.h>

#include <ctime>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "vnfsd/ctl/commands.h"
#include "vnfsd/support/bundle.h"

namespace symnas::vnfsd::ctl {
namespace {

std::string host_name() {
  char name[65] = {};  // HOST_NAME_MAX and the end
  return ::gethostname(name, sizeof name - 1) == 0 ? name : "head";
}

Status make(Context& context, support::BundleRequest request) {
  if (request.out.empty())
    request.out = support::default_bundle_name(host_name(), std::time(nullptr));
  const support::Agent agent = {[&](const std::string& path, int timeout_s) {
                                  context.client.wait_at_most(timeout_s);
                                  return context.client.request("GET", path, {});
                                },
                                [&](const std::string& path, int timeout_s) {
                                  context.client.wait_at_most(timeout_s);
                                  return context.client.text(path);
                                }};
  SYMNAS_ASSIGN(const support::Taken taken, support::make_bundle(request, agent));
  context.print_done(fmt::format("{}: {} files, {} could not be had (MANIFEST says which and why)",
                                 request.out, taken.members, taken.missing));
  return {};
}

}  // namespace

void add_support_bundle(CommandLine& line) {
  auto request = std::make_shared<support::BundleRequest>();
  request->config = "/etc/symnas/vnfsd.toml";
  CLI::App* verb = line.app.add_subcommand(
      "support-bundle",
      "Writes one archive for whoever helps you: configuration, records, logs, versions. Secrets "
      "are left out; it holds names and addresses");
  verb->add_option("--out", request->out,
                   "The file; symnas-support-HOST-TIME.tar.gz in this directory unless given");
  verb->add_option("--config", request->config, "vnfsd.toml of this head")->capture_default_str();
  verb->callback([&line, request] {
    line.action = [request](Context& context) { return make(context, *request); };
  });
}

}  // namespace symnas::vnfsd::ctl
