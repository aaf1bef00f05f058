#include "vnfsd/ctl/quickstart_plan.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include <fmt/core.h>

#include "vnfsd/names/byte_size.h"
#include "vnfsd/names/names.h"
#include "vnfsd/network/net_address.h"

namespace symnas::vnfsd::ctl {
namespace {

using nlohmann::json;
using Words = std::vector<std::string>;

// nullptr: there is none of that name.
const json* named(const json& rows, const std::string& name) {
  for (const json& row : rows) {
    if (row.value("name", "") == name) return &row;
  }
  return nullptr;
}

std::string joined(const Words& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : ",") + word;
  return out;
}

// "LUN0", "vnfs1": the first from `number` on that `taken` does not have.
std::string free_name(const std::string& prefix, int number, std::set<std::string>& taken) {
  while (!taken.insert(prefix + std::to_string(number)).second) ++number;
  return prefix + std::to_string(number);
}

std::set<std::string> names_of(const json& rows) {
  std::set<std::string> names;
  for (const json& row : rows) names.insert(row.value("name", ""));
  return names;
}

// Those that serve, c1n2 before c1n10.
Words serving_heads(const json& heads) {
  Words names;
  for (const json& head : heads) {
    if (head.value("state", "") == "serving") names.push_back(head.value("name", ""));
  }
  std::stable_sort(names.begin(), names.end(),
                   [](const auto& a, const auto& b) { return a.size() < b.size(); });
  return names;
}

// Where VNFSs go: each primary where the fewest are, each first backup where the fewest VNFSs would
// come to, so that a head that is lost leaves its VNFSs to several.
class Spread {
 public:
  Spread(Words heads, const json& vnfses) : heads_(std::move(heads)) {
    for (const json& vnfs : vnfses) {
      const json listed = vnfs.value("heads", json::array());
      if (!listed.empty()) ++primaries_[listed[0].get<std::string>()];
    }
  }
  // The primaries of so many new VNFSs, in order.
  Words primaries(std::size_t count) {
    Words out;
    for (std::size_t i = 0; i < count && !heads_.empty(); ++i) {
      out.push_back(*std::min_element(heads_.begin(), heads_.end(), [&](auto& a, auto& b) {
        return primaries_[a] < primaries_[b];
      }));
      ++primaries_[out.back()];
    }
    return out;
  }
  // All heads for the VNFS of that primary. REQUIRES: primaries() has been asked for all.
  Words heads_of(const std::string& primary) {
    const auto at = std::find(heads_.begin(), heads_.end(), primary);
    Words others(at + 1, heads_.end());
    others.insert(others.end(), heads_.begin(), at);
    std::stable_sort(others.begin(), others.end(), [&](auto& a, auto& b) {
      return std::pair(primaries_[a], backups_[a]) < std::pair(primaries_[b], backups_[b]);
    });
    if (!others.empty()) ++backups_[others.front()];
    others.insert(others.begin(), primary);
    return others;
  }

 private:
  const Words heads_;
  std::map<std::string, int> primaries_, backups_;
};

class Proposer {
 public:
  Proposer(const QuickstartSeen& seen, const QuickstartWish& wish)
      : seen_(seen), wish_(wish), heads_(serving_heads(seen.heads)) {}

  Result<QuickstartProposal> propose() {
    SYMNAS_TRY(check_name("fs", wish_.name));
    SYMNAS_TRY(check_name("volume", wish_.volume));
    for (const std::string& text : wish_.vips) {
      SYMNAS_ASSIGN(const Cidr vip, parse_vip(text));
      if (std::any_of(vips_.begin(), vips_.end(),
                      [&](const Cidr& other) { return other.address == vip.address; }))
        return fail(ErrorCode::kInvalidArgument, fmt::format("--vip {}: given twice", text));
      vips_.push_back(vip);
    }
    if (heads_.empty()) out_.missing.push_back("a head that serves: symnas head ls says why none");
    SYMNAS_TRY(network());
    storage();
    SYMNAS_TRY(exported());
    vnfses();
    return std::move(out_);
  }

 private:
  void there(const std::string& what) { out_.there.push_back(what); }
  void step(Words words, std::string why) {
    out_.steps.push_back({std::move(words), std::move(why), {}, {}});
  }

  Status network() {
    const std::size_t equals = wish_.network.find('=');
    if (wish_.network.empty()) {
      if (seen_.networks.size() == 1) {
        network_ = seen_.networks[0].value("name", "");
        there(fmt::format("network {} on {}", network_, seen_.networks[0].value("device", "")));
        return {};
      }
      network_ = "NAME";
      out_.missing.push_back(
          seen_.networks.empty()
              ? "--network NAME=DEVICE: the network device of the clients, as nfs0=eth1; the same "
                "on every head (ip link)"
              : "--network NAME: there are several (symnas network ls)");
      if (seen_.networks.empty())
        step({"network", "create", network_, "--device", "DEVICE"}, "where the VIPs are");
      return {};
    }
    network_ = wish_.network.substr(0, equals);
    const std::string device = equals == std::string::npos ? "" : wish_.network.substr(equals + 1);
    SYMNAS_TRY(check_name("network", network_));
    if (const json* known = named(seen_.networks, network_)) {
      const std::string its = known->value("device", "");
      if (!device.empty() && device != its) {
        return fail(ErrorCode::kAlreadyExists,
                    fmt::format("--network {}: the device of network {} is {}", wish_.network,
                                network_, its));
      }
      there(fmt::format("network {} on {}", network_, its));
      return {};
    }
    if (device.empty()) {
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("--network {}: there is none of that name; write it as NAME=DEVICE",
                              wish_.network));
    }
    SYMNAS_TRY(check_device_name(device));
    step({"network", "create", network_, "--device", device}, "where the VIPs are");
    return {};
  }

