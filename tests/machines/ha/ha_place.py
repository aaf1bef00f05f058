"""The machines with corosync, pacemaker and keepalived; none of them runs before a case starts it.

Configuration: corosync.conf(5), votequorum(5). All of it is written here, as a site's tools would.
"""

from place import Site, sh

UNITS = ("corosync", "pacemaker", "pcsd", "keepalived")
HEADS = ("c1n1", "c1n2", "c1n3")
TOKEN_MS = 1000
COROSYNC = """totem {{
  version: 2
  cluster_name: prod
  transport: knet
  token: {token_ms}
  crypto_cipher: none
  crypto_hash: none
}}
nodelist {{
{nodes}}}
quorum {{
  provider: corosync_votequorum
}}
logging {{
  to_syslog: yes
}}
"""
NODE = """  node {{
    ring0_addr: 10.99.0.{number}
    name: c1n{number}
    nodeid: {number}
  }}
"""
# Else the first start waits 20 s for a coordinator.
CIB = """<cib admin_epoch="0" epoch="1" num_updates="0" validate-with="pacemaker-3.9">
<configuration><crm_config><cluster_property_set id="cib-bootstrap-options">
<nvpair id="cib-bootstrap-options-dc-deadtime" name="dc-deadtime" value="3s"/>
</cluster_property_set></crm_config><nodes/><resources/><constraints/></configuration><status/>
</cib>
"""
# The switch (power.py) as pacemaker wants an agent to be.
STONITH_AGENT = """#!/bin/bash
request=$(cat)
case $(sed -n 's/^action=//p' <<<"$request") in
  metadata) cat <<'END'
<?xml version="1.0" ?>
<resource-agent name="fence_switch" shortdesc="The power switch of the machines">
<longdesc>The power switch of the machines</longdesc>
<parameters>
<parameter name="action" required="1"><content type="string" default="off"/></parameter>
<parameter name="plug" required="1"><content type="string"/></parameter>
</parameters>
<actions><action name="on"/><action name="off"/><action name="status"/><action name="list"/>
<action name="monitor"/><action name="metadata"/></actions>
</resource-agent>
END
    ;;
  on) ;;
  list) printf 'c1n1,\\nc1n2,\\nc1n3,\\n' ;;
  *) /usr/local/sbin/fence_switch <<<"$request" ;;
esac
"""


class HaSite(Site):
    """packages: folder of the .debs, of that release of Debian."""

    KIND = "ha"
    WANTED = ("machine.txt", "ha.txt")

    def __init__(self, prefix, packages, release):
        super().__init__(prefix, {"this": packages})
        self.release = release

    def _make_root(self, name):
        root = super()._make_root(name)
        nodes = "".join(NODE.format(number=number) for number in (1, 2, 3))
        self._write(root, "etc/corosync/corosync.conf",
                    COROSYNC.format(token_ms=TOKEN_MS, nodes=nodes))
        self._write(root, "usr/sbin/fence_switch", STONITH_AGENT, 0o755)
        self._write(root, "var/lib/pacemaker/cib/cib.xml", CIB)
        sh("chroot", root, "chown", "-R", "hacluster:haclient", "/var/lib/pacemaker/cib")
        units = UNITS if self.release == "bookworm" else (*UNITS, "etcd")
        sh("chroot", root, "systemctl", "disable", *units)
        return root

    def on(self, name):
        return self.machines[name]

    def somebody(self, but=""):
        """A machine that is on, another one than that."""
        return next(one for name, one in self.machines.items() if name != but and one.is_on())

    def restore_power(self):
        """Boots what is off."""
        self.switch.works = True
        for machine in self.machines.values():
            if not machine.is_on():
                machine.boot()
