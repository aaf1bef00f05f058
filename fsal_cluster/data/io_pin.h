// IoPin: while one lives, one I/O counts as running (INV-6).
#pragma once

#include "fsal_cluster/space/space.h"

namespace symnas::fs {

class IoPin {
 public:
  explicit IoPin(Space& space) : space_(space), ticket_(space.begin_io()) {}
  ~IoPin() { space_.end_io(ticket_); }
  IoPin(const IoPin&) = delete;
  IoPin& operator=(const IoPin&) = delete;

 private:
  Space& space_;
  const Quiescence::Ticket ticket_;
};

}  // namespace symnas::fs
