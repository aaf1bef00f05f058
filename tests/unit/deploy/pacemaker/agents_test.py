"""The agents of deploy/pacemaker; symnas, stonith_admin and the OCF functions are scripts.

ocf-tester and pacemaker's own run of them: tests/machines/ha.
"""

import json
import os
import shutil
import subprocess
import tempfile
import time
import unittest
import xml.etree.ElementTree

HERE = os.path.dirname(os.path.abspath(__file__))
AGENTS = os.path.join(HERE, "..", "..", "..", "..", "deploy", "pacemaker")

SUCCESS, GENERIC, ARGS, UNIMPLEMENTED, CONFIGURED, NOT_RUNNING = 0, 1, 2, 3, 6, 7
OCF_FUNCTIONS = f"""
OCF_SUCCESS={SUCCESS} OCF_ERR_GENERIC={GENERIC} OCF_ERR_ARGS={ARGS}
OCF_ERR_UNIMPLEMENTED={UNIMPLEMENTED} OCF_ERR_CONFIGURED={CONFIGURED} OCF_NOT_RUNNING={NOT_RUNNING}
ocf_exit_reason() {{ echo "$*" >&2; }}
ocf_log() {{ shift; echo "log: $*" >&2; }}
ocf_is_probe() {{ [ "$__OCF_ACTION" = monitor ] && [ "$OCF_RESKEY_CRM_meta_interval" = 0 ]; }}
check_binary() {{ command -v "$1" >/dev/null || exit 5; }}
"""
# Says what the test has put into answers, the next line of it for each call: STATUS TEXT. The last
# one is for all later calls.
FAKE = """#!/bin/sh
echo "$(basename "$0") $*" >>"$FAKE/calls"
read -r status text <"$FAKE/answers"
[ "$(wc -l <"$FAKE/answers")" -le 1 ] || sed -i 1d "$FAKE/answers"
case $text in @*) cat "$FAKE/${text#@}" ;; *) echo "$text" ;; esac
exit "$status"
"""
AWAY = "5 symnas: vnfsd: asking through /run/symnas/vnfsd.sock: no answer (Connection refused)"
NO_ETCD = "5 symnas: etcd: 127.0.0.1: no answer within 5000 ms"


class AgentTest(unittest.TestCase):
    program = ""

    def setUp(self):
        self.place = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.place)
        self.write("ocf-shellfuncs", OCF_FUNCTIONS)
        for name in ("symnas", "stonith_admin"):
            self.write(name, FAKE, 0o755)
        self.said = ""

    def write(self, name, text, mode=0o644):
        path = os.path.join(self.place, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, mode)

    def answers(self, *lines):
        self.write("answers", "".join(line + "\n" for line in lines))

    def calls(self):
        try:
            with open(os.path.join(self.place, "calls"), encoding="utf-8") as file:
                return file.read().splitlines()
        except FileNotFoundError:
            return []

    def run_agent(self, words, text="", **variables):
        environment = {"PATH": f"{self.place}:{os.environ['PATH']}", "FAKE": self.place,
                       "OCF_FUNCTIONS_DIR": self.place, **variables}
        done = subprocess.run([os.path.join(AGENTS, self.program), *words], input=text, text=True,
                              env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=60, check=False)
        self.said = done.stdout
        return done.returncode


