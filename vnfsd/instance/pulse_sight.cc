#include "vnfsd/instance/pulse_sight.h"

#include <utility>

#include "common/base/log.h"

namespace symnas::vnfsd::instance {

void PulseSight::begin() {
  reader_.reset();
  watch_ = {};
  error_.clear();
}

PulseWatch::Verdict PulseSight::look(int pid) {
  if (!reader_) {
    auto found = fs::PulseReader::open(pid);
    if (found) {
      reader_ = std::move(*found);
      error_.clear();
    } else if (found.error().message != error_) {
      error_ = found.error().message;
      log::warn("vnfs {}: whether it is healthy cannot be seen: {}", vnfs_, error_);
    }
  }
  if (!reader_) return PulseWatch::Verdict::kDoubt;
  const fs::Pulse pulse = reader_->read();
  shown_.show([&](InstanceSnapshot& shown) {
    shown.first_request_ns = pulse.first_request_ns;
    shown.last_reclaim_ns = pulse.last_reclaim_ns;
  });
  return watch_.look(clock_.mono_ns(), pulse);
}

bool PulseSight::may_answer() const {
  return !reader_ || reader_->read().open_until_ns > clock_.mono_ns();
}

}  // namespace symnas::vnfsd::instance
