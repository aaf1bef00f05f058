// More keys of the control plane (see keys.h): records that administration adds to those it
// changes.
#pragma once

#include <string>

namespace symnas::kv::keys {

inline const std::string kServed = "c/served/";           // + VNFS name: ServedRecord
inline const std::string kLeft = "c/left/";               // + VNFS name: LeftRecord
inline const std::string kKeytabs = "c/keytab/";          // + VNFS name: KeytabRecord
inline const std::string kRemoved = "c/removed/";         // + head: RemovedHeadRecord
inline const std::string kAdmissions = "c/admission/";    // + head: AdmissionRecord
inline const std::string kFencedBoots = "c/fencedboot/";  // + incarnation: FencedBootRecord

}  // namespace symnas::kv::keys