  // LUNs, volume and filesystem.
  void storage() {
    if (const json* known = named(seen_.filesystems, wish_.name)) {
      there(fmt::format("filesystem {} on volume {}", wish_.name, known->value("volume", "")));
      return;
    }
    if (const json* known = named(seen_.volumes, wish_.volume)) {
      there(fmt::format("volume {} over {}", wish_.volume,
                        joined(known->value("luns", json::array()).get<Words>())));
    } else {
      make_volume();
    }
    Words words = {"fs", "create", wish_.name, "--volume", wish_.volume};
    if (wish_.squash == "none") {
      step(std::move(words), "the filesystem, whose root directory is root's");
      return;
    }
    words.insert(words.end(), {"--mode", "1777"});
    step(std::move(words), "the filesystem; as in /tmp everybody may make files in its root");
  }

  void make_volume() {
    Words luns;
    std::uint64_t least = 0, most = 0, all = 0;
    const auto add = [&](const std::string& name, std::uint64_t bytes) {
      luns.push_back(name);
      least = all == 0 ? bytes : std::min(least, bytes);
      most = std::max(most, bytes);
      all += bytes;
    };
    for (const json& lun : seen_.luns) {
      if (!lun.value("volume", "").empty()) continue;
      there(fmt::format("LUN {}, which no volume uses", lun.value("name", "")));
      add(lun.value("name", ""), lun.value("size_bytes", std::uint64_t{0}));
    }
    Words import = {"lun", "import"};
    std::set<std::string> taken = names_of(seen_.luns);
    for (const json& device : seen_.devices) taken.insert(device.value("import_as", ""));
    std::size_t occupied = 0;
    for (const json& device : seen_.devices) {
      const auto name = name_for(device, taken);
      const std::string state = device.value("state", "");
      if (!name && state != "free" && state != "imported") ++occupied;
      if (!name) continue;
      import.push_back(fmt::format("{}={}", *name, device.value("path", "")));
      add(*name, device.value("size_bytes", std::uint64_t{0}));
    }
    if (occupied != 0) {
      out_.notes.push_back(fmt::format(
          "{} devices hold something or cannot be used: symnas lun scan says what", occupied));
    }
    if (luns.empty()) {
      luns = {"LUNS"};
      out_.missing.push_back(
          "a free device: symnas lun scan shows what this head sees and what is on it; name the "
          "devices (symnas quickstart /dev/...), or add where they are to lun_paths in vnfsd.toml");
    }
    const std::size_t count = import.size() - 2;
    if (count != 0) {
      const std::string what = count == 1 ? "one free device becomes a LUN"
                                          : fmt::format("{} free devices become LUNs", count);
      step(std::move(import), what + ": labelled, and found by the label from then on");
    }
    step({"volume", "create", wish_.volume, "--luns", joined(luns)},
         all == 0 ? "a volume"
                  : fmt::format("one volume, striped over {}, about {}",
                                luns.size() == 1 ? "one LUN" : fmt::format("{} LUNs", luns.size()),
                                approximate_byte_size(least * luns.size())));
    if (all != 0) {
      out_.steps.back().luns = luns;
      out_.steps.back().heads = heads_;
    }
    if (least != most) {
      out_.notes.push_back(
          fmt::format("the LUNs have {} to {}: of each the volume uses as much as the smallest has",
                      approximate_byte_size(least), approximate_byte_size(most)));
    }
  }

  // The name under which a device is to be imported; none: it is not. Notes say why not, where that
  // is not plain.
  std::optional<std::string> name_for(const json& device, std::set<std::string>& taken) {
    const std::string path = device.value("path", "");
    const auto leave = [&](const std::string& why) {
      out_.notes.push_back(fmt::format("{}: left alone: {}", path, why));
      return std::nullopt;
    };
    if (const std::string again = device.value("import_as", ""); !again.empty()) return again;
    if (device.value("state", "") != "free") return std::nullopt;
    if (const std::string same = device.value("same_as", ""); !same.empty())
      return leave(
          fmt::format("another path to {}; multipath would make one device of them", same));
    if (!wish_.devices_named && device.value("partition", false))
      return leave("a partition; name it if it is to become a LUN");
    if (!wish_.devices_named && !device.value("blank", false))
      return leave("it holds bytes of no known kind; name it if nobody needs them");
    return free_name("LUN", 0, taken);
  }

