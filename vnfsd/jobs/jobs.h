// Jobs: runs long work on threads of its own, shows it, cancels it and keeps the last results.
// Thread-safe.
//
// Invariant: a job's file says that it runs from before its work begins until after that has ended,
// so that a vnfsd that starts knows which jobs the one before it has left unfinished.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "common/base/thread_annotations.h"
#include "common/env/clock.h"
#include "vnfsd/jobs/job_record.h"
#include "vnfsd/jobs/progress.h"

namespace symnas::vnfsd {

// Whether whoever began the job may still have it. Blocks. An error kPermission ends it; others say
// that this is not known now.
using Leave = std::function<Status()>;
// Returns the job's result. After is_cancelled() it ends soon, with an error unless it was done.
using Work = std::function<Result<nlohmann::json>(Progress& progress)>;

class Jobs {
 public:
  // `directory`: of the jobs' files, is made. What is in it and says that it runs was interrupted.
  Jobs(std::string directory, const env::Clock& clock);
  // Has all work cancelled that can be, and waits for it.
  ~Jobs();
  Jobs(const Jobs&) = delete;
  Jobs& operator=(const Jobs&) = delete;

  // Begins. Of `job` kind, what, by and role are given. `leave`: asked each kLeaveLookNs when the
  // work asks whether it is to end, and until it has committed; it cancels the job with the error's
  // message. null: for ever. Returns the job as it is now. Errors: kBusy (kJobsRunning run), kIo
  // (its file cannot be written).
  Result<JobRecord> start(JobRecord job, Work work, Leave leave = nullptr);
  // By id; the last kJobsKept.
  std::vector<JobRecord> all() const;
  // Errors: kNotFound.
  Result<JobRecord> one(std::uint64_t id) const;
  // Asks the work to end; it does so later. Errors: kNotFound, kBusy (it cannot be cancelled now;
  // the message says why), kConflict (it has ended).
  Result<JobRecord> cancel(std::uint64_t id);

 private:
  struct Job;
  class Watch;

  void load();
  void run(Job& job);
  void drop_oldest() REQUIRES(mutex_);
  Job* find(std::uint64_t id) const REQUIRES(mutex_);
  Status write(const JobRecord& record) const;
  std::string path_of(std::uint64_t id) const;

  const std::string directory_;
  const env::Clock& clock_;
  mutable Mutex mutex_;  // leaf
  bool ending_ GUARDED_BY(mutex_) = false;
  std::uint64_t next_id_ GUARDED_BY(mutex_) = 1;
  std::list<std::unique_ptr<Job>> jobs_ GUARDED_BY(mutex_);  // by id
};

}  // namespace symnas::vnfsd
