// What is proposed for what is seen, as text.
#include "vnfsd/ctl/quickstart_plan.h"

#include <gmock/gmock.h>

#include <fmt/core.h>

namespace symnas::vnfsd::ctl {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

json free_device(const std::string& path, std::uint64_t gib = 2) {
  return {{"path", path},
          {"state", "free"},
          {"blank", true},
          {"partition", false},
          {"size_bytes", gib << 30}};
}

json lun(const std::string& name, const std::string& volume = "") {
  return {{"name", name}, {"volume", volume}, {"size_bytes", std::uint64_t{2} << 30}};
}

json vnfs(const std::string& name, const std::string& vip, std::vector<std::string> exports,
          std::vector<std::string> heads) {
  return {{"name", name},
          {"vips", {{{"address", vip}}}},
          {"exports", exports},
          {"heads", heads},
          {"wanted", "started"}};
}

class Quickstart : public ::testing::Test {
 protected:
  void heads(const std::vector<std::string>& names) {
    seen.heads = json::array();
    for (const std::string& name : names)
      seen.heads.push_back({{"name", name}, {"state", "serving"}});
  }
  // "+ what is there", "command  # why", "! missing", "~ note", "> mount"; a line each.
  std::string proposed() {
    const auto proposal = propose(seen, wish);
    if (!proposal) return "error: " + proposal.error().message;
    std::string out = "\n";
    for (const std::string& line : proposal->there) out += "+ " + line + "\n";
    for (const QuickstartStep& step : proposal->steps)
      out += fmt::format("{}  # {}\n", shell_command(step.words), step.why);
    for (const std::string& line : proposal->missing) out += "! " + line + "\n";
    for (const std::string& line : proposal->notes) out += "~ " + line + "\n";
    for (const std::string& line : proposal->mounts) out += "> " + line + "\n";
    return out;
  }
  // The commands alone.
  std::string commands() {
    const auto proposal = propose(seen, wish);
    if (!proposal) return "error: " + proposal.error().message;
    std::string out = "\n";
    for (const QuickstartStep& step : proposal->steps) out += shell_command(step.words) + "\n";
    return out;
  }
  QuickstartSeen seen{json::array(), json::array(), json::array(), json::array(),
                      json::array(), json::array(), json::array(), json::array()};
  QuickstartWish wish;
};

TEST_F(Quickstart, AnEmptyClusterOfThreeHeads) {
  heads({"c1n1", "c1n2", "c1n3"});
  seen.devices = {free_device("/dev/mapper/a"), free_device("/dev/mapper/b")};
  wish.vips = {"10.0.0.101/24", "10.0.0.102/24"};
  wish.network = "nfs0=eth1";
  EXPECT_EQ(proposed(), R"(
network create nfs0 --device eth1  # where the VIPs are
lun import LUN0=/dev/mapper/a LUN1=/dev/mapper/b  # 2 free devices become LUNs: labelled, and found by the label from then on
volume create v1 --luns LUN0,LUN1  # one volume, striped over 2 LUNs, about 4.00G
fs create data --volume v1 --mode 1777  # the filesystem; as in /tmp everybody may make files in its root
export create data --fs data --clients 10.0.0.0/24  # the networks of the VIPs may mount it
vnfs create vnfs1 --vip 10.0.0.101/24 --network nfs0 --exports data --heads c1n1,c1n3,c1n2  # a server of its own address, on c1n1; c1n3 would be next
vnfs create vnfs2 --vip 10.0.0.102/24 --network nfs0 --exports data --heads c1n2,c1n3,c1n1  # a server of its own address, on c1n2; c1n3 would be next
> mount -o vers=4.1 10.0.0.101:/data /mnt
> mount -o vers=4.1 10.0.0.102:/data /mnt
)");
}

TEST_F(Quickstart, WithoutOptionsItSaysWhatIsMissing) {
  heads({"c1n1", "c1n2"});
  EXPECT_EQ(proposed(), R"(
network create NAME --device DEVICE  # where the VIPs are
volume create v1 --luns LUNS  # a volume
fs create data --volume v1 --mode 1777  # the filesystem; as in /tmp everybody may make files in its root
export create data --fs data --clients NETWORK  # the networks of the VIPs may mount it
vnfs create vnfs1 --vip ADDRESS/PREFIX --network NAME --exports data --heads c1n1,c1n2  # a server of its own address, on c1n1; c1n2 would be next
! --network NAME=DEVICE: the network device of the clients, as nfs0=eth1; the same on every head (ip link)
! a free device: symnas lun scan shows what this head sees and what is on it; name the devices (symnas quickstart /dev/...), or add where they are to lun_paths in vnfsd.toml
! --vip ADDRESS/PREFIX, twice: addresses in the clients' network that nobody has, as 10.0.0.101/24
)");
}

TEST_F(Quickstart, OneHeadServesWithOneVnfs) {
  heads({"c1n1"});
  seen.devices = {free_device("/dev/sdb")};
  wish.vips = {"fd00::101/64"};
  wish.network = "nfs0=eth1";
  wish.name = "u04";
  wish.squash = "none";
  EXPECT_EQ(proposed(), R"(
network create nfs0 --device eth1  # where the VIPs are
lun import LUN0=/dev/sdb  # one free device becomes a LUN: labelled, and found by the label from then on
volume create v1 --luns LUN0  # one volume, striped over one LUN, about 2.00G
fs create u04 --volume v1  # the filesystem, whose root directory is root's
export create u04 --fs u04 --clients fd00::/64 --squash none  # the networks of the VIPs may mount it
vnfs create vnfs1 --vip fd00::101/64 --network nfs0 --exports u04 --heads c1n1  # a server of its own address
~ with one head nobody goes on when it fails: symnas head invite
> mount -o vers=4.1 '[fd00::101]:/u04' /mnt
)");
}

TEST_F(Quickstart, NeverImportsWhatHoldsSomething) {
  heads({"c1n1"});
  json unknown = free_device("/dev/sdb");
  unknown["blank"] = false;
  json part = free_device("/dev/sdc1");
  part["partition"] = true;
  json path = free_device("/dev/sdd");
  path["same_as"] = "/dev/sda";
  seen.devices = {free_device("/dev/sda"), unknown, part, path};
  for (const char* state :
       {"data", "in_use", "foreign", "damaged", "too_small", "unreadable", "imported", "forgotten"})
    seen.devices.push_back(
        {{"path", std::string("/dev/") + state}, {"state", state}, {"blank", true}});
  EXPECT_THAT(commands(), HasSubstr("\nlun import LUN0=/dev/sda\n"));
  EXPECT_THAT(proposed(), HasSubstr("~ /dev/sdb: left alone: it holds bytes of no known kind"));
  EXPECT_THAT(proposed(), HasSubstr("~ /dev/sdc1: left alone: a partition"));
  EXPECT_THAT(proposed(), HasSubstr("~ /dev/sdd: left alone: another path to /dev/sda"));
  EXPECT_THAT(proposed(), HasSubstr("~ 7 devices hold something or cannot be used"));
  // Whoever names a device has looked at it; what anybody can know it by still keeps it.
  wish.devices_named = true;
  EXPECT_THAT(commands(), HasSubstr("\nlun import LUN0=/dev/sda LUN1=/dev/sdb LUN2=/dev/sdc1\n"));
}

TEST_F(Quickstart, AnInterruptedImportGoesOnUnderItsNames) {
  heads({"c1n1"});
  seen.luns = {lun("LUN0"), lun("LUN5", "other")};
  json half = {{"path", "/dev/b"},
               {"state", "forgotten"},
               {"import_as", "LUN1"},
               {"size_bytes", std::uint64_t{1} << 30}};
  seen.devices = {free_device("/dev/a", 4), half};
  EXPECT_THAT(proposed(), HasSubstr("+ LUN LUN0, which no volume uses\n"));
  EXPECT_THAT(commands(), HasSubstr("\nlun import LUN2=/dev/a LUN1=/dev/b\n"
                                    "volume create v1 --luns LUN0,LUN2,LUN1\n"));
  EXPECT_THAT(proposed(), HasSubstr("~ the LUNs have 1.00G to 4.00G: of each the volume uses as "
                                    "much as the smallest has"));
}

TEST_F(Quickstart, EveryHeadHasToSeeTheLunsOfTheVolume) {
  heads({"c1n1", "c1n2"});
  seen.devices = {free_device("/dev/a")};
  const auto proposal = propose(seen, wish);
  ASSERT_TRUE(proposal);
  const auto volume = std::find_if(proposal->steps.begin(), proposal->steps.end(),
                                   [](auto& step) { return step.words[0] == "volume"; });
  EXPECT_EQ(volume->luns, std::vector<std::string>{"LUN0"});
  EXPECT_EQ(volume->heads, (std::vector<std::string>{"c1n1", "c1n2"}));
}

TEST_F(Quickstart, WhatIsThereIsUsed) {
  heads({"c1n1", "c1n2"});
  wish.vips = {"10.0.0.101/24", "10.0.0.102/24"};
  seen.networks = {{{"name", "nfs0"}, {"device", "eth1"}}};
  seen.volumes = {{{"name", "v1"}, {"luns", {"LUN0"}}}};
  EXPECT_EQ(commands(), R"(
fs create data --volume v1 --mode 1777
export create data --fs data --clients 10.0.0.0/24
vnfs create vnfs1 --vip 10.0.0.101/24 --network nfs0 --exports data --heads c1n1,c1n2
vnfs create vnfs2 --vip 10.0.0.102/24 --network nfs0 --exports data --heads c1n2,c1n1
)");
  seen.filesystems = {{{"name", "data"}, {"volume", "v1"}}};
  seen.exports = {{{"name", "data"}, {"filesystem", "data"}, {"pseudo", "/db/data"}}};
  seen.vnfs = {vnfs("vnfs1", "10.0.0.101", {"data"}, {"c1n1", "c1n2"})};
  EXPECT_EQ(proposed(), R"(
+ network nfs0 on eth1
+ filesystem data on volume v1
+ export data
+ VNFS vnfs1 with 10.0.0.101/24
vnfs create vnfs2 --vip 10.0.0.102/24 --network nfs0 --exports data --heads c1n2,c1n1  # a server of its own address, on c1n2; c1n1 would be next
> mount -o vers=4.1 10.0.0.101:/db/data /mnt
> mount -o vers=4.1 10.0.0.102:/db/data /mnt
)");
  seen.vnfs.push_back(vnfs("vnfs2", "10.0.0.102", {"other"}, {"c1n2", "c1n1"}));
  EXPECT_EQ(commands(), "\nexport add data --vnfs vnfs2\n");
  seen.vnfs[1]["exports"] = {"other", "data"};
  EXPECT_EQ(commands(), "\n");
}

TEST_F(Quickstart, NewVnfsesGoWhereTheFewestAre) {
  heads({"c1n10", "c1n1", "c1n2", "c1n3"});
  wish.vips = {"10.0.0.1/24", "10.0.0.2/24", "10.0.0.3/24"};
  seen.vnfs = {vnfs("vnfs1", "10.0.0.9", {"x"}, {"c1n1"})};
  const std::string said = commands();
  EXPECT_THAT(said, HasSubstr("vnfs create vnfs2 --vip 10.0.0.1/24 --network NAME --exports data "
                              "--heads c1n2,c1n3,c1n10,c1n1"));
  EXPECT_THAT(said, HasSubstr("--heads c1n3,c1n10,c1n1,c1n2"));
  EXPECT_THAT(said, HasSubstr("--heads c1n10,c1n1,c1n2,c1n3"));
}

TEST_F(Quickstart, HeadsThatDoNotServeGetNothing) {
  heads({"c1n1", "c1n2"});
  seen.heads[0]["state"] = "draining";
  wish.vips = {"10.0.0.1/24"};
  EXPECT_THAT(commands(), HasSubstr("--heads c1n2\n"));
  seen.heads[1]["state"] = "unknown";
  EXPECT_THAT(proposed(), HasSubstr("! a head that serves"));
}

TEST_F(Quickstart, WhatCannotBeIsRefused) {
  heads({"c1n1"});
  const auto refused = [&](const QuickstartWish& wanted) {
    const auto proposal = propose(seen, wanted);
    return proposal ? std::string("accepted") : proposal.error().message;
  };
  EXPECT_THAT(refused({.vips = {"10.0.0.0/24"}}), HasSubstr("10.0.0.0"));
  EXPECT_THAT(refused({.vips = {"10.0.0.1/24", "10.0.0.1/25"}}), HasSubstr("given twice"));
  EXPECT_THAT(refused({.network = "nfs0"}), HasSubstr("write it as NAME=DEVICE"));
  EXPECT_THAT(refused({.network = "nfs0=eth/1"}), HasSubstr("eth/1"));
  EXPECT_THAT(refused({.name = "a b"}), HasSubstr("a b"));
  EXPECT_THAT(refused({.volume = ""}), HasSubstr("volume"));
  seen.networks = {{{"name", "nfs0"}, {"device", "eth1"}}};
  EXPECT_THAT(refused({.network = "nfs0=eth2"}), HasSubstr("the device of network nfs0 is eth1"));
  seen.exports = {{{"name", "data"}, {"filesystem", "other"}}};
  EXPECT_THAT(refused({}), HasSubstr("export data: it is of filesystem other"));
}

TEST(ShellCommand, QuotesWhatAShellWouldTakeApart) {
  EXPECT_EQ(shell_command({"lun", "import", "LUN0=/dev/disk/by-id/a b", "", "it's", "$(x)"}),
            R"(lun import 'LUN0=/dev/disk/by-id/a b' '' 'it'\''s' '$(x)')");
}

}  // namespace
}  // namespace symnas::vnfsd::ctl
