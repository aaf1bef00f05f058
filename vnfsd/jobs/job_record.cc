#include "vnfsd/jobs/job_record.h"

namespace symnas::vnfsd {
namespace {

using nlohmann::json;

ErrorCode code_of_word(const std::string& word) {
  for (int code = 0; code <= static_cast<int>(ErrorCode::kInternal); ++code) {
    if (to_string(static_cast<ErrorCode>(code)) == word) return static_cast<ErrorCode>(code);
  }
  return ErrorCode::kInternal;
}

}  // namespace

json job_document(const JobRecord& job, Detail detail) {
  json out = {{"id", job.id},     {"kind", job.kind},         {"what", job.what},
              {"by", job.by},     {"role", job.role},         {"state", job.state},
              {"text", job.text}, {"began_ns", job.began_ns}, {"kept_by", job.kept_by}};
  if (job.ended_ns != 0) out["ended_ns"] = job.ended_ns;
  if (job.share) out["share"] = *job.share;
  if (job.error)
    out["error"] = {{"code", std::string(to_string(job.error->code))},
                    {"message", job.error->message}};
  if (detail == Detail::kWhole && !job.result.is_null()) out["result"] = job.result;
  return out;
}

Result<JobRecord> job_from_document(const json& document) {
  JobRecord job;
  try {
    job.id = document.at("id").get<std::uint64_t>();
    job.kind = document.at("kind").get<std::string>();
    job.what = document.at("what").get<std::string>();
    job.by = document.at("by").get<std::string>();
    job.role = document.at("role").get<std::string>();
    job.state = document.at("state").get<std::string>();
    job.text = document.at("text").get<std::string>();
    job.began_ns = document.at("began_ns").get<std::int64_t>();
    job.kept_by = document.at("kept_by").get<std::string>();
    job.ended_ns = document.value("ended_ns", std::int64_t{0});
    if (document.contains("share")) job.share = document.at("share").get<double>();
    if (document.contains("result")) job.result = document.at("result");
    if (const auto error = document.find("error"); error != document.end()) {
      job.error = Error{code_of_word(error->at("code").get<std::string>()),
                        error->at("message").get<std::string>()};
    }
  } catch (const json::exception& error) {
    return fail(ErrorCode::kCorrupt, error.what());
  }
  return job;
}

}  // namespace symnas::vnfsd
