// ExportsTeller: the exports of a running instance follow the records, while it serves. Thread
// class: thread-compatible; works on a thread of its own, since a new filesystem takes time to
// mount.
#pragma once

#include <functional>
#include <future>
#include <string>

#include "common/base/result.h"
#include "vnfsd/instance/ganesha_conf.h"
#include "vnfsd/instance/host.h"
#include "vnfsd/instance/plan.h"

namespace symnas::vnfsd::instance {

class ExportsTeller {
 public:
  // `wake` is called on the thread when the instance was told. Waits for its thread when destroyed.
  ExportsTeller(std::string vnfs, Host& host, const FsalBlocks& fsal, std::function<void()> wake)
      : vnfs_(std::move(vnfs)), host_(host), fsal_(fsal), wake_(std::move(wake)) {}

  // REQUIRES: !is_telling(); the instance file lists them. A step that fails is repeated when the
  // records are looked at: they say that it is not known what is served.
  void tell(InstancePlan plan);
  bool is_telling() const;

 private:
  Status tell_once(const InstancePlan& plan);

  const std::string vnfs_;
  Host& host_;
  const FsalBlocks& fsal_;
  const std::function<void()> wake_;
  std::future<void> telling_;
};

}  // namespace symnas::vnfsd::instance
