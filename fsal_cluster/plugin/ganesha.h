// The only place where ganesha's C headers enter our C++: everything in plugin/ includes this file.
// config.h comes first: it decides the layout of structures such as svc_req.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wundef"
// Of Debian 13 it has templates; ganesha's headers include it.
#include <urcu-bp.h>
extern "C" {
#include "config.h"

#include "fsal.h"
#include "fsal_api.h"
#include "fsal_convert.h"
#include "fsal_types.h"
#include "fsal_up.h"

#include "FSAL/fsal_commonlib.h"
#include "FSAL/fsal_config.h"
#include "FSAL/fsal_init.h"

#include "config_parsing.h"
#include "export_mgr.h"
#include "nfs4_acls.h"
#include "nfs_core.h"
#include "nfs_exports.h"
#include "nfs_proto_data.h"
#include "sal_data.h"
#include "sal_functions.h"
}
#pragma GCC diagnostic pop
