#include "vnfsd/ctl/oranfstab.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "vnfsd/network/net_address.h"

namespace symnas::vnfsd::ctl {
namespace {

using nlohmann::json;

struct Vip {
  Cidr cidr;
  std::string vnfs;
};

const json* find_row(const json& rows, const std::string& name) {
  for (const json& row : rows)
    if (row.value("name", "") == name) return &row;
  return nullptr;
}

Result<std::vector<Vip>> vips_of(const json& row) {
  std::vector<Vip> out;
  const std::string name = row.value("name", "");
  for (const json& vip : row.value("vips", json::array())) {
    SYMNAS_ASSIGN(const Cidr cidr, Cidr::parse(fmt::format("{}/{}", vip.value("address", ""),
                                                           vip.value("prefix_length", 0))));
    out.push_back({cidr, name});
  }
  return out;
}

// The first VIP of each VNFS, then the second of each, and so on.
Result<std::vector<Vip>> choose_vips(const std::vector<const json*>& rows) {
  std::vector<std::vector<Vip>> each;
  std::size_t longest = 0;
  for (const json* row : rows) {
    SYMNAS_ASSIGN(std::vector<Vip> vips, vips_of(*row));
    longest = std::max(longest, vips.size());
    each.push_back(std::move(vips));
  }
  std::vector<Vip> out;
  for (std::size_t i = 0; i < longest; ++i)
    for (const auto& vips : each)
      if (i < vips.size()) out.push_back(vips[i]);
  return out;
}

Result<std::vector<IpAddress>> parse_locals(const std::vector<std::string>& locals) {
  std::vector<IpAddress> out;
  for (const std::string& text : locals) {
    const auto address = IpAddress::parse(text);
    if (!address)
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("--local {}: {}; give addresses of the database host, as "
                              "`ip address` shows them",
                              text, address.error().message));
    out.push_back(*address);
  }
  return out;
}

// The local address for a path: of its network and least used, else of its family.
std::string local_for(const Vip& vip, const std::vector<IpAddress>& locals,
                      std::vector<int>& uses) {
  std::size_t best = locals.size();
  const auto rank = [&](std::size_t i) {
    return std::pair(vip.cidr.contains(locals[i]) ? 0 : 1, uses[i]);
  };
  for (std::size_t i = 0; i < locals.size(); ++i) {
    if (locals[i].family != vip.cidr.address.family) continue;
    if (best == locals.size() || rank(i) < rank(best)) best = i;
  }
  if (best == locals.size()) return "";
  ++uses[best];
  return locals[best].to_string();
}

// One VIP is reached from each local address, if there are more of these than VIPs.
void add_paths(Oranfstab& plan, const std::vector<Vip>& vips,
               const std::vector<IpAddress>& locals) {
  const std::size_t count = std::min(kOraPathsMax, std::max(vips.size(), locals.size()));
  std::vector<int> uses(locals.size());
  for (std::size_t i = 0; i < count; ++i) {
    const Vip& vip = vips[i % vips.size()];
    const OranfstabPath path{vip.cidr.address.to_string(), vip.vnfs, local_for(vip, locals, uses)};
    const bool twice = std::any_of(plan.paths.begin(), plan.paths.end(), [&](const auto& other) {
      return other.vip == path.vip && other.local == path.local;
    });
    if (!twice) plan.paths.push_back(path);
    if (!locals.empty() && path.local.empty())
      plan.remarks.push_back({"path " + path.vip, "none of --local is of its address family",
                              "give one, or leave this VIP's VNFS out"});
  }
  if (vips.size() > kOraPathsMax)
    plan.remarks.push_back(
        {"paths", fmt::format("{} VIPs, of which {} are used", vips.size(), kOraPathsMax),
         "Direct NFS takes four paths of a server: name fewer VNFSs to choose others"});
}

// Whether a rule of the export means the address; names and netgroups cannot be judged here.
enum class Admitted { kNo, kMaybe, kYes };

Admitted admitted_by(const std::string& who, const IpAddress& address) {
  if (who == "*") return Admitted::kYes;
  if (const auto network = Cidr::parse(who))
    return network->address.family == address.family && network->contains(address) ? Admitted::kYes
                                                                                   : Admitted::kNo;
  return Admitted::kMaybe;
}

std::string rule_for(const std::string& name, const std::string& address) {
  return fmt::format(
      "symnas export set {} --client {}:rw, beside the rules that it has (symnas "
      "export ls)",
      name, address);
}

void judge_export(Oranfstab& plan, const json& row, const std::vector<std::string>& addresses) {
  const std::string name = row.value("name", "");
  for (const std::string& text : addresses) {
    const auto address = IpAddress::parse(text);
    if (!address) continue;  // a name
    Admitted best = Admitted::kNo;
    std::string access = row.value("access", "rw");
    for (const json& rule : row.value("rules", json::array())) {
      const Admitted one = admitted_by(rule.value("who", ""), *address);
      if (one > best) access = rule.value("access", access);
      best = std::max(best, one);
    }
    if (best == Admitted::kNo)
      plan.remarks.push_back(
          {"export " + name, text + " is admitted by none of its rules", rule_for(name, text)});
    else if (access != "rw")
      plan.remarks.push_back({"export " + name, text + " may only read", rule_for(name, text)});
  }
}

Status add_exports(Oranfstab& plan, const OranfstabWish& wish, const std::vector<const json*>& rows,
                   const json& exports) {
  std::vector<std::string> common = rows.front()->value("exports", std::vector<std::string>());
  for (const json* row : rows) {
    const auto there = row->value("exports", std::vector<std::string>());
    std::erase_if(common, [&](const std::string& name) {
      return std::find(there.begin(), there.end(), name) == there.end();
    });
  }
  if (common.empty())
    return fail(
        ErrorCode::kInvalidArgument,
        fmt::format("{} export nothing that all of them have: all paths of a server lead to "
                    "the same files; `symnas export add NAME --vnfs {}` adds one",
                    fmt::join(wish.vnfs, " and "), fmt::join(wish.vnfs, ",")));
  std::vector<std::string> addresses = wish.locals;
  if (addresses.empty()) addresses.push_back(wish.client);
  for (const std::string& name : common) {
    const json* row = find_row(exports, name);
    if (row == nullptr) continue;  // removed meanwhile
    const std::string exported = row->value("pseudo", "/" + name);
    std::string mount = wish.mount.empty() ? "/mnt" + exported : wish.mount;
    if (!wish.mount.empty() && common.size() > 1) mount += "/" + name;
    plan.exports.push_back({name, exported, mount});
    judge_export(plan, *row, addresses);
  }
  return {};
}

}  // namespace

