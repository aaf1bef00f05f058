#include "fsal_cluster/quota/exemption.h"

#include <utility>

namespace symnas::fs {
namespace {
thread_local Quotas::Exempt t_exempt = Quotas::Exempt::kNo;
}  // namespace

QuotaExemption::QuotaExemption(Quotas::Exempt exempt) : before_(std::exchange(t_exempt, exempt)) {}
QuotaExemption::~QuotaExemption() { t_exempt = before_; }
Quotas::Exempt QuotaExemption::of_this_thread() { return t_exempt; }

}  // namespace symnas::fs
