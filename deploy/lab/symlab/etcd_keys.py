"""Reads and writes keys of a lab's etcd without the product's knowledge, for tests of damages.

Speaks etcd's JSON gateway (/v3/kv/...), because keys are binary and etcdctl takes text only.
"""

import base64
import http.client
import json
import os
import ssl

from . import netns
from .errors import LabError

TIMEOUT_S = 10.0
OPS_AT_ONCE = 100  # of a transaction; etcd takes 128


class EtcdKeys:
    """Keys as read from and written to a head's etcd member (default: the first); it must run."""

    def __init__(self, lab, head=None):
        self.head = lab.head(head) if head else lab.state.data["heads"][0]
        tls = os.path.join(self.head["config_dir"], "tls")
        self.context = ssl.create_default_context(cafile=os.path.join(tls, "ca.crt"))
        self.context.load_cert_chain(os.path.join(tls, "head.crt"), os.path.join(tls, "head.key"))

    def _call(self, member, *request):
        with netns.entered(self.head["netns"]):
            connection = http.client.HTTPSConnection(member, 2379, timeout=TIMEOUT_S,
                                                     context=self.context)
            connection.connect()
        try:
            connection.request(*request)
            answer = connection.getresponse()
            text = answer.read()
        finally:
            connection.close()
        if answer.status != 200:
            raise LabError(f"etcd: {request[1]}: status {answer.status}: {text[:300]}")
        return text

    def _ask(self, verb, body):
        return json.loads(self._call(self.head["mgmt"], "POST", f"/v3/kv/{verb}",
                                     json.dumps(body)))

    def requests_served(self, members):
        """How many transactions and reads these members (addresses) have served so far."""
        text = "".join(self._call(member, "GET", "/metrics").decode() for member in members)
        return sum(int(float(line.split()[-1])) for line in text.splitlines()
                   if line.startswith("grpc_server_handled_total")
                   and 'grpc_service="etcdserverpb.KV"' in line)

    @staticmethod
    def _text(value):
        return base64.b64encode(value).decode()

    def below(self, prefix):
        """All keys with this prefix: {key: value}."""
        end = prefix[:-1] + bytes([prefix[-1] + 1])
        found = self._ask("range", {"key": self._text(prefix), "range_end": self._text(end)})
        return {base64.b64decode(kv["key"]): base64.b64decode(kv.get("value", ""))
                for kv in found.get("kvs", [])}

    def put(self, key, value):
        self._ask("put", {"key": self._text(key), "value": self._text(value)})

    def put_all(self, values):
        """Puts {key: value}, in transactions of OPS_AT_ONCE."""
        items = [{"requestPut": {"key": self._text(key), "value": self._text(value)}}
                 for key, value in values.items()]
        for first in range(0, len(items), OPS_AT_ONCE):
            self._ask("txn", {"success": items[first:first + OPS_AT_ONCE]})

    def erase_below(self, prefix):
        end = prefix[:-1] + bytes([prefix[-1] + 1])
        self._ask("deleterange", {"key": self._text(prefix), "range_end": self._text(end)})

    def erase(self, key):
        self._ask("deleterange", {"key": self._text(key)})
