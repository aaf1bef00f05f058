// instance.json: the file that the plugin reads at start, and again when one of its volumes grows
// or its exports change. Pure rendering. Format: docs/formats/instance_file.md.
#pragma once

#include <string>

#include "vnfsd/instance/plan.h"

namespace symnas::vnfsd::instance {

// The head's network namespace is inherited by the instance as this descriptor.
inline constexpr int kHeadNetnsFd = 9;
inline constexpr int kHeadMntnsFd = 10;  // the head's mounts, with the files of its name services

// The head's file of the time that instances go by (docs/formats/instance_clock.md).
std::string clock_file(const Config& config);

// Errors: as render_export().
Result<std::string> render_instance_file(const InstancePlan& plan);

}  // namespace symnas::vnfsd::instance
