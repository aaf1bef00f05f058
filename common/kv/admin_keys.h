// Further keys of the control plane (keys.h): what administration leaves beside the records that it
// changes.
#pragma once

#include <string>

namespace symnas::kv::keys {

inline const std::string kServed = "c/served/";           // + VNFS name: ServedRecord
inline const std::string kLeft = "c/left/";               // + VNFS name: LeftRecord
inline const std::string kRemoved = "c/removed/";         // + head: RemovedHeadRecord
inline const std::string kAdmissions = "c/admission/";    // + head: AdmissionRecord
inline const std::string kFencedBoots = "c/fencedboot/";  // + incarnation: FencedBootRecord

}  // namespace symnas::kv::keys
