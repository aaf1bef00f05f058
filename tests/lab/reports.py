"""The reports of a sanitizer build's programs (sanitizer/README.md); other builds have none."""

import os

# UBSan beside ASan writes to the standard error output alone: its reports are found in logs.
MARK = b"runtime error: "


class Reports:
    """What appears in a folder of report files, and in logs. Their writers may keep them open."""

    def __init__(self, folder):
        """Removes the reports of earlier runs."""
        self.folder = folder
        self.read = {}  # (path, inode) -> bytes
        for path in self._files():
            os.unlink(path)

    def _files(self):
        names = sorted(os.listdir(self.folder)) if os.path.isdir(self.folder) else []
        return [os.path.join(self.folder, name) for name in names]

    def _unread(self, path):
        with open(path, "rb") as file:
            status = os.fstat(file.fileno())
            key = (path, status.st_ino)
            before = self.read.get(key, 0)
            file.seek(before if before <= status.st_size else 0)
            text = file.read()
            self.read[key] = file.tell()
        return text

    def new(self, logs=()):
        """What was written since the last call, with the files' names; "" if nothing was."""
        found = [(path, self._unread(path)) for path in self._files()]
        for path in logs:
            text = self._unread(path)
            at = text.find(MARK)
            found.append((path, text[text.rfind(b"\n", 0, at) + 1:] if at >= 0 else b""))
        return "\n".join(f"--- {os.path.basename(path)}\n{text.decode(errors='replace')}"
                         for path, text in found if text)
