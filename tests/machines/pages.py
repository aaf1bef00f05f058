"""Commands of a page of documentation: `HOST# COMMAND` in its blocks of console, by heading."""

import re


class Page:
    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            self.text = file.read()
        self.path = path

    def commands(self, heading):
        """[(host, command)] of the section; a backslash at the end of a line continues it."""
        found = re.search(rf"(?ms)^##+ {re.escape(heading)}$(.*?)(?=^##+ |\Z)", self.text)
        if not found:
            raise ValueError(f"{self.path} has no section '{heading}'")
        blocks = re.findall(r"(?ms)^```console\n(.*?)^```$", found[1])
        lines = "".join(blocks).replace("\\\n", " ").splitlines()
        commands = [re.match(r"(\w+)# (.+)", line) for line in lines]
        return [(command[1], command[2].split("  #")[0].strip()) for command in commands if command]
