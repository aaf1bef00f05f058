#include "vnfsd/ctl/commands_scrub.h"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "vnfsd/names/byte_size.h"

namespace symnas::vnfsd::ctl {
namespace {

using nlohmann::json;

struct ScrubOptions {
  std::vector<std::string> luns;
  std::string rate;
  bool all = false, anew = false, status = false, stop = false;
};

void print_bad(std::ostream& out, const json& scrub) {
  const std::string lun = scrub.value("lun", "");
  if (const std::string label = scrub.value("label", ""); !label.empty())
    out << fmt::format("lun {}: label: {}\n", lun, label);
  for (const json& bad : scrub.value("bad", json::array())) {
    out << fmt::format("lun {}: {} bytes at byte {}: {}", lun, bad.value("bytes", 0ULL),
                       bad.value("byte", 0ULL), bad.value("error", ""));
    if (bad.contains("ino"))
      out << fmt::format(": fs {}, {} (inode {}), byte {}", bad.value("filesystem", ""),
                         bad.value("path", "path not known yet"), bad.value("ino", 0ULL),
                         bad.value("file_byte", 0ULL));
    out << "\n";
  }
}

Status show(Context& context) {
  SYMNAS_ASSIGN(json document, context.client.request("GET", "/v1/scrubs", {}));
  if (context.output == Output::kTable) {
    for (json& scrub : document["scrubs"]) {
      scrub["percent"] = fmt::format("{:.1f} %", scrub.value("share", 0.0) * 100);
      print_bad(context.out, scrub);
    }
  }
  return context.print(document, "scrubs",
                       {plain("LUN", "lun"), state("STATE", "state"), plain("DONE", "percent"),
                        size("READ", "read_bytes"), size("BAD", "bad_bytes"), plain("HEAD", "head"),
                        size("RATE/S", "bytes_per_second")});
}

// Those that were named; none: all.
Result<std::vector<std::string>> chosen(Context& context, const ScrubOptions& o) {
  if (!o.luns.empty()) return o.luns;
  SYMNAS_ASSIGN(const json found,
                context.client.request("GET", o.stop ? "/v1/scrubs" : "/v1/luns", {}));
  std::vector<std::string> out;
  for (const json& one : found.value(o.stop ? "scrubs" : "luns", json::array()))
    if (!o.stop || one.value("state", "") == "running")
      out.push_back(one.value(o.stop ? "lun" : "name", ""));
  return out;
}

Status scrub(Context& context, const ScrubOptions& o) {
  if (o.status) return show(context);
  json body = {{"all", o.all}, {"anew", o.anew}};
  if (!o.rate.empty()) {
    SYMNAS_ASSIGN(const std::uint64_t rate, parse_byte_size(o.rate));
    body["bytes_per_second"] = rate;
  }
  SYMNAS_ASSIGN(const std::vector<std::string> luns, chosen(context, o));
  for (const std::string& lun : luns) {
    SYMNAS_TRY(check_path_name(lun));
    SYMNAS_TRY(context.change("POST", "/v1/luns/" + lun + (o.stop ? "/scrub-stop" : "/scrub"),
                              o.stop ? json::object() : body));
  }
  return {};
}

}  // namespace

void add_lun_scrub(CommandLine& line, CLI::App* noun) {
  auto o = std::make_shared<ScrubOptions>();
  CLI::App* verb =
      noun->add_subcommand("scrub", "Read LUNs slowly in the background: what cannot be read?");
  verb->add_option("LUN", o->luns, "These; all unless given");
  CLI::Option* rate =
      verb->add_option("--rate", o->rate, "Bytes per second of each, at most: 16M unless given");
  CLI::Option* all = verb->add_flag("--all-blocks", o->all, "Also blocks that no file has");
  CLI::Option* anew =
      verb->add_flag("--anew", o->anew, "From the beginning, not where a stopped one was");
  CLI::Option* status = verb->add_flag("--status", o->status, "Only show how far scrubs are");
  CLI::Option* stop = verb->add_flag("--stop", o->stop, "Stop them; they can go on later");
  for (CLI::Option* option : {rate, all, anew}) option->excludes(status)->excludes(stop);
  status->excludes(stop);
  verb->callback([&line, o] { line.action = [o](Context& c) { return scrub(c, *o); }; });
}

}  // namespace symnas::vnfsd::ctl
