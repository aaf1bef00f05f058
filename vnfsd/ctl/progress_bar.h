// ProgressBar: one line on the terminal that says how far long work has come; nothing of it in a
// pipe or with -o json. Confined to one thread.
#pragma once

#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "vnfsd/ctl/context.h"

namespace symnas::vnfsd::ctl {

// Somebody looks: both outputs of this process are terminals, and tables are wanted.
bool is_looked_at(const Context& context);

// "[#####-----]  50 %  123 records read", cut off at `columns`. `share`: 0 to 1; nullopt: unknown.
std::string bar_line(std::optional<double> share, const std::string& text, std::size_t columns);

class ProgressBar {
 public:
  explicit ProgressBar(const Context& context) : is_shown_(is_looked_at(context)) {}
  // Erases the line.
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;
  void show(std::optional<double> share, const std::string& text);

 private:
  const bool is_shown_;
};

// POST of long work. If somebody looks it is a job that is followed with a bar, else
// one request. Returns what the operation replies. Errors: as ApiClient::request(), and the job's.
Result<nlohmann::json> request_long(Context& context, const std::string& path,
                                    const nlohmann::json& body);
// Waits for a job, with a bar if somebody looks; returns it when it has ended. vnfsd may be started
// anew meanwhile. Errors: as ApiClient::request(), kUnavailable (timeout_s have passed).
Result<nlohmann::json> follow_job(Context& context, std::uint64_t id, int timeout_s);
// The error of a job that is not done.
Error error_of_job(const nlohmann::json& job);

}  // namespace symnas::vnfsd::ctl
