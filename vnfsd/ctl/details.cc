#include "vnfsd/ctl/details.h"

#include <map>

namespace symnas::vnfsd::ctl {

std::string_view details_of(std::string_view command) {
  static const std::map<std::string_view, std::string_view> kDetails = {
      {"cluster init",
       "Writes the files of the first head: certificate authority, certificate, etcd.yml, "
       "vnfsd.toml. Nothing is overwritten. Quota: docs/operations/etcd_quota.md; fencing: "
       "docs/operations/fencing.md."},
      {"head invite",
       "Makes the bundle for a further head. FILE holds a private key. With --etcd-member "
       "the head runs an etcd member too."},
      {"head join",
       "Writes the files of this head from a bundle. Options are those of cluster init for "
       "directories, LUN paths, probe addresses and fencing."},
      {"head fence",
       "Has another head cut off, by the LUNs' reservations or the fence agent, then ends "
       "the mounts of that head (docs/operations/fencing.md)."},
      {"head drain",
       "The VNFSs of a drained head move to other heads while their clients go on. The head "
       "takes no VNFS that another head can serve, over reboots too. What nobody else can "
       "serve stays; --wait says what and why."},
      {"head undrain",
       "The VNFSs of a drained head move to other heads while their clients go on. The head "
       "takes no VNFS that another head can serve, over reboots too. What nobody else can "
       "serve stays; --wait says what and why."},
      {"head check",
       "Says whether this machine is fit to be a head: clock, kernel, ports, etcd's disk, "
       "the way to other heads, LUNs, means of fencing; before cluster init and head join, "
       "whose options it takes, and afterwards. Changes nothing. Exit code 8: there is a "
       "problem (docs/operations/preflight.md)."},
      {"head upgrade",
       "Replaces the instances that an earlier version of vnfsd has started on a head (this "
       "one, if none is named), one VNFS after the other, while clients go on: each moves to "
       "another of its heads and back, or is restarted in place."},
      {"cluster raise-level",
       "Lets the records of the cluster hold what this version brings. Refused while a head "
       "or an instance is of an earlier version; earlier versions are not admitted "
       "afterwards (docs/operations/upgrades.md)."},
      {"head rm",
       "Removes a head that is drained, was fenced, or never started, and that no VNFS is "
       "on. Under another decider than the builtin one it need not be drained. --yes also "
       "takes it off the heads of every VNFS. Its etcd member goes with it, unless the "
       "others would have no quorum. Its vnfsd does nothing for the cluster any more and "
       "says so. After head invite another machine may join under that name, or this one "
       "with the new bundle. A machine that was fenced has to be rebooted before."},
      {"quickstart",
       "Proposes the commands that make a network, LUNs of all blank devices (or of those "
       "that are named), a volume, a filesystem, an export, and a VNFS for each VIP; says "
       "why, and what is missing. A device that holds anything is never imported. With "
       "--commit it runs them, up to the first that fails; the same again goes on with what "
       "is left. Further options: --name (of filesystem and export, data unless given), "
       "--volume (v1), --clients (the networks of the VIPs), --squash (root)."},
      {"network create",
       "What a VNFS sends from a VIP leaves by that VIP's network. To hosts outside its "
       "subnet it goes through the gateway of its family (one of IPv4, one of IPv6)."},
      {"vnfs keytab set",
       "The keytab is of nfs/VNFS.DOMAIN, with keys of AES; keys of the former kvno are kept "
       "(docs/operations/kerberos.md). --owner-domain is the Domain of the clients' idmapd.conf; "
       "without it the domain stays as it is."},
      {"lun scan",
       "Shows the devices that this head could import, what is on each (free; a LUN of this "
       "or another cluster; a filesystem, RAID or LVM member or partition table; in use), "
       "and which heads see those that are LUNs. Looks where vnfsd.toml says (lun_paths), or "
       "at devices, directories and globs. Changes nothing."},
      {"lun import",
       "Labels devices as LUNs of this cluster. A device that carries another label, a "
       "filesystem or a partition table is refused unless it is named with --force; what it "
       "holds is then destroyed."},
      {"lun release",
       "Release erases the label of a LUN that no volume uses. With --forget the LUN is gone "
       "for ever, and its label is left as it is."},
      {"lun scrub",
       "Has one head read every block that files have, slowly, and tells which bytes of which "
       "files could not be read. It looks at both copies of the label, too. The LUN rests three "
       "times as long as a read took, so a busy LUN is read less. Another head goes on if the one "
       "that reads is away. File data has no checksums: bytes that can be read, but are others "
       "than those written, are not found."},
      {"volume create",
       "Stripes LUNs. The unit is a power of two from 64K to 16M, 1M unless given."},
      {"fs check",
       "Reads all records of the filesystem at one moment, while clients work, and prints "
       "one line for each inconsistency and one with counts. Ends with 8 when something was "
       "found. With --repair it says for each finding what would be done, or why nothing can be "
       "proved, asks, does it, and checks again until nothing is left that can be done. Each "
       "step is one transaction that does nothing when something it was reasoned from has "
       "changed; what was there before is kept (fs repairs). Interrupted, it can just be run "
       "again. Files that have lost their names get one in /lost+found."},
      {"fs repairs",
       "Lists what was repaired, when and by which head; -o json also has each changed key with "
       "its values before and after, in hexadecimal, by which it can be undone. The last 1000 "
       "are kept."},
      {"fs dump", "Prints an inode, its extents, and where on which LUN each byte of them lies."},
      {"export create",
       "Clients mount VIP:/NAME, or VIP:PATH with --pseudo. '*' stands for every client. "
       "Whom --squash, as in exports(5), makes anonymous is 65534:65534, or as --anon says. "
       "Each --client is a rule of its own: an address, network, host name, name with "
       "wildcards, @netgroup or '*', and options of exports(5) (rw, ro, root_squash, "
       "no_root_squash, all_squash, anonuid=N, anongid=N). The most specific rule holds. "
       "With --manage-gids on the groups of callers are those that the head's name services "
       "know, not those of the request."},
      {"export set",
       "Changes what is given, also while VNFSs serve the export. Their clients go on, and "
       "the new rules hold when the command returns. What a VNFS cannot serve is taken back, "
       "and the command says why. With --pseudo '' clients mount /NAME again; who has the "
       "export mounted keeps it."},
      {"export add", "Has more VNFSs serve the export, also running ones."},
      {"export rm",
       "Takes the export off these VNFSs, or off all and removes it. An export that clients "
       "use is removed only with --yes: they get stale handles and lose their locks. The "
       "only export of a VNFS stays."},
      {"vnfs create",
       "Makes a virtual NFS server with one to four VIPs, IPv4 or IPv6, and starts it. The "
       "first head is its primary. Waits until it serves (--timeout, --no-wait). With "
       "--failback auto it goes to an earlier one of its heads as soon as that has served "
       "for a minute."},
      {"vnfs create-set",
       "Makes one VNFS for each head: PREFIX1, PREFIX2, ... The other heads are its backups, "
       "in rotation. Each VNFS has the next address of every range."},
      {"vnfs set",
       "Changes what is given, also while the VNFS is served. The head that it is on stays "
       "among its heads."},
      {"vnfs status",
       "Prints a table of VNFSs and heads: P is the primary, 1, 2, ... are the backups, * "
       "marks the head that has the VNFS. Every head shows the states of all VNFSs; what a "
       "silent head told last is said to be of the past. Below the table it says whose "
       "exports are not served as they are recorded, and why."},
      {"vnfs why",
       "Says whether a VNFS may run on a head now, and changes nothing: whether it runs "
       "there, what its role there is, who has it, what is planned; each reason against that "
       "head on a line of its own, with what to do about it; and, if it may go there, what "
       "brings it. Ends with 0 whatever it says."},
      {"vnfs history",
       "Shows how a VNFS came to be served where, the last 32 times: when, why (start, "
       "restart, move, failover), from and to which head, and for how long its clients had "
       "no answer. --steps shows when each step was taken. Times of two heads are compared: "
       "they are as right as their clocks."},
      {"vnfs rehost",
       "Moves a VNFS to another of its heads while its clients go on. Waits until it is "
       "served there. When the head has not answered after SECONDS (15), the order is taken "
       "back and the VNFS has not noticed anything. A VNFS that fails back by itself does "
       "not do so from there. --dry-run says how many clients and owners of locks would "
       "notice, and how long earlier moves took; or why the move would be refused."},
      {"vnfs restart",
       "Closes the VNFS's instance as for a move, and starts another one on its head. Locks "
       "stay held."},
      {"vnfs distribute",
       "Moves every VNFS to the best of its heads. No head gets more than its share of the "
       "VNFSs."},
      {"vnfs rm",
       "A stopped VNFS that clients had mounted, or that has locks recorded, is removed with "
       "--yes only; without it the command says how many."},
      {"ha decider",
       "Shows what decides where VNFSs run, or makes it another. No VNFS moves by that, and "
       "no client waits."},
      {"ha take",
       "Orders of a decider: the head (this one) is to serve the VNFS, or to serve it no "
       "more. They wait until it is so; what keeps it from being done now is waited for, "
       "too, until SECONDS are over, and said then. A VNFS that another head serves is moved "
       "as by vnfs rehost; if that head is not heard it is fenced first. Refused at once "
       "unless DECIDER is the decider."},
      {"ha leave",
       "Orders of a decider: the head (this one) is to serve the VNFS, or to serve it no "
       "more. They wait until it is so; what keeps it from being done now is waited for, "
       "too, until SECONDS are over, and said then. A VNFS that another head serves is moved "
       "as by vnfs rehost; if that head is not heard it is fenced first. Refused at once "
       "unless DECIDER is the decider."},
      {"ha standing",
       "Says how the VNFS stands with the head: serving, moving, sick or stopped, and why."},
      {"ha keepalived generate",
       "Prints keepalived.conf of the head (this one), with a VRRP instance for each of its "
       "VNFSs. DEVICE is its device of the management network; without it the one of this "
       "machine that has the head's address."},
      {"ha pacemaker generate",
       "Prints the commands of pcs (--crm: of crm) for a cluster that has nothing."},
      {"ha pacemaker apply", "Runs the commands that are missing."},
      {"ha pacemaker check",
       "Says what is not as it should be, and ends with 8 if there is anything."},
      {"lock ls",
       "Shows the byte-range locks that clients hold. CLIENT is the address or name of an "
       "NFSv3 client, or the client id of an NFSv4 client as it is shown."},
      {"lock clear",
       "Takes the locks that match away from clients that will not come back. At least one "
       "filter is needed. The clients are not told. Without --yes the command says how many "
       "locks match and ends with 2."},
      {"quota on",
       "Counts what each user and group uses, while clients work: the heads that serve the "
       "filesystem look at every inode once. Limits hold when symnas quota ls says that quotas "
       "are on. All heads must have this version (symnas cluster raise-level)."},
      {"quota off", "Limits do not hold any more; they stay, for the next symnas quota on."},
      {"quota set",
       "Who reaches a hard limit gets \"disk quota exceeded\"; a soft limit may be passed for the "
       "time of its grace. What is not given stays as it is. --each-user and --each-group limit "
       "every one who has no limits of his own (limits of 0 are such, too). Root is limited by "
       "trees only, and "
       "limits of a tree hold when all in it is marked (symnas quota ls). Several heads "
       "that write at once may pass a limit, each but one by at most a 64th of it (1 MiB to "
       "64 MiB; 1 to 1024 inodes)."},
      {"quota rm", "Its usage is counted on."},
      {"quota ls", "GRACE is what is left of the time above the soft limit."},
      {"quota report", "As symnas quota ls, with those that have no limit."},
      {"quota tree add",
       "What the directory holds is marked while clients work: until symnas quota ls no longer "
       "says "
       "that it is marking, limits of the tree do not hold. Trees do not lie in each other. "
       "Renames "
       "and links from one tree into another, or out of one, are refused (EXDEV; mv copies then)."},
      {"quota tree rm",
       "Nothing in the directory changes; users and groups use what they have used. A directory "
       "that "
       "is removed takes its tree along by itself."},
      {"quota tree ls", "Paths are those of when the trees were made."},
      {"drill move",
       "While this head probes the VNFS. Reports every gap and whether that is good enough. "
       "Run it on a head that does not serve the VNFS meanwhile."},
      {"capacity",
       "Shows files, directories and space of each filesystem, what it takes up in etcd and "
       "how many more files fit, and memory of the instances of this head. Reads all "
       "records, as fs check."},
      {"oranfstab",
       "Prints a server entry for oranfstab: the VIPs of the VNFSs are its paths (four at most, "
       "the first of each VNFS first), the exports that all of them have its exports. A local "
       "address is paired with a VIP of its network. With --check, to be run on the database "
       "host (--remote), it asks each path instead: does NFS answer from the local address, and "
       "do packets of the size that both ends agreed on arrive? It also says what the records "
       "show: an export that does not admit the host, a VNFS that is stopped. Exit code 8: there "
       "is a problem (docs/operations/oracle.md)."},
      {"support-bundle",
       "Writes one archive (tar, gzip) for whoever helps: configuration, records, logs, "
       "versions and network of this head, also while vnfsd or etcd is away. Keys, passwords "
       "and values of fence options are left out; names and addresses are not "
       "(docs/operations/support.md). Nothing is overwritten."},
  };
  const auto found = kDetails.find(command);
  return found == kDetails.end() ? "" : found->second;
}

}  // namespace symnas::vnfsd::ctl