class VnfsTest(AgentTest):
    program = "vnfs"

    def ocf(self, action, grace="1", **variables):
        return self.run_agent([action], **{
            "OCF_RESKEY_vnfs": "v1", "OCF_RESKEY_vnfsd_grace": grace,
            "OCF_RESKEY_run_dir": self.place, "OCF_RESKEY_CRM_meta_interval": "10000", **variables})

    def has_instance(self):
        """A process of this test whose program is called as an instance's."""
        program = os.path.join(self.place, "ganesha.nfsd")
        shutil.copy(shutil.which("sleep"), program)
        process = subprocess.Popen([program, "60"])

        def end():
            process.kill()
            process.wait()
        self.addCleanup(end)
        self.write("vnfs/v1/ganesha.pid", "1\n")
        self.write("vnfs/v1/state.json", json.dumps({"epoch": 1, "pid": process.pid}, indent=2))

    def test_meta_data_is_xml_and_names_what_the_agent_can(self):
        self.assertEqual(self.ocf("meta-data", OCF_RESKEY_vnfs=""), SUCCESS)
        document = xml.etree.ElementTree.fromstring(self.said)
        self.assertEqual({one.get("name") for one in document.iter("action")},
                         {"start", "stop", "monitor", "migrate_to", "migrate_from", "reload",
                          "meta-data", "validate-all"})

    def test_monitor_knows_how_a_vnfs_stands(self):
        for answer, wanted in (("serving", SUCCESS), ("moving: comes from c1n2", SUCCESS),
                               ("stopped: nobody has it", NOT_RUNNING),
                               ("sick: its LUN is lost", GENERIC)):
            with self.subTest(answer):
                self.answers("0 " + answer)
                self.assertEqual(self.ocf("monitor"), wanted, self.said)
        self.assertIn("its LUN is lost", self.said)
        self.assertEqual(set(self.calls()), {"symnas ha standing v1"})

    def test_monitor_waits_for_a_vnfsd_that_restarts(self):
        self.answers(AWAY, AWAY, "0 serving")
        self.assertEqual(self.ocf("monitor", grace="20"), SUCCESS, self.said)
        self.assertEqual(len(self.calls()), 3)

    def test_monitor_fails_when_vnfsd_stays_away(self):
        self.has_instance()
        self.answers(AWAY)
        self.assertEqual(self.ocf("monitor"), GENERIC)
        self.assertIn("vnfsd has not answered for 1 s", self.said)

    def test_monitor_believes_a_living_instance_when_etcd_is_away(self):
        self.has_instance()
        for answer in (NO_ETCD, "124 "):
            self.answers(answer)
            self.assertEqual(self.ocf("monitor", grace="20"), SUCCESS, self.said)
        self.assertEqual(len(self.calls()), 2)

    def test_a_probe_before_vnfsd_is_up_waits_for_nothing(self):
        self.answers(AWAY)
        begin = time.monotonic()
        self.assertEqual(self.ocf("monitor", grace="20", OCF_RESKEY_CRM_meta_interval="0"),
                         NOT_RUNNING)
        self.assertLess(time.monotonic() - begin, 5.0)

    def test_a_vnfs_that_does_not_exist_runs_nowhere_and_is_not_started(self):
        self.answers("3 symnas: vnfs v1: it does not exist")
        self.assertEqual(self.ocf("monitor"), NOT_RUNNING)
        self.assertEqual(self.ocf("stop"), SUCCESS)
        self.assertEqual(self.ocf("start"), CONFIGURED)
        self.assertEqual(self.ocf("validate-all"), CONFIGURED)
        self.assertIn("there is no such VNFS", self.said)

    def test_start_takes(self):
        self.answers("0 stopped", "0 done")
        self.assertEqual(self.ocf("start", OCF_RESKEY_CRM_meta_timeout="35000"), SUCCESS, self.said)
        self.assertRegex(self.calls()[-1],
                         r"^symnas ha take v1 --by pacemaker --timeout (30|29|28)$")

    def test_start_says_why_it_is_refused(self):
        self.answers("0 stopped", "4 symnas: vnfs v1: the decider is builtin")
        self.assertEqual(self.ocf("start"), GENERIC)
        self.assertIn("the decider is builtin", self.said)

    def test_start_waits_for_vnfsd(self):
        self.answers(AWAY, AWAY, "0 done")
        self.assertEqual(self.ocf("start"), SUCCESS, self.said)

    def test_stop_leaves(self):
        self.answers("0 serving", "0 done")
        self.assertEqual(self.ocf("stop"), SUCCESS, self.said)
        self.assertRegex(self.calls()[-1], "^symnas ha leave v1 --by pacemaker --timeout")

    def test_stop_where_it_is_not_served_orders_nothing(self):
        self.answers("0 stopped: c1n2 has it")
        self.assertEqual(self.ocf("stop"), SUCCESS)
        self.assertEqual(self.calls(), ["symnas ha standing v1"])

    def test_stop_without_vnfsd_succeeds_only_without_an_instance(self):
        self.answers(AWAY)
        self.assertEqual(self.ocf("stop", OCF_RESKEY_CRM_meta_timeout="1000"), SUCCESS)
        self.has_instance()
        self.assertEqual(self.ocf("stop", OCF_RESKEY_CRM_meta_timeout="1000"), GENERIC)
        self.assertIn("no answer", self.said)

    def test_a_move_is_ordered_at_the_source_and_seen_at_the_target(self):
        self.answers("0 done")
        self.assertEqual(self.ocf("migrate_to", OCF_RESKEY_CRM_meta_migrate_target="c1n2"), SUCCESS)
        self.assertRegex(self.calls()[0], "^symnas ha take v1 --head c1n2 --by pacemaker")
        self.answers("0 moving", "0 serving")
        self.assertEqual(self.ocf("migrate_from", OCF_RESKEY_CRM_meta_migrate_source="c1n1"),
                         SUCCESS)

    def test_a_move_that_does_not_arrive_fails(self):
        self.answers("0 stopped: c1n1 has it")
        self.assertEqual(self.ocf("migrate_from", OCF_RESKEY_CRM_meta_timeout="1000",
                                  OCF_RESKEY_CRM_meta_migrate_source="c1n1"), GENERIC)
        self.assertIn("c1n1 has it", self.said)
        self.assertEqual(self.ocf("migrate_to"), ARGS)

    def test_reload_changes_nothing(self):
        self.answers("0 serving")
        self.assertEqual(self.ocf("reload"), SUCCESS)
        self.assertEqual(self.calls(), ["symnas ha standing v1"])

    def test_bad_parameters_are_refused_in_words(self):
        self.answers("0 serving")
        for variables, words in (({"OCF_RESKEY_vnfs": ""}, "missing"),
                                 ({"OCF_RESKEY_vnfs": "--head"}, "no name"),
                                 ({"OCF_RESKEY_vnfs": "a;b"}, "no name"),
                                 ({"OCF_RESKEY_vnfsd_grace": "x"}, "no number"),
                                 ({"OCF_RESKEY_CRM_meta_clone": "0"}, "cannot be a clone")):
            with self.subTest(variables):
                self.assertEqual(self.ocf("validate-all", **variables), CONFIGURED)
                self.assertIn(words, self.said)
        self.assertEqual(self.ocf("promote"), UNIMPLEMENTED)


