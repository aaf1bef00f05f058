#include <fmt/format.h>

#include "vnfsd/plans/deciders.h"

namespace symnas::vnfsd {

const char* name_of(records::Decider decider) {
  switch (decider) {
    case records::DECIDER_PACEMAKER: return "pacemaker";
    case records::DECIDER_KEEPALIVED: return "keepalived";
    default: return "builtin";
  }
}

Result<records::Decider> parse_decider(const std::string& name) {
  for (const records::Decider decider :
       {records::DECIDER_BUILTIN, records::DECIDER_PACEMAKER, records::DECIDER_KEEPALIVED}) {
    if (name == name_of(decider)) return decider;
  }
  return fail(ErrorCode::kInvalidArgument,
              fmt::format("decider {}: builtin, pacemaker and keepalived are known", name));
}

}  // namespace symnas::vnfsd
