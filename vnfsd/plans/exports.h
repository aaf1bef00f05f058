// The exports of a VNFS, as the records have them. Thread-safe: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "vnfsd/plans/change.h"
#include "vnfsd/records/cluster_view.h"

namespace symnas::vnfsd {

// The path that clients mount.
std::string pseudo_of(const records::ExportRecord& exported);

// Who squashed callers are: nobody, if the record does not say.
constexpr std::uint32_t kNobody = 65534;
struct AnonymousIds {
  std::uint32_t uid = kNobody;
  std::uint32_t gid = kNobody;
};
AnonymousIds anonymous_ids(const records::ExportRecord& exported);

// What its callers may use, unless a rule says something else: at least one.
std::vector<records::Security> security_of(const records::ExportRecord& exported);

// What holds for some clients of an export.
struct EffectiveRule {
  std::string who;  // normalised (normalise_who())
  records::Access access = records::ACCESS_RW;
  records::Squash squash = records::SQUASH_ROOT;
  AnonymousIds anon;
  std::vector<records::Security> security;  // at least one, in no order
};
// The most specific first, as exports(5) has it: hosts, networks by the length of their prefixes,
// wildcards, netgroups, everybody. The first one that means a client is the client's.
std::vector<EffectiveRule> effective_rules(const records::ExportRecord& exported);
// Those of its rules that mean clients by a name.
std::vector<std::string> names_in_rules(const records::ExportRecord& exported);

// Whether one of the two paths is the other or leads to it: "/a" and "/a/b".
bool overlap(std::string_view pseudo, std::string_view other);

// Whether `inner` lies inside `outer` for clients just where it lies in the filesystem. Then it is
// found there by its path, and its rules hold from there on.
bool nested(const records::ExportRecord& inner, const records::ExportRecord& outer);

// The exports of the VNFS that lie inside `outer`, or around it.
std::vector<std::string> nested_with(const ClusterView& view, const records::VnfsRecord& vnfs,
                                     const records::ExportRecord& outer);

// No export of the VNFS hides another one; one may lie inside another one. Errors: kBusy (which
// two).
Status check_pseudo_paths(const ClusterView& view, const records::VnfsRecord& vnfs);

// A digest of everything that the records say about a VNFS's exports, in their order, which keytab
// it has, and whether the head can open that: equal only if nothing of that has changed.
std::string exports_digest(const ClusterView& view, const records::VnfsRecord& vnfs,
                           const std::string& head);
// The same for the head that owns the VNFS.
std::string exports_digest(const ClusterView& view, const records::VnfsRecord& vnfs);

// Whether the instance of a VNFS that somebody owns has neither been brought to serve what the
// records say, nor refused it.
bool exports_pending(const ClusterView& view, const std::string& vnfs);

// Why the VNFS is not served with the exports that its records have, "": it is served with them, or
// there is no word of its present instance yet.
std::string exports_problem(const ClusterView& view, const std::string& vnfs);

// The records of exports and VNFSs as they are when the change is made.
ClusterView after(const ClusterView& view, const Change& change);

}  // namespace symnas::vnfsd
