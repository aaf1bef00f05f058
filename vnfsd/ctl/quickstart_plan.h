// What `symnas quickstart` proposes: from what a head sees to the commands that make a filesystem
// served. Thread-safe: pure functions.
//
// Invariants: a device that holds anything is never imported, and none whose bytes nobody knows
// unless it was named. What is there already is used as it is, so that the proposal after an
// interrupted run is what is left of it.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "common/base/result.h"

namespace symnas::vnfsd::ctl {

struct QuickstartWish {
  std::vector<std::string> vips;  // "10.0.0.101/24"; a VNFS for each
  std::string network;            // "nfs0=eth1"; "": the one that there is
  std::string name = "data";      // of filesystem and export
  std::string volume = "v1";
  std::vector<std::string> clients;  // none: the networks of the VIPs
  std::string squash = "root";       // as of export create
  bool devices_named = false;        // the scan is of devices that were named
};

// Documents of the API (docs/operations/api.md): the arrays of the collections.
struct QuickstartSeen {
  nlohmann::json devices;  // of /v1/lun-scan; may be empty when the volume exists
  nlohmann::json heads;
  nlohmann::json networks;
  nlohmann::json luns;
  nlohmann::json volumes;
  nlohmann::json filesystems;
  nlohmann::json exports;
  nlohmann::json vnfs;
};

struct QuickstartStep {
  std::vector<std::string> words;  // of the command, without "symnas"
  std::string why;
  // Before it: all of these heads have to see all of these LUNs.
  std::vector<std::string> luns, heads;
};

struct QuickstartProposal {
  std::vector<std::string> there;  // what exists already
  std::vector<QuickstartStep> steps;
  std::vector<std::string> missing;  // options and things without which the steps cannot be taken
  std::vector<std::string> notes;
  std::vector<std::string> mounts;  // commands for a Linux client
};

// While something is missing, words of the steps stand for it in capitals. Errors: kInvalidArgument
// (a VIP, network or name that cannot be one), kAlreadyExists (a name means something else
// already).
Result<QuickstartProposal> propose(const QuickstartSeen& seen, const QuickstartWish& wish);

// The command as it may be pasted into a shell.
std::string shell_command(const std::vector<std::string>& words);

}  // namespace symnas::vnfsd::ctl
