// What a head is to do about each VNFS, from the records alone. Pure.
#pragma once

#include <map>
#include <set>
#include <string>

#include "vnfsd/records/cluster_view.h"

namespace symnas::vnfsd {

// kPrepared: started as far as is possible without owning the VNFS.
enum class Wanted : unsigned char { kStarted, kStopped, kPrepared };

// This boot of the head was fenced, or the head is not of the cluster: it serves nothing new.
bool is_lost(const ClusterView& view, const std::string& head);

// The VNFSs that the head serves, is to serve, or has to give up. `coming_here`: VNFSs of other
// heads that are on their way here.
std::map<std::string, Wanted> wanted_on(const ClusterView& view, const std::string& head,
                                        const std::set<std::string>& coming_here);

}  // namespace symnas::vnfsd