class StonithTest(AgentTest):
    program = "symnas-stonith"

    EVENT = ('<fence_event action="{action}" target="{target}" client="pacemaker-controld.79" '
             'origin="c1n3" status="{status}" delegate="{delegate}" completed="{completed}"/>')
    SINCE = 1795770000  # 2026-11-27 09:00:00 UTC

    def history(self, *events):
        usual = {"action": "off", "target": "c1n2", "status": "success", "delegate": "c1n1",
                 "completed": "2026-11-27 09:00:05Z"}
        lines = "".join(self.EVENT.format(**{**usual, **event}) for event in events)
        return ('<pacemaker-result api-version="2.26"><fence_history>'
                f'{lines}</fence_history><status code="0" message="OK"/></pacemaker-result>')

    def ask(self, action="status", plug="c1n2", since=SINCE, more=""):
        return self.run_agent([], f"action={action}\nplug={plug}\nport={plug}\nsince={since}\n"
                              + more)

    def seen(self, *events):
        self.write("history", self.history(*events))
        self.answers("0 @history")
        return self.ask()

    def test_only_a_later_off_that_succeeded_is_a_proof(self):
        self.assertEqual(self.seen({}), 2)
        self.assertIn("off of c1n2 by c1n1 for pacemaker-controld.79", self.said)
        self.assertEqual(self.calls(), ["stonith_admin --history c1n2 --verbose --output-as=xml"])
        for event in ({"action": "reboot"}, {"status": "failed"}, {"status": "pending"},
                      {"completed": "2026-11-27 08:59:59Z"}, {"completed": "yesterday"},
                      {"completed": "2026-11-27 09:00:05"}, {"delegate": ""}, {"target": "c1n1"}):
            with self.subTest(event):
                self.assertEqual(self.seen(event), 0, self.said)

    def test_a_manual_confirmation_is_no_proof(self):
        self.assertEqual(self.seen({"delegate": "a human"}), 0)
        self.assertIn("confirmed by hand", self.said)

    def test_the_proof_may_be_any_of_the_events(self):
        self.assertEqual(self.seen({"status": "failed"}, {"delegate": "a human"}, {}), 2)

    def test_times_have_zones_and_fractions(self):
        for completed, wanted in (("2026-11-27 10:00:05 +01:00", 2),
                                  ("2026-11-27 09:00:05.123456Z", 2),
                                  ("2026-11-27 09:00:05 +01:00", 0),
                                  ("2026-11-27 04:00:00 -0500", 2)):
            with self.subTest(completed):
                self.assertEqual(self.seen({"completed": completed}), wanted, self.said)

    def test_no_answer_is_unknown(self):
        for answer in ("102 Could not connect to fencer", "0 no XML"):
            self.answers(answer)
            self.assertEqual(self.ask(), 1)
        self.assertIn("stonith_admin --history", self.said)

    def test_bad_requests_ask_nothing(self):
        self.answers("0")
        self.assertEqual(self.ask(plug="--confirm"), 1)
        self.assertEqual(self.ask(since="x"), 1)
        self.assertEqual(self.ask(action="on"), 1)
        self.assertEqual(self.calls(), [])

    def test_off_asks_the_fencer_whatever_it_has_done(self):
        self.write("done", self.history({}))
        self.answers("0 @done")
        self.assertEqual(self.ask("off", more="timeout=7\n"), 0, self.said)
        self.assertEqual(self.calls()[0],
                         "stonith_admin --fence c1n2 --timeout 7 --output-as=xml")
        self.assertEqual(len(self.calls()), 2)

    def test_off_that_failed_or_is_not_in_the_history_fails(self):
        self.write("before", self.history())
        self.answers("1 @before")
        self.assertEqual(self.ask("off"), 1)
        self.answers("0 @before")
        self.assertEqual(self.ask("off"), 1)
        self.assertIn("pacemaker said that c1n2 was fenced, but", self.said)


