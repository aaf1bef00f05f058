// QuotaExemption: while it lives, what this thread begins is stopped by no quota: the caller is
// root (CAP_SYS_RESOURCE on Linux). A WRITE keeps what held when it began. Thread class: confined
// to its thread.
#pragma once

#include "fsal_cluster/quota/quotas.h"

namespace symnas::fs {

class QuotaExemption {
 public:
  explicit QuotaExemption(Quotas::Exempt exempt);
  ~QuotaExemption();
  QuotaExemption(const QuotaExemption&) = delete;
  QuotaExemption& operator=(const QuotaExemption&) = delete;
  static Quotas::Exempt of_this_thread();

 private:
  const Quotas::Exempt before_;
};

}  // namespace symnas::fs
