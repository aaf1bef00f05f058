// The nouns about who may use the API over the network (see commands.h).
#pragma once

#include "vnfsd/ctl/commands.h"

namespace symnas::vnfsd::ctl {

void add_api(CommandLine& line);
void add_audit(CommandLine& line);

}  // namespace symnas::vnfsd::ctl
