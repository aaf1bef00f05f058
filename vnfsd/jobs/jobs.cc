#include "vnfsd/jobs/jobs.h"

#include <algorithm>
#include <exception>
#include <filesystem>
#include <utility>

#include <fmt/core.h>

#include "common/base/log.h"
#include "vnfsd/instance/files.h"
#include "vnfsd/jobs/limits.h"

namespace symnas::vnfsd {

using nlohmann::json;

struct Jobs::Job {
  JobRecord record;
  bool cancel_asked = false;
  std::string cancel_reason;   // "": somebody asked for it
  std::int64_t looked_ns = 0;  // when `leave` was asked last
  Leave leave;                 // set before the thread begins
  bool is_over = true;         // its thread has nothing more to do
  Work work;
  std::thread thread;
};

// What the work of one job sees.
class Jobs::Watch final : public Progress {
 public:
  Watch(Jobs& jobs, Job& job) : jobs_(jobs), job_(job) {}
  void tell(std::optional<double> share, std::string text) override {
    const MutexLock lock(jobs_.mutex_);
    job_.record.share = share;
    job_.record.text = std::move(text);
  }
  bool is_cancelled() const override {
    look_at_leave();
    const MutexLock lock(jobs_.mutex_);
    return job_.cancel_asked || jobs_.ending_;
  }
  Status commit(std::string why) override {
    look_at_leave();
    const MutexLock lock(jobs_.mutex_);
    if (job_.cancel_asked || jobs_.ending_) return cancelled(job_.record.what);
    job_.record.kept_by = std::move(why);
    return {};
  }
  bool is_watched() const override { return true; }

 private:
  bool may_still_be_cancelled() const REQUIRES(jobs_.mutex_) {
    return !job_.cancel_asked && job_.record.kept_by.empty();
  }

  void look_at_leave() const {
    if (!job_.leave) return;
    {
      const MutexLock lock(jobs_.mutex_);
      const std::int64_t now_ns = jobs_.clock_.mono_ns();
      if (!may_still_be_cancelled() || now_ns - job_.looked_ns < kLeaveLookNs) return;
      job_.looked_ns = now_ns;
    }
    const Status may = job_.leave();
    if (may || may.error().code != ErrorCode::kPermission) return;
    const MutexLock lock(jobs_.mutex_);
    if (!may_still_be_cancelled()) return;
    job_.cancel_asked = true;
    job_.cancel_reason = may.error().message;
    job_.record.text = "is being cancelled: " + job_.cancel_reason;
  }

  Jobs& jobs_;
  Job& job_;
};

Jobs::Jobs(std::string directory, const env::Clock& clock)
    : directory_(std::move(directory)), clock_(clock) {
  load();
}

Jobs::~Jobs() {
  std::vector<std::thread> threads;
  {
    const MutexLock lock(mutex_);
    ending_ = true;
    for (const auto& job : jobs_)
      if (job->thread.joinable()) threads.push_back(std::move(job->thread));
  }
  for (std::thread& thread : threads) thread.join();
}

void Jobs::load() {
  if (const Status made = instance::make_directories(directory_); !made)
    log::error("jobs: {}", made.error().message);
  const MutexLock lock(mutex_);
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory_, error)) {
    const auto text = instance::read_file(entry.path().string());
    auto record = text ? job_from_document(json::parse(*text, nullptr, false))
                       : Result<JobRecord>(tl::unexpected<Error>(text.error()));
    if (!record || path_of(record->id) != entry.path()) {
      log::warn("jobs: {}: is no job, and is left alone", entry.path().string());
      continue;
    }
    next_id_ = std::max(next_id_, record->id + 1);
    auto job = std::make_unique<Job>();
    job->record = std::move(*record);
    jobs_.push_back(std::move(job));
  }
  jobs_.sort([](const auto& a, const auto& b) { return a->record.id < b->record.id; });
  for (const auto& job : jobs_) {
    if (job->record.state != "running") continue;
    job->record.state = "interrupted";
    job->record.ended_ns = clock_.wall_ns();
    job->record.error =
        Error{ErrorCode::kUnknownOutcome,
              fmt::format("{}: vnfsd ended in the middle of it (ask for it again; what is recorded "
                          "goes on: symnas status)",
                          job->record.what)};
    if (const Status written = write(job->record); !written)
      log::error("jobs: {}", written.error().message);
  }
}

