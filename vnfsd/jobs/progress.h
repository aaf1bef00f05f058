// Progress: what long work tells while it goes on, and asks whether it is to end. Thread-safe.
#pragma once

#include <optional>
#include <string>

#include "common/base/result.h"

namespace symnas::vnfsd {

class Progress {
 public:
  virtual ~Progress() = default;
  // `share`: of the work, 0 to 1; nullopt: not known. `text`: what is being done, for a person.
  virtual void tell(std::optional<double> share, std::string text) = 0;
  // The work is to end as soon as it can.
  virtual bool is_cancelled() const = 0;
  // From here on the work cannot be cancelled, because of `why`. Errors: kConflict (it is
  // cancelled: nothing may be begun).
  virtual Status commit(std::string why) = 0;
  // Somebody looks: work whose only end is to be looked at goes on.
  virtual bool is_watched() const = 0;
};

// For work that somebody waits for: tells nobody, is never cancelled.
Progress& nobody_watches();

// The error of work that was cancelled.
tl::unexpected<Error> cancelled(const std::string& what);

}  // namespace symnas::vnfsd
