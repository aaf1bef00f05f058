// Rules for the names of objects. They become parts of keys, file names, host names and
// ganesha.conf values, so the rules keep everything out that any of those would have to quote.
// Thread-safe: pure functions.
#pragma once

#include <string_view>

#include "common/base/result.h"

namespace symnas::vnfsd {

// 1..kNameCharsMax of A-Z a-z 0-9 . _ -, beginning with a letter or digit.
// `kind` is the word for the message ("lun"). Errors: kInvalidArgument.
Status check_name(std::string_view kind, std::string_view name);

// As check_name, but a host name (RFC 1123): no '.', no '_', no '-' at the end.
Status check_host_name(std::string_view kind, std::string_view name);

// A network device's name: 1..15 characters, no '/', no white space (Linux dev_valid_name).
Status check_device_name(std::string_view device);

// An export's subtree: absolute, printable, no "." or ".." component, no quote or backslash (the
// value stands in ganesha.conf), at most kExportPathBytesMax. Returns it without repeated or
// trailing slashes.
Result<std::string> normalise_export_path(std::string_view path);

}  // namespace symnas::vnfsd
