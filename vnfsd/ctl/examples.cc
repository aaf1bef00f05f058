#include "vnfsd/ctl/examples.h"

#include <sstream>
#include <utility>

#include "vnfsd/ctl/command_tree.h"

namespace symnas::vnfsd::ctl {
namespace {

constexpr const char* kTitle = "Examples:";
constexpr const char* kBegin = "  symnas ";

// A command, and lines that it takes; several of one command are in the order of --help.
const std::vector<std::pair<const char*, const char*>>& lines() {
  static const std::vector<std::pair<const char*, const char*>> kLines = {
      {"cluster init", "cluster init --name lab --head c1n1 --address 10.99.0.1"},
      {"cluster raise-level", "cluster raise-level --dry-run"},
      {"head invite", "head invite c1n2 --address 10.99.0.2 --out c1n2.bundle --etcd-member"},
      {"head join", "head join --bundle c1n2.bundle"},
      {"head fence", "head fence c1n2 --yes"},
      {"head rm", "head rm c1n2"},
      {"head ls", "head ls"},
      {"head drain", "head drain c1n2 --wait"},
      {"head undrain", "head undrain c1n2"},
      {"head upgrade", "head upgrade c1n2"},
      {"head check", "head check --peer 10.99.0.2"},
      {"etcd ls", "etcd ls"},
      {"etcd rm", "etcd rm c1n2"},
      {"network create", "network create nfs0 --device eth1 --gateway 10.0.0.254,fd00::254"},
      {"network ls", "network ls"},
      {"network rm", "network rm nfs0"},
      {"lun scan", "lun scan '/dev/mapper/*'"},
      {"lun import", "lun import LUN0=/dev/mapper/lun0 LUN1=/dev/mapper/lun1"},
      {"lun import", "lun import LUN0=/dev/mapper/lun0 --force LUN0"},
      {"lun ls", "lun ls"},
      {"lun release", "lun release LUN0"},
      {"volume create", "volume create v1 --luns LUN0,LUN1 --stripe-unit 256K"},
      {"volume grow", "volume grow v1 --luns LUN2,LUN3"},
      {"lun scrub", "lun scrub LUN0 --rate 4M"},
      {"lun scrub", "lun scrub --status"},
      {"volume ls", "volume ls"},
      {"volume rm", "volume rm v1"},
      {"fs create", "fs create u04 --volume v1 --owner 0:0 --mode 0755"},
      {"fs set", "fs set u04 --atime relatime"},
      {"fs ls", "fs ls"},
      {"fs rm", "fs rm u04"},
      {"fs check", "fs check u04"},
      {"fs check", "fs check u04 --repair --dry-run"},
      {"fs repairs", "fs repairs u04"},
      {"fs dump", "fs dump u04 /dir/file"},
      {"fs dump", "fs dump u04 --ino 17"},
      {"export create", "export create u04 --fs u04 --clients 10.0.0.0/24 --squash root"},
      {"export create", "export create home --fs u04 --clients 10.0.0.0/24 --sec krb5p,krb5i"},
      {"export create", "export create db --fs u04 --path /db --client 10.0.0.7:rw,no_root_squash"},
      {"export set", "export set u04 --access ro"},
      {"export add", "export add u04 --vnfs vnfs1,vnfs2"},
      {"export rm", "export rm u04 --vnfs vnfs1"},
      {"export ls", "export ls"},
      {"vnfs create",
       "vnfs create vnfs1 --vip 10.0.0.101/24 --network nfs0 --exports u04 --heads c1n1,c1n2"},
      {"vnfs start", "vnfs start vnfs1"},
      {"vnfs stop", "vnfs stop vnfs1"},
      {"vnfs ls", "vnfs ls"},
      {"vnfs ls", "vnfs ls --watch"},
      {"vnfs rm", "vnfs rm vnfs1"},
      {"vnfs set", "vnfs set vnfs1 --heads c1n2,c1n1 --failback auto"},
      {"vnfs create-set", "vnfs create-set vnfs --vip-range 10.0.0.101/24@nfs0 --exports u04"},
      {"vnfs restart", "vnfs restart vnfs1"},
      {"vnfs keytab set", "vnfs keytab set vnfs1 --file vnfs1.keytab"},
      {"vnfs keytab show", "vnfs keytab show vnfs1"},
      {"vnfs keytab rm", "vnfs keytab rm vnfs1"},
      {"vnfs rehost", "vnfs rehost vnfs1 c1n2"},
      {"vnfs rehost", "vnfs rehost vnfs1 c1n2 --dry-run"},
      {"vnfs history", "vnfs history vnfs1 --steps"},
      {"vnfs failback", "vnfs failback vnfs1"},
      {"vnfs failback", "vnfs failback --all"},
      {"vnfs distribute", "vnfs distribute --dry-run"},
      {"vnfs status", "vnfs status"},
      {"vnfs status", "vnfs status --watch 5"},
      {"vnfs why", "vnfs why vnfs1 c1n2"},
      {"ha decider", "ha decider pacemaker"},
      {"ha take", "ha take vnfs1 --by pacemaker --head c1n2"},
      {"ha leave", "ha leave vnfs1 --by pacemaker"},
      {"ha standing", "ha standing vnfs1"},
      {"ha pacemaker generate", "ha pacemaker generate"},
      {"ha pacemaker apply", "ha pacemaker apply --dry-run"},
      {"ha pacemaker check", "ha pacemaker check"},
      {"ha keepalived generate", "ha keepalived generate --head c1n2"},
      {"lock ls", "lock ls --fs u04 --path /dir/file"},
      {"lock clear", "lock clear --client 10.0.0.7 --yes"},
      {"quota on", "quota on u04"},
      {"quota off", "quota off u04"},
      {"quota set", "quota set u04 --user 1000 --bytes 10G --soft-bytes 8G"},
      {"quota set", "quota set u04 --each-user --bytes 10G"},
      {"quota set", "quota set u04 --tree /projects/a --bytes 500G"},
      {"quota rm", "quota rm u04 --user 1000"},
      {"quota ls", "quota ls u04"},
      {"quota report", "quota report u04"},
      {"quota tree add", "quota tree add u04 /projects/a"},
      {"quota tree rm", "quota tree rm u04 /projects/a"},
      {"quota tree ls", "quota tree ls u04"},
      {"status", "status"},
      {"status", "status --watch"},
      {"capacity", "capacity"},
      {"top", "top --by client,operation --sort bytes"},
      {"top", "top --once"},
      {"api on", "api on"},
      {"api token create", "api token create backup --role operator --expires 90d --out token"},
      {"api token ls", "api token ls"},
      {"api token revoke", "api token revoke backup"},
      {"api cert issue", "api cert issue alice --out /srv/keys/alice"},
      {"api cert ls", "api cert ls"},
      {"api cert revoke", "api cert revoke alice"},
      {"audit", "audit --follow"},
      {"events", "events --vnfs vnfs1"},
      {"events", "events --follow"},
      {"job ls", "job ls --watch"},
      {"drill move", "drill move vnfs1 c1n2"},
      {"drill kill", "drill kill vnfs1 --yes --report drill.txt"},
      {"drill crash", "drill crash"},
      {"quickstart", "quickstart --vip 10.0.0.101/24 --network nfs0=eth1"},
      {"quickstart", "quickstart --vip 10.0.0.101/24 --network nfs0=eth1 --commit"},
      {"oranfstab", "oranfstab --client db1 --vnfs vnfs1 --local 10.0.0.7,10.0.1.7"},
      {"oranfstab", "oranfstab --client db1 --vnfs vnfs1,vnfs2 --check"},
      {"completion", "completion bash"},
      {"support-bundle", "support-bundle --out bundle.tar.gz"},
      {"explain", "explain not_found"},
      {"explain", "explain 5"},
  };
  return kLines;
}

}  // namespace

void add_examples(CLI::App& root) {
  for (const auto& [path, line] : lines()) {
    CLI::App* command = find_command(root, path);
    if (command == nullptr) continue;
    std::string footer = command->get_footer();
    if (!footer.empty() && footer.back() != '\n') footer += "\n";
    if (footer.find(kTitle) == std::string::npos) footer += std::string(kTitle) + "\n";
    command->footer(footer + kBegin + line + "\n");
  }
}

std::vector<std::string> examples_of(const CLI::App& command) {
  std::vector<std::string> out;
  std::istringstream footer(command.get_footer());
  for (std::string line; std::getline(footer, line);) {
    const std::size_t begin = line.find(kBegin);
    if (begin != std::string::npos) out.push_back(line.substr(begin + std::string(kBegin).size()));
  }
  return out;
}

}  // namespace symnas::vnfsd::ctl
