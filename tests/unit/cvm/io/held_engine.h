// HeldEngine: an Engine whose I/Os end when the test says so. Thread-safe.
#pragma once

#include <algorithm>
#include <mutex>
#include <vector>

#include <gtest/gtest.h>

#include "cvm/io/engine.h"

namespace symnas::cvm {

class HeldEngine final : public Engine {
 public:
  ~HeldEngine() override { EXPECT_TRUE(held_.empty()) << "an I/O was never called back"; }
  void submit(LunIo* list) override {
    const std::scoped_lock lock(mutex_);
    for (LunIo* io = list; io != nullptr; io = io->next) held_.push_back(io);
    ++submits_;
  }
  bool on_engine_thread() const override { return false; }
  std::string_view name() const override { return "held"; }

  // I/Os submitted and not completed, oldest first.
  std::vector<LunIo*> held() const {
    const std::scoped_lock lock(mutex_);
    return held_;
  }
  int submits() const {
    const std::scoped_lock lock(mutex_);
    return submits_;
  }
  // Ends an I/O as a real engine would. REQUIRES: it is held.
  void complete(LunIo* io, int error_number = 0) {
    {
      const std::scoped_lock lock(mutex_);
      held_.erase(std::find(held_.begin(), held_.end(), io));
    }
    if (error_number == 0) io->done_bytes = io->length_bytes;
    finish_io(*io, error_number);
  }
  // Ends the I/Os that are held now, but not those that their callbacks submit.
  void complete_all() {
    for (LunIo* io : held()) complete(io);
  }

 private:
  mutable std::mutex mutex_;
  std::vector<LunIo*> held_;
  int submits_ = 0;
};

// The answer that a callback got.
class IoOutcome {
 public:
  IoCallback callback() {
    return [this](Status status) {
      EXPECT_FALSE(status_) << "answered twice";
      status_ = std::move(status);
    };
  }
  bool given() const { return status_.has_value(); }
  bool ok() const { return status_ && *status_; }
  ErrorCode code() const {
    return status_ && !*status_ ? status_->error().code : ErrorCode::kInternal;
  }
  std::string message() const { return status_ && !*status_ ? status_->error().message : ""; }

 private:
  std::optional<Status> status_;
};

}  // namespace symnas::cvm
