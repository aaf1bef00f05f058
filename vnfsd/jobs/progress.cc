#include "vnfsd/jobs/progress.h"

namespace symnas::vnfsd {
namespace {

class Nobody final : public Progress {
 public:
  void tell(std::optional<double>, std::string) override {}
  bool is_cancelled() const override { return false; }
  Status commit(std::string) override { return {}; }
  bool is_watched() const override { return false; }
};

}  // namespace

Progress& nobody_watches() {
  static Nobody nobody;
  return nobody;
}

tl::unexpected<Error> cancelled(const std::string& what) {
  return fail(ErrorCode::kConflict, what + ": cancelled");
}

}  // namespace symnas::vnfsd