  Status exported() {
    if (const json* known = named(seen_.exports, wish_.name)) {
      const std::string filesystem = known->value("filesystem", "");
      if (filesystem != wish_.name) {
        return fail(ErrorCode::kAlreadyExists,
                    fmt::format("export {}: it is of filesystem {} (choose another --name)",
                                wish_.name, filesystem));
      }
      pseudo_ = known->value("pseudo", "/" + wish_.name);
      there(fmt::format("export {}", wish_.name));
      return {};
    }
    pseudo_ = "/" + wish_.name;
    Words clients = wish_.clients;
    for (const Cidr& vip : vips_) {
      if (!wish_.clients.empty()) break;
      const std::string text = Cidr{vip.network(), vip.prefix_length}.to_string();
      if (std::find(clients.begin(), clients.end(), text) == clients.end()) clients.push_back(text);
    }
    Words words = {"export",
                   "create",
                   wish_.name,
                   "--fs",
                   wish_.name,
                   "--clients",
                   clients.empty() ? "NETWORK" : joined(clients)};
    if (wish_.squash != "root") words.insert(words.end(), {"--squash", wish_.squash});
    step(std::move(words),
         wish_.clients.empty() ? "the networks of the VIPs may mount it" : "who may mount it");
    return {};
  }

  // The VNFS that has this VIP; nullptr: none.
  const json* owner_of(const Cidr& vip) const {
    for (const json& vnfs : seen_.vnfs) {
      for (const json& other : vnfs.value("vips", json::array())) {
        const auto address = IpAddress::parse(other.value("address", ""));
        if (address && *address == vip.address) return &vnfs;
      }
    }
    return nullptr;
  }

  void vnfses() {
    std::vector<Cidr> fresh;
    for (const Cidr& vip : vips_) {
      add_mount(vip.address);
      const json* vnfs = owner_of(vip);
      if (vnfs == nullptr) {
        fresh.push_back(vip);
        continue;
      }
      const std::string name = vnfs->value("name", "");
      there(fmt::format("VNFS {} with {}", name, vip.to_string()));
      const Words exports = vnfs->value("exports", json::array()).get<Words>();
      if (std::find(exports.begin(), exports.end(), wish_.name) == exports.end())
        step({"export", "add", wish_.name, "--vnfs", name}, "that VNFS serves it, too");
      if (vnfs->value("wanted", "") == "stopped")
        out_.notes.push_back(fmt::format("VNFS {} is stopped: symnas vnfs start {}", name, name));
    }
    Spread spread(heads_, seen_.vnfs);
    std::set<std::string> taken = names_of(seen_.vnfs);
    const Words primaries = spread.primaries(std::max<std::size_t>(fresh.size(), vips_.empty()));
    for (std::size_t i = 0; i < primaries.size(); ++i) {
      const Words heads = spread.heads_of(primaries[i]);
      step({"vnfs", "create", free_name("vnfs", 1, taken), "--vip",
            fresh.empty() ? "ADDRESS/PREFIX" : fresh[i].to_string(), "--network", network_,
            "--exports", wish_.name, "--heads", joined(heads)},
           heads.size() == 1 ? "a server of its own address"
                             : fmt::format("a server of its own address, on {}; {} would be next",
                                           heads[0], heads[1]));
    }
    vips_wanted();
  }

  void vips_wanted() {
    const std::size_t best = std::min<std::size_t>(heads_.size(), 2);
    if (vips_.empty()) {
      out_.missing.push_back(fmt::format(
          "--vip ADDRESS/PREFIX{}: {} in the clients' network that nobody has, as 10.0.0.101/24",
          best > 1 ? ", twice" : "", best > 1 ? "addresses" : "an address"));
    } else if (vips_.size() < best) {
      out_.notes.push_back("with a second --vip another head would serve at the same time");
    }
    if (heads_.size() == 1)
      out_.notes.push_back("with one head nobody goes on when it fails: symnas head invite");
  }

  void add_mount(const IpAddress& address) {
    const std::string text = address.to_string();
    const std::string host = address.family == AddressFamily::kIpv6 ? "[" + text + "]" : text;
    out_.mounts.push_back(shell_command({"mount", "-o", "vers=4.1", host + ":" + pseudo_, "/mnt"}));
  }

  const QuickstartSeen& seen_;
  const QuickstartWish& wish_;
  const Words heads_;
  std::vector<Cidr> vips_;
  std::string network_, pseudo_;
  QuickstartProposal out_;
};

}  // namespace

std::string shell_command(const std::vector<std::string>& words) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";
  std::string out;
  for (const std::string& word : words) {
    if (!out.empty()) out += ' ';
    if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) {
      out += word;
      continue;
    }
    out += '\'';
    for (const char c : word) out += c == '\'' ? "'\\''" : std::string(1, c);
    out += '\'';
  }
  return out;
}

Result<QuickstartProposal> propose(const QuickstartSeen& seen, const QuickstartWish& wish) {
  return Proposer(seen, wish).propose();
}

}  // namespace symnas::vnfsd::ctl
