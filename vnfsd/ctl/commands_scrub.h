// `lun scrub`. Confined to the thread of run_symnas.
#pragma once

#include "vnfsd/ctl/commands.h"

namespace symnas::vnfsd::ctl {

void add_lun_scrub(CommandLine& line, CLI::App* noun);

}  // namespace symnas::vnfsd::ctl
