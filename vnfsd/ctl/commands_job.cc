// symnas job: long work that vnfsd does while nobody waits.
#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "vnfsd/ctl/commands.h"
#include "vnfsd/ctl/progress_bar.h"

namespace symnas::vnfsd::ctl {
namespace {

using nlohmann::json;

struct JobOptions {
  std::uint64_t id = 0;
  int timeout_s = 3600;
};

std::string share_text(const json& job) {
  if (!job.contains("share")) return "-";
  return fmt::format("{:.0f} %", job["share"].get<double>() * 100);
}

std::string began_text(const json& job) {
  return local_time(job.value("began_ns", std::int64_t{0}));
}

// What it does, or why it has ended so.
std::string told_text(const json& job) {
  if (job.contains("error")) return job["error"].value("message", "");
  return job.value("text", "");
}

std::vector<Column> columns() {
  return {plain("ID", "id"),           plain("KIND", "kind"),    plain("WHAT", "what"),
          plain("BY", "by"),           state("STATE", "state"),  Column{"SHARE", share_text},
          Column{"BEGAN", began_text}, Column{"SAYS", told_text}};
}

Status print_job(Context& context, const json& job) {
  if (context.output == Output::kJson) {
    context.out << job.dump(2) << "\n";
    return {};
  }
  SYMNAS_TRY(context.print({{"jobs", json::array({job})}}, "jobs", columns()));
  if (const std::string why = job.value("kept_by", "");
      !why.empty() && job.value("state", "") == "running")
    context.out << "cannot be cancelled: " << why << "\n";
  const json result = job.value("result", json::object());
  for (const json& line : result.value("done", json::array()))
    context.out << line.get<std::string>() << "\n";
  if (!result.empty() && !result.contains("done")) context.out << result.dump(2) << "\n";
  return {};
}

Status show(Context& context, const JobOptions& o) {
  SYMNAS_ASSIGN(const json reply,
                context.client.request("GET", fmt::format("/v1/jobs/{}", o.id), {}));
  return print_job(context, reply.value("job", json::object()));
}

Status wait(Context& context, const JobOptions& o) {
  SYMNAS_ASSIGN(const json job, follow_job(context, o.id, o.timeout_s));
  if (job.value("state", "") != "done") return tl::unexpected<Error>(error_of_job(job));
  return print_job(context, job);
}

Status cancel(Context& context, const JobOptions& o) {
  SYMNAS_ASSIGN(
      const json reply,
      context.client.request("POST", fmt::format("/v1/jobs/{}/cancel", o.id), json::object()));
  return print_job(context, reply.value("job", json::object()));
}

CLI::App* add_job_verb(CommandLine& line, CLI::App* noun, const std::string& verb,
                       const std::string& what, Status (*action)(Context&, const JobOptions&),
                       const std::shared_ptr<JobOptions>& o) {
  CLI::App* app = noun->add_subcommand(verb, what);
  app->add_option("ID", o->id, "Number of the job")->required();
  app->callback([&line, o, action] {
    line.action = [o, action](Context& context) { return action(context, *o); };
  });
  app->footer(fmt::format("Examples:\n  symnas job {} 3", verb));
  return app;
}

}  // namespace

void add_job(CommandLine& line) {
  CLI::App* noun = line.app.add_subcommand("job", "Long work that goes on by itself on this head");
  noun->require_subcommand(1);
  add_list_verb(line, noun, "jobs", columns());
  const auto o = std::make_shared<JobOptions>();
  add_job_verb(line, noun, "show", "A job and its result", show, o);
  add_job_verb(line, noun, "wait", "Wait until a job has ended; fails as the job did", wait, o)
      ->add_option("--timeout", o->timeout_s, "Seconds; the job goes on after them")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  add_job_verb(line, noun, "cancel", "Ask a job to end", cancel, o);
}

}  // namespace symnas::vnfsd::ctl
