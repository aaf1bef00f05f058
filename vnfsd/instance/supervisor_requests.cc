#include "vnfsd/instance/supervisor_requests.h"

#include <poll.h>
#include <sys/eventfd.h>

#include "common/base/check.h"

namespace symnas::vnfsd::instance {

SupervisorRequests::SupervisorRequests(Wanted wanted)
    : wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), wanted_(wanted) {
  CHECK(wake_.valid(), "eventfd");
}

void SupervisorRequests::set_wanted(Wanted wanted) {
  {
    const MutexLock lock(mutex_);
    if (wanted_ == wanted) return;
    wanted_ = wanted;
  }
  wake();
}

void SupervisorRequests::end_instance(Epoch epoch, const std::string& why) {
  {
    const MutexLock lock(mutex_);
    if (killed_ == epoch) return;
    end_ = {epoch, why};
  }
  wake();
}

void SupervisorRequests::restart_instance(Epoch epoch) {
  {
    const MutexLock lock(mutex_);
    if (restarted_ == epoch) return;
    restarted_ = epoch;
  }
  wake();
}

bool SupervisorRequests::is_restarted(Epoch epoch) const {
  const MutexLock lock(mutex_);
  return restarted_ == epoch && epoch != Epoch{};
}

void SupervisorRequests::refresh() {
  {
    const MutexLock lock(mutex_);
    refresh_ = true;
  }
  wake();
}

bool SupervisorRequests::refreshed() const {
  const MutexLock lock(mutex_);
  // A standby gets its file when it is called.
  return !refresh_ || snapshot_.pid == 0 || snapshot_.phase == Phase::kPrepared;
}

InstanceSnapshot SupervisorRequests::snapshot() const {
  const MutexLock lock(mutex_);
  return snapshot_;
}

void SupervisorRequests::end() {
  {
    const MutexLock lock(mutex_);
    ending_ = true;
  }
  wake();
}

bool SupervisorRequests::ending() const {
  const MutexLock lock(mutex_);
  return ending_;
}

Wanted SupervisorRequests::wanted() const {
  const MutexLock lock(mutex_);
  return wanted_;
}

std::optional<std::string> SupervisorRequests::take_end(Epoch epoch) {
  std::optional<std::pair<Epoch, std::string>> told;
  const MutexLock lock(mutex_);
  told.swap(end_);
  if (!told || told->first != epoch) return std::nullopt;
  killed_ = told->first;
  return std::move(told->second);
}

void SupervisorRequests::forget_end() {
  const MutexLock lock(mutex_);
  end_.reset();
}

void SupervisorRequests::take_refresh() {
  const MutexLock lock(mutex_);
  refresh_ = false;
}

void SupervisorRequests::put_refresh_back() {
  const MutexLock lock(mutex_);
  refresh_ = true;
}

void SupervisorRequests::wake() { ::eventfd_write(wake_.get(), 1); }

void SupervisorRequests::sleep(std::int64_t timeout_ms) {
  pollfd entry{wake_.get(), POLLIN, 0};
  ::poll(&entry, 1, static_cast<int>(timeout_ms));
  eventfd_t count = 0;
  ::eventfd_read(wake_.get(), &count);
}

}  // namespace symnas::vnfsd::instance
