"""The check of citations finds what it is there to find."""

import unittest

from loading import load

citations = load("citations")

DESIGN = "# The design\n## 5. Files\n### 5.2 Transactions\n| **INV-1** nothing | `cvm/lun.cc` |\n"
PATHS = ["cvm/lun.cc", "cvm/lun.h", "cvm/README.md", "docs/design.md", "docs/limits.md",
         "docs/decisions/0003-sole-mount.md", "docs/architecture/README.md", "README.md",
         "deploy/ganesha/patches/nlm/0012-unlock.patch"]


def tree():
    return citations.Tree(PATHS, {"docs/design.md": DESIGN}.get)


def in_document(text, path="docs/limits.md"):
    return list(citations.check_document(path, text, tree()))


def in_line(line):
    return list(citations.check_line("cvm/lun.cc:1", line, tree()))


class Documents(unittest.TestCase):
    def test_what_is_there(self):
        self.assertEqual(in_document("`cvm/lun.cc` `cvm/lun` `cvm/` `cvm/lun.{h,cc}`"), [])
        self.assertEqual(in_document("`cvm/*.md` `cvm/lun.cc --all`"), [])
        self.assertEqual(in_document("[a](design.md#5) [b](../cvm/README.md) [c](../cvm)"), [])

    def test_what_is_not_there(self):
        found = in_document("`cvm/lun.cc`\n`cvm/disk.cc --all` `cvm/lun.{h,c}` `cvm/*.py`")
        self.assertEqual([one.split(": ")[0] for one in found], ["docs/limits.md:2"] * 3)
        self.assertEqual(len(in_document("[a](plan.md) [b](cvm/README.md)")), 2)

    def test_what_is_no_path_of_the_tree(self):
        self.assertEqual(in_document("`a/b` `/proc/self/fd` `c/owner/v` `cvm/<name>` `cvm`"), [])
        self.assertEqual(in_document("[a](https://example.org/x.md) [b](#here)"), [])
        self.assertEqual(in_document("```\n`cvm/disk.cc` [a](plan.md)\n```\n"), [])

    def test_lines_are_counted_over_blocks_of_code(self):
        found = in_document("```\nx\n```\n`cvm/disk.cc`\n")
        self.assertEqual(found, ["docs/limits.md:4: there is no cvm/disk.cc"])


class Lines(unittest.TestCase):
    def test_documents(self):
        self.assertEqual(in_line("// docs/limits.md, limits.md, ../docs/limits.md, *.md"), [])
        self.assertEqual(len(in_line("// docs/plan.md, plan.md, docs/architecture/limits.md")), 3)

    def test_numbers(self):
        self.assertEqual(in_line("(docs/design.md 5.2), INV-1, decision 0003, patch 0012"), [])
        self.assertEqual(in_line("[design](docs/design.md), section 5; patches 0012; patch 2"), [])
        self.assertEqual(len(in_line("(docs/design.md 5.3), INV-9, decision 0004, patch 0013")), 4)
        self.assertEqual(len(in_line("Decision [0004](decisions/x)")), 1)

    def test_what_nobody_else_has(self):
        for line in ("// DESI" "GN 5.2", "see design-rev" "iew 13", "of ganesha-f" "sal",
                     "Iss" "ue 26", "its Sho" "ws on a quiet machine"):
            self.assertEqual(len(in_line(line)), 1, line)
        for line in ("// redesigned", "it shows", "Shows what is there", "an issue of taste"):
            self.assertEqual(in_line(line), [], line)

    def test_another_project_is_named_by_its_address(self):
        self.assertEqual(in_line("// github.com/etcd-io/etcd, issues 15271, doc/API.md"), [])


class Stories(unittest.TestCase):
    def test_each_names_its_files(self):
        paths = [f"cvm/{name}.cc" for name in "abcdefgh"]
        names = " ".join(f"`{path}`" for path in paths)
        known = citations.Tree(paths, {}.get)
        told = "".join(f"## Story: a {story}\n{names}\n" for story in citations.STORIES)
        self.assertEqual(list(citations.check_stories(told, known)), [])
        fewer = told.replace("`cvm/a.cc` ", "", 1)
        self.assertEqual(len(list(citations.check_stories(fewer, known))), 1)
        self.assertEqual(len(list(citations.check_stories("", known))), len(citations.STORIES))
        self.assertEqual(len(list(citations.check_stories("```\n" + told + "```\n", known))),
                         len(citations.STORIES))


if __name__ == "__main__":
    unittest.main()
