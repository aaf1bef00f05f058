#include "vnfsd/instance/launch_spec.h"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace symnas::vnfsd::instance {

using nlohmann::json;

std::string render_launch_spec(const LaunchSpec& spec) {
  const json document = {{"hostname", spec.hostname}, {"stage", spec.stage},
                         {"keep", spec.keep},         {"links", spec.links},
                         {"ipv6", spec.ipv6},         {"rpcbind", spec.rpcbind},
                         {"argv", spec.argv},         {"environment", spec.environment}};
  return document.dump();
}

Result<LaunchSpec> parse_launch_spec(const std::string& text) {
  try {
    const json document = json::parse(text);
    LaunchSpec spec;
    document.at("hostname").get_to(spec.hostname);
    document.at("stage").get_to(spec.stage);
    document.at("keep").get_to(spec.keep);
    document.at("links").get_to(spec.links);
    document.at("ipv6").get_to(spec.ipv6);
    document.at("rpcbind").get_to(spec.rpcbind);
    document.at("argv").get_to(spec.argv);
    document.at("environment").get_to(spec.environment);
    return spec;
  } catch (const json::exception& error) {
    return fail(ErrorCode::kInvalidArgument, fmt::format("launch specification: {}", error.what()));
  }
}

}  // namespace symnas::vnfsd::instance
