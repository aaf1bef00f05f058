// Jobs: long work that nobody waits for.
#include <charconv>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "vnfsd/api/routes.h"
#include "vnfsd/jobs/jobs.h"

namespace symnas::vnfsd::api {
namespace {

using nlohmann::json;

Result<Jobs*> jobs_of(const Call& call) {
  if (call.jobs != nullptr) return call.jobs;
  return fail(ErrorCode::kNotSupported, "job: this vnfsd has none");
}

// The job of the path, if the caller might have begun it.
Result<JobRecord> job_of(const Call& call) {
  SYMNAS_ASSIGN(const Jobs* jobs, jobs_of(call));
  const std::string& name = call.name();
  std::uint64_t id = 0;
  const auto read = std::from_chars(name.data(), name.data() + name.size(), id);
  if (read.ec != std::errc() || read.ptr != name.data() + name.size())
    return fail(ErrorCode::kNotFound, "job: its id is a number (symnas job ls)");
  SYMNAS_ASSIGN(JobRecord job, jobs->one(id));
  if (call.request.caller.role < parse_role(job.role).value_or(Role::kAdmin)) {
    return fail(ErrorCode::kPermission, fmt::format("job {}: is for the role {}", id, job.role));
  }
  return job;
}

Result<json> list_jobs(const Call& call) {
  SYMNAS_ASSIGN(const Jobs* jobs, jobs_of(call));
  json rows = json::array();
  for (const JobRecord& job : jobs->all()) rows.push_back(job_document(job, Detail::kShort));
  return json{{"jobs", rows}};
}

Result<json> get_job(const Call& call) {
  SYMNAS_ASSIGN(const JobRecord job, job_of(call));
  return json{{"job", job_document(job, Detail::kWhole)}};
}

Result<json> cancel_job(const Call& call) {
  SYMNAS_ASSIGN(JobRecord job, job_of(call));
  SYMNAS_ASSIGN(job, call.jobs->cancel(job.id));
  return json{{"job", job_document(job, Detail::kShort)}};
}

}  // namespace

std::vector<Route> job_routes() {
  return {
      {"GET", "/v1/jobs", "listJobs", Role::kViewer, "", "Jobs", "",
       "The last 32 jobs of this head, by id, without their results.", list_jobs},
      {"GET", "/v1/jobs/{id}", "getJob", Role::kViewer, "", "JobReply", "",
       "A job with its result; for callers who might have begun it.", get_job},
      {"POST", "/v1/jobs/{id}/cancel", "cancelJob", Role::kOperator, "", "JobReply", "",
       "Asks a job to end; it says later how it ended. 409: it cannot be cancelled any more.",
       cancel_job},
  };
}

}  // namespace symnas::vnfsd::api
