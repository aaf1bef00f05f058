"""What the heads of a SAN have of corosync and pacemaker; nothing of it runs by itself.

As `symnas ha pacemaker generate` says, but in files: these machines have neither pcs nor crmsh.
corosync.conf(5), votequorum(5): of two nodes each has quorum alone.
"""

TOKEN_MS = 10_000  # these machines are slow
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
  two_node: 1
}}
logging {{
  to_syslog: yes
}}
"""
NODE = """  node {{
    ring0_addr: 10.98.0.{number}
    name: c1n{number}
    nodeid: {number}
  }}
"""
PROPERTIES = {"stonith-enabled": "true", "stonith-action": "off", "no-quorum-policy": "freeze",
              "stonith-timeout": "120s", "dc-deadtime": "5s"}
OPERATIONS = {"start": 120, "stop": 90, "monitor": 40, "migrate_to": 120, "migrate_from": 60}
CIB = """<cib admin_epoch="0" epoch="1" num_updates="0" validate-with="pacemaker-3.9">
<configuration><crm_config><cluster_property_set id="cib">{properties}</cluster_property_set>
</crm_config><nodes/><resources>
<primitive id="symnas-fence" class="stonith" type="fence_symnas">
<instance_attributes id="f"><nvpair id="f-off" name="pcmk_off_timeout" value="120s"/>
<nvpair id="f-monitor" name="pcmk_monitor_timeout" value="120s"/></instance_attributes>
<operations><op id="f-start" name="start" interval="0s" timeout="120s"/></operations></primitive>
<primitive id="vnfs1" class="ocf" provider="symnas" type="vnfs">
<instance_attributes id="v"><nvpair id="v-vnfs" name="vnfs" value="vnfs1"/></instance_attributes>
<meta_attributes id="m"><nvpair id="m-am" name="allow-migrate" value="true"/>
<nvpair id="m-rs" name="resource-stickiness" value="2000"/></meta_attributes>
<operations>{operations}</operations></primitive>
</resources><constraints/></configuration><status/></cib>
"""
UNITS = ("corosync", "pacemaker")


def files():
    """{path: text}"""
    nodes = "".join(NODE.format(number=number) for number in (1, 2))
    properties = "".join(f'<nvpair id="p-{name}" name="{name}" value="{value}"/>'
                         for name, value in PROPERTIES.items())
    operations = "".join(
        f'<op id="o-{name}" name="{name}" interval="{10 if name == "monitor" else 0}s" '
        f'timeout="{seconds}s"/>' for name, seconds in OPERATIONS.items())
    return {"etc/corosync/corosync.conf": COROSYNC.format(token_ms=TOKEN_MS, nodes=nodes),
            "etc/symnas-cib.xml": CIB.format(properties=properties, operations=operations)}