Result<Oranfstab> plan_oranfstab(const OranfstabWish& wish, const json& vnfs, const json& exports) {
  std::vector<const json*> rows;
  for (const std::string& name : wish.vnfs) {
    const json* row = find_row(vnfs, name);
    if (row == nullptr)
      return fail(ErrorCode::kNotFound,
                  fmt::format("vnfs {}: there is none; `symnas vnfs ls` shows them", name));
    rows.push_back(row);
  }
  if (!wish.mount.empty() && !wish.mount.starts_with('/'))
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("--mount {}: give the directory as an absolute path", wish.mount));
  Oranfstab plan;
  plan.server = wish.server.empty() ? fmt::format("{}", fmt::join(wish.vnfs, "-")) : wish.server;
  SYMNAS_ASSIGN(const std::vector<Vip> vips, choose_vips(rows));
  SYMNAS_ASSIGN(const std::vector<IpAddress> locals, parse_locals(wish.locals));
  if (vips.empty())
    return fail(ErrorCode::kInvalidArgument, fmt::format("{}: no VIP", fmt::join(wish.vnfs, ", ")));
  add_paths(plan, vips, locals);
  SYMNAS_TRY(add_exports(plan, wish, rows, exports));
  for (const json* row : rows)
    if (row->value("wanted", "started") != "started")
      plan.remarks.push_back({"vnfs " + row->value("name", ""), "it is stopped",
                              "symnas vnfs start " + row->value("name", "")});
  return plan;
}

std::string text_of(const Oranfstab& plan) {
  std::string out = fmt::format("server: {}\n", plan.server);
  for (const OranfstabPath& path : plan.paths) {
    if (!path.local.empty()) out += fmt::format("local: {}\n", path.local);
    out += fmt::format("path: {}\n", path.vip);
  }
  out += "nfs_version: nfsv3\n";
  for (const OranfstabExport& one : plan.exports)
    out += fmt::format("export: {} mount: {}\n", one.exported, one.mount);
  return out;
}

json document_of(const Oranfstab& plan) {
  json paths = json::array();
  for (const OranfstabPath& path : plan.paths)
    paths.push_back({{"path", path.vip}, {"vnfs", path.vnfs}, {"local", path.local}});
  json exports = json::array();
  for (const OranfstabExport& one : plan.exports)
    exports.push_back({{"name", one.name}, {"export", one.exported}, {"mount", one.mount}});
  json remarks = json::array();
  for (const OranfstabRemark& one : plan.remarks)
    remarks.push_back({{"subject", one.subject}, {"what", one.what}, {"next", one.next}});
  return {{"server", plan.server},
          {"paths", paths},
          {"exports", exports},
          {"remarks", remarks},
          {"text", text_of(plan)}};
}

}  // namespace symnas::vnfsd::ctl
