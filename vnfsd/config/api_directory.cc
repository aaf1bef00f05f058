#include "vnfsd/config/api_directory.h"

#include <filesystem>

namespace symnas::vnfsd {

std::string api_directory(const Config& config) {
  return (std::filesystem::path(config.etcd.ca).parent_path().parent_path() / "api").string();
}

}  // namespace symnas::vnfsd
