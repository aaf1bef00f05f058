"""Documents of a cluster that is larger than a lab, grown from those that a lab has just given, so
that they have whatever real ones have. Pure.
"""

import copy

import api_client

HEADS, VNFSS, LOCKS = 16, 64, 10_000
PATHS = (*api_client.CHEAP, "/v1/load", "/v1/capacity", "/v1/api-tokens")


def head_name(number):
    return f"c1n{number}"


def owner_of(number):
    """The head that VNFS `number` is on (1 to VNFSS)."""
    return head_name((number - 1) % HEADS + 1)


def grown(documents):
    """{path: document} with HEADS heads, VNFSS VNFSs and LOCKS locks."""
    large = copy.deepcopy(documents)
    heads = [{**_first(documents, "/v1/heads", "heads"), "name": head_name(n),
              "address": f"10.99.0.{n}"} for n in range(1, HEADS + 1)]
    large["/v1/heads"]["heads"] = heads
    large["/v1/vnfs"]["vnfs"] = [
        _vnfs(_first(documents, "/v1/vnfs", "vnfs"), n) for n in range(1, VNFSS + 1)]
    status = large["/v1/status"]
    status["heads"] = heads
    status["vnfs"] = [_vnfs(documents["/v1/status"]["vnfs"][0], n) for n in range(1, VNFSS + 1)]
    placement = large["/v1/placement"]
    placement["heads"] = [{"name": head["name"], "state": "serving"} for head in heads]
    placement["vnfs"] = [_placed(documents["/v1/placement"]["vnfs"][0], n, owner_of(n))
                         for n in range(1, VNFSS + 1)]
    lock = documents["/v1/locks"]["locks"][0]
    large["/v1/locks"] = {"more": True, "locks": [
        {**lock, "ino": 1000 + n, "path": f"/data/file{n}", "owner": f"1/{n}",
         "client": f"db{n % 40}.example", "vnfs": f"vnfs{n % VNFSS + 1}"} for n in range(LOCKS)]}
    return large


def _first(documents, path, member):
    return documents[path][member][0]


def _vnfs(row, number):
    vip = {**row["vips"][0], "address": f"10.0.1.{number}/24"} if row.get("vips") else None
    return {**row, "name": f"vnfs{number}", "owner": owner_of(number), "vnfs_id": number,
            "heads": [head_name((number + n - 1) % HEADS + 1) for n in range(4)],
            **({"vips": [vip]} if vip else {})}


def _placed(row, number, owner):
    places = {head_name((number + n - 1) % HEADS + 1): "P" if n == 0 else str(n) for n in range(4)}
    places[owner] = "*" + places.get(owner, "")
    return {**row, "name": f"vnfs{number}", "owner": owner, "state": "serving", "why": "",
            "places": places}


def moved(documents, number, head):
    """The documents that change when a VNFS is on another head."""
    name = f"vnfs{number}"
    changed = {path: copy.deepcopy(documents[path])
               for path in ("/v1/placement", "/v1/vnfs", "/v1/status")}
    for rows in changed.values():
        for row in rows["vnfs"]:
            if row["name"] == name:
                row["owner"] = head
                if "places" in row:
                    row.update(_placed(row, number, head))
    return changed


def check_documents(documents):
    """Each is as docs/operations/openapi.json says."""
    for path, document in documents.items():
        schema = api_client.schema_of("GET", path, 200)
        wrong = [f"{path}: {error.json_path}: {error.message}"
                 for error in api_client.validator(schema).iter_errors(document)]
        if wrong:
            raise AssertionError("; ".join(wrong[:3]))
