// Cib: what is configured in pacemaker, as far as VNFSs are concerned, from what `cibadmin --query`
// prints. Thread-safe: a pure function.
//
// Source: Pacemaker Explained, "Cluster-Wide Configuration" and "Resources"; a CIB has elements and
// attributes, and no text that matters.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/base/result.h"

namespace symnas::vnfsd::ctl {

using Texts = std::map<std::string, std::string>;

struct CibResource {
  std::string id;
  std::string agent;  // "ocf:symnas:vnfs", "stonith:fence_ipmilan"
  std::string clone;  // id of the clone that it is in; "" = none
  Texts parameters;
  Texts meta;
  std::map<std::string, Texts> operations;  // attributes of each, by name
};

struct CibLocation {
  std::string id;
  std::string resource;
  std::string node;  // "" = by a rule
  std::string score;
};

struct Cib {
  Texts properties;
  std::vector<std::string> nodes;
  std::vector<CibResource> resources;
  std::vector<CibLocation> locations;
};

// Errors: kCorrupt (it is no CIB).
Result<Cib> parse_cib(const std::string& xml);

}  // namespace symnas::vnfsd::ctl