Result<JobRecord> Jobs::start(JobRecord record, Work work, Leave leave) {
  const MutexLock lock(mutex_);
  const auto running =
      std::count_if(jobs_.begin(), jobs_.end(), [](const auto& job) { return !job->is_over; });
  if (ending_ || static_cast<std::size_t>(running) >= kJobsRunning) {
    return fail(ErrorCode::kBusy,
                fmt::format("{}: {} jobs run on this head already (symnas job ls; wait for one, or "
                            "ask another head)",
                            record.what, running));
  }
  auto job = std::make_unique<Job>();
  job->record = std::move(record);
  job->record.id = next_id_++;
  job->record.began_ns = clock_.wall_ns();
  job->work = std::move(work);
  job->leave = std::move(leave);
  job->looked_ns = clock_.mono_ns();
  SYMNAS_TRY(write(job->record));
  job->is_over = false;
  Job& made = *jobs_.emplace_back(std::move(job));
  drop_oldest();
  made.thread = std::thread([this, &made] { run(made); });
  return made.record;
}

void Jobs::run(Job& job) {
  Watch watch(*this, job);
  // As the API's server does with its handlers: a mistake in one of them does not end vnfsd.
  Result<json> done = json();
  try {
    done = job.work(watch);
  } catch (const std::exception& error) {
    done = fail(ErrorCode::kInternal, error.what());
  }
  JobRecord record;
  {
    const MutexLock lock(mutex_);
    record = job.record;
    if (done) {
      record.state = "done";
      record.share = 1.0;
      record.result = std::move(*done);
    } else {
      record.state = job.cancel_asked ? "cancelled" : ending_ ? "interrupted" : "failed";
      record.error = std::move(done.error());
      if (!job.cancel_reason.empty()) record.error->message += ": " + job.cancel_reason;
    }
    record.ended_ns = clock_.wall_ns();
  }
  log::info("job {}: {} {}: {}", record.id, record.kind, record.what, record.state);
  if (const Status written = write(record); !written)
    log::error("jobs: {}", written.error().message);
  const MutexLock lock(mutex_);
  job.record = std::move(record);
  job.work = nullptr;
  job.leave = nullptr;  // holds a credential
  job.is_over = true;
}

// A thread that has nothing more to do needs no lock to end.
void Jobs::drop_oldest() {
  while (jobs_.size() > kJobsKept) {
    const auto oldest =
        std::find_if(jobs_.begin(), jobs_.end(), [](const auto& job) { return job->is_over; });
    if (oldest == jobs_.end()) return;
    if ((*oldest)->thread.joinable()) (*oldest)->thread.join();
    std::error_code error;
    std::filesystem::remove(path_of((*oldest)->record.id), error);
    jobs_.erase(oldest);
  }
}

std::vector<JobRecord> Jobs::all() const {
  const MutexLock lock(mutex_);
  std::vector<JobRecord> out;
  for (const auto& job : jobs_) out.push_back(job->record);
  return out;
}

Jobs::Job* Jobs::find(std::uint64_t id) const {
  for (const auto& job : jobs_)
    if (job->record.id == id) return job.get();
  return nullptr;
}

Result<JobRecord> Jobs::one(std::uint64_t id) const {
  const MutexLock lock(mutex_);
  if (const Job* job = find(id)) return job->record;
  return fail(ErrorCode::kNotFound,
              fmt::format("job {}: does not exist on this head (symnas job ls shows the last {})",
                          id, kJobsKept));
}

Result<JobRecord> Jobs::cancel(std::uint64_t id) {
  const MutexLock lock(mutex_);
  Job* job = find(id);
  if (job == nullptr)
    return fail(ErrorCode::kNotFound, fmt::format("job {}: does not exist on this head", id));
  if (job->is_over) {
    return fail(ErrorCode::kConflict, fmt::format("job {}: has ended: {}", id, job->record.state));
  }
  if (!job->record.kept_by.empty()) {
    return fail(ErrorCode::kBusy,
                fmt::format("job {}: cannot be cancelled any more: {}", id, job->record.kept_by));
  }
  job->cancel_asked = true;
  job->record.text = "is being cancelled";
  return job->record;
}

std::string Jobs::path_of(std::uint64_t id) const {
  return fmt::format("{}/{}.json", directory_, id);
}

Status Jobs::write(const JobRecord& record) const {
  const std::string text =
      job_document(record, Detail::kWhole).dump(1, ' ', false, json::error_handler_t::replace);
  return instance::write_file_atomically(path_of(record.id), text + "\n", 0600);
}

}  // namespace symnas::vnfsd
