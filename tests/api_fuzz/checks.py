"""Checks of replies beside schemathesis' own (it loads this file by SCHEMATHESIS_HOOKS)."""

import schemathesis

# 501: not configured on this head; 503: etcd is away; 507: no space. All others are defects.
EXPECTED = (501, 503, 507)


@schemathesis.check
def no_internal_error(_context, response, _case):
    """A server error is one of those that api.md lists, with a message."""
    if response.status_code < 500:
        return
    if response.status_code not in EXPECTED:
        raise AssertionError(f"status {response.status_code}: {response.text[:500]}")
    if not response.json()["error"]["message"]:
        raise AssertionError("an error without a message")
