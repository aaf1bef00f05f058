// The version of symnas: vnfsd writes it into its head record and those of its instances.
#pragma once

namespace symnas {

extern const char* const kVersion;  // "0.1.0": the file VERSION

}  // namespace symnas
