// The files of a head: what `symnas cluster init` and `symnas head join` write. Both work without
// vnfsd. Thread-safe: functions without state. Paths and contents:
// docs/operations/configuration.md.
#pragma once

#include <istream>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "vnfsd/config/bundle.h"
#include "vnfsd/config/config.h"
#include "vnfsd/names/mode.h"

namespace symnas::vnfsd::ctl {

// Where things go on this head.
struct HeadPlaces {
  std::string config_dir = "/etc/symnas";
  std::string etcd_dir = "/var/lib/symnas/etcd";
  std::string run_dir = "/run/symnas";
  std::string log_dir;  // "": /var/log/symnas, or run_dir/log when run_dir is not the default
  std::string ganesha_prefix;                // "": GaneshaConfig's default
  std::string plugin_dir;                    // "": GaneshaConfig's default
  std::vector<std::string> lun_paths;        // empty: /dev/disk/by-id/*
  std::vector<std::string> probe_addresses;  // of the head, beside its management address
  bool fence_reservations = false;
  std::string fence_agent;  // "": none
  std::vector<std::string> fence_options;
  std::string fence_options_file;  // further options, a line each: "" = none, "-" = standard input
  bool fence_when_asked = false;
  std::string fence_cuts = FenceConfig().cuts;  // what the agent cuts: power, luns
};

// Adds the fence options in the file `fence_options_file`: a secret stands in no command line.
// Empty lines and those that begin with # are left out. Errors: kNotFound, kIo, kInvalidArgument (a
// line without "=": the message has its number, not its text), kTooLarge.
Result<HeadPlaces> with_fence_options(HeadPlaces places, std::istream& standard_input);

struct ClusterInit {
  std::string cluster;
  std::string head;
  std::string address;
  HeadPlaces places;
  std::int64_t quota_bytes = EtcdConfig().quota_bytes;  // of etcd
};

// Makes the files of a new cluster's first head: CA, certificate, etcd.yml, vnfsd.toml. Nothing is
// overwritten. Errors: kInvalidArgument, kAlreadyExists (one of the files is there), kIo.
Result<std::string> init_cluster(const ClusterInit& request, Mode mode);
// Makes the files of a further head, from its bundle. Errors: as init_cluster.
Result<std::string> join_cluster(const Bundle& bundle, const HeadPlaces& places, Mode mode);

// The values in etcd.yml. initial_cluster: "name=peer URL" of every member; empty: this is the
// first member of a new cluster.
struct EtcdMember {
  std::string head;
  std::string address;
  std::string cluster_token;
  std::vector<std::string> initial_cluster;
  std::int64_t quota_bytes = EtcdConfig().quota_bytes;
};
// etcd's configuration file. Pure.
std::string render_etcd_config(const EtcdMember& member, const HeadPlaces& places);

}  // namespace symnas::vnfsd::ctl
