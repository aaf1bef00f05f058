"""The power switch of the machines: GET /off/NAME, /on/NAME, /status/NAME on 10.99.0.254:9000."""

import contextlib
import http.server
import threading

ADDRESS, PORT = "10.99.0.254", 9000

# In the machines: speaks the protocol of fence agents (ha/fencing/fence_agent.h), asks the switch.
AGENT = f"""#!/bin/bash
while IFS== read -r key value; do
  case $key in action) action=$value ;; plug | port) plug=$value ;; esac
done
ask() {{
  exec 3<>/dev/tcp/{ADDRESS}/{PORT} || exit 1
  printf 'GET /%s/%s HTTP/1.0\\r\\n\\r\\n' "$1" "$2" >&3
  tail -n 1 <&3
}}
case $action in
  monitor) [ -n "$(ask status c1n1)" ] ;;
  off) [ "$(ask off "$plug")" = off ] && echo "the switch has turned $plug off" ;;
  status) if [ "$(ask status "$plug")" = on ]; then exit 0; else exit 2; fi ;;
  *) exit 1 ;;
esac
"""


class Switch:
    """Serves until close(). `machines`: {name: Machine}. `works`: it turns them off when asked;
    else it says that it cannot. REQUIRES: made inside the namespace."""

    def __init__(self, machines):
        self.works = True
        switch = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                _, action, name = self.path.split("/")
                machine = machines[name]
                if action == "off" and switch.works:
                    machine.power_off()
                body = ("on" if machine.is_on() else "off").encode()
                if action == "off" and not switch.works:
                    body = b"broken"
                self.send_response(200)
                self.end_headers()
                with contextlib.suppress(BrokenPipeError):  # the agent does not wait for it
                    self.wfile.write(body)

            def log_message(self, *args):
                pass

        self.server = http.server.ThreadingHTTPServer((ADDRESS, PORT), Handler)
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()