class FenceSymnasTest(AgentTest):
    program = "fence_symnas"

    def ask(self, action, plug="c1n2"):
        return self.run_agent([], f"action={action}\nplug={plug}\n")

    def heads(self, name, state):
        self.write(name, '{"heads": [{"name": "c1n1", "state": "serving"}, '
                         f'{{"name": "c1n2", "state": "{state}"}}]}}')

    def setUp(self):
        super().setUp()
        self.heads("on", "serving")
        self.heads("off", "fenced")

    def test_metadata_names_the_actions(self):
        self.assertEqual(self.run_agent(["-o", "metadata"]), 0)
        document = xml.etree.ElementTree.fromstring(self.said)
        actions = {one.get("name") for one in document.iter("action")}
        self.assertLessEqual({"on", "off", "reboot", "status", "monitor", "list", "metadata"},
                             actions)

    def test_status_list_and_monitor(self):
        self.answers("0 @on")
        self.assertEqual(self.ask("status"), 0)
        self.assertEqual(self.ask("monitor"), 0)
        self.assertEqual(self.ask("list"), 0)
        self.assertEqual(self.said, "c1n1,\nc1n2,\n")
        self.answers("0 @off")
        self.assertEqual(self.ask("status"), 2)
        self.answers("5 symnas: vnfsd: asking through: no answer")
        self.assertEqual(self.ask("monitor"), 1)

    def test_off_has_symnas_fence_the_head(self):
        self.answers("0 @on", "0 done", "0 @off")
        self.assertEqual(self.ask("off"), 0, self.said)
        self.assertEqual(self.calls()[1], "symnas head fence c1n2 --yes")

    def test_off_of_a_head_that_is_fenced_does_nothing(self):
        self.answers("0 @off")
        self.assertEqual(self.ask("off"), 0)
        self.assertEqual(len(self.calls()), 1)

    def test_off_fails_unless_the_head_is_fenced_then(self):
        self.answers("0 @on", "0 done", "0 @on")
        self.assertEqual(self.ask("off"), 1)
        self.answers("0 @on", "5 symnas: head c1n2: cannot be cut off")
        self.assertEqual(self.ask("off"), 1)
        self.assertIn("cannot be cut off", self.said)

    def test_other_names_are_refused(self):
        self.answers("0 @on")
        self.assertEqual(self.ask("off", "c1n9"), 1)
        self.assertIn("no head of this cluster", self.said)
        self.assertEqual(self.ask("off", "--yes"), 1)
        self.assertEqual(self.ask("frighten"), 1)


if __name__ == "__main__":
    unittest.main()
