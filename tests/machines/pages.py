"""Commands of a page of documentation: `HOST# COMMAND` in its blocks of console, by heading.

A line of such a block that is no command is an error: what a page says is run, or the run fails.
"""

import re


class Page:
    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            self.text = file.read()
        self.path = path
        self.run = set()

    def unread(self):
        """Headings of sections with commands that nobody has asked for."""
        headings = re.findall(r"(?m)^##+ (.+)$", self.text)
        return [one for one in headings if one not in self.run and self._lines(one)]

    def commands(self, heading):
        """[(host, command)] of the section; a backslash at the end of a line continues it."""
        self.run.add(heading)
        commands = []
        for line in self._lines(heading):
            command = re.fullmatch(r"(\w+)# (.+)", line)
            if not command:
                raise ValueError(f"{self.path}, section '{heading}': no command: {line}")
            commands.append((command[1], command[2].split("  #")[0].strip()))
        return commands

    def _lines(self, heading):
        found = re.search(rf"(?ms)^##+ {re.escape(heading)}$(.*?)(?=^##+ |\Z)", self.text)
        if not found:
            raise ValueError(f"{self.path} has no section '{heading}'")
        blocks = re.findall(r"(?ms)^```console\n(.*?)^```$", found[1])
        return "".join(blocks).replace("\\\n", " ").splitlines()
