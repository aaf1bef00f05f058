"""The tree check finds what it is there to find."""

import unittest

from loading import load

tree = load("tree")


def problems(path, text):
    return list(tree.check_file(path, text.encode(), {"mirror.example.org"}))


class Files(unittest.TestCase):
    def test_clean_file(self):
        self.assertEqual(problems("cvm/layout.cc", "int x;\n"), [])

    def test_registry_host_and_machine_path(self):
        self.assertEqual(len(problems("Makefile", "get http://mirror.example.org/x\n")), 1)
        self.assertEqual(len(problems("Makefile", "cd /ro" + "ot/x\n")), 1)

    def test_sizes(self):
        self.assertEqual(len(problems("a.cc", "x\n" * 501)), 1)
        self.assertEqual(problems("a.cc", "x\n" * 500), [])
        self.assertEqual(len(problems("tests/run", "#!/usr/bin/env python3\n" + "x\n" * 500)), 1)
        self.assertEqual(problems("scenarios.txt", "x\n" * 501), [])
        self.assertEqual(len(problems("a.txt", "x" * (1 << 21))), 1)
        self.assertEqual(len(problems("cvm/README.md", "x\n" * 31)), 1)
        self.assertEqual(problems("README.md", "x\n" * 31), [])
        self.assertEqual(problems("docs/architecture/README.md", "x\n" * 230), [])
        self.assertEqual(len(problems("docs/architecture/README.md", "x\n" * 231)), 1)
        self.assertEqual(len(problems("docs/plan.md", "x\n" * 46)), 1)

    def test_columns_of_documents(self):
        self.assertEqual(len(problems("docs/a.md", "x" * 121)), 1)
        self.assertEqual(problems("docs/a.md", "x" * 120 + "\n| " + "x" * 200 + " |\n"), [])
        self.assertEqual(problems("a.txt", "x" * 121), [])

    def test_unfinished_work_and_binaries(self):
        self.assertEqual(len(problems("a.cc", "// TO" + "DO: later\n")), 1)
        self.assertEqual(len(problems("a.cc", "TEST(A, DISABL" + "ED_b)\n")), 1)
        self.assertEqual(len(problems("a.png", "\0")), 1)

    def test_pictures_are_of_documents_and_small(self):
        def found(path, size, beginning=tree.PNG_BEGINNING):
            return len(list(tree.check_file(path, beginning + b"\0" * size, set())))
        self.assertEqual(found("docs/operations/pictures/a.png", 1000), 0)
        self.assertEqual(found("docs/operations/pictures/a.png", 150_000), 1)
        self.assertEqual(found("docs/operations/pictures/a.png", 1000, b"PK"), 1)
        self.assertEqual(found("vnfsd/a.png", 1000), 1)


def counts(text):
    return {found.name: found.members for found in tree.members.classes(text)}


class Members(unittest.TestCase):
    def of(self, body):
        return counts("struct A {\n" + body + "\n};")["A"]

    def test_each_declarator_is_one(self):
        self.assertEqual(self.of("int a; std::map<int, B<int>> b; C* c = nullptr, &d;"), 4)
        self.assertEqual(self.of("int a : 3; unsigned char b[4]{}, c; struct stat d{};"), 4)
        self.assertEqual(self.of("bool a = f<int, 2>(1, 2); bool b = x < y, c = {1, 2};"), 3)

    def test_functions_are_counted(self):
        text = ("class A {\n A(); ~A() = default; int f() const { return g(1); } int a = h(2);\n"
                " template <class T> T t(T x); bool operator()(int x); std::function<int(int)> b;\n"
                " struct B { void f(); };\n};")
        self.assertEqual({found.name: found.functions for found in tree.members.classes(text)},
                         {"A": 5, "A::B": 1})

    def test_functions_are_none(self):
        self.assertEqual(self.of("""
            A(); explicit A(int a) : a_(a), b_{1, 2} { int c; } ~A() = default;
            int f(int a, int b) const override { struct B {} b; return g(); }
            B<int> g() noexcept(true); virtual void h() = 0; auto i() -> int { return 1; }
            A& operator=(const A&) = delete; bool operator<(const A& a) const { return b < a.b; }
            bool operator()(int) const; operator bool() const { return true; }
            template <class T, int N = 3> T j(T t) { T u = t; return u; }
            friend bool operator==(const A&, const A&) = default;"""), 0)

    def test_objects_that_are_called_are_members(self):
        self.assertEqual(self.of("std::function<void(int, int)> a; void (*b)(int), (*c)(int);"), 3)
        self.assertEqual(self.of("std::function<int()> a = [](int b) { int c; return b; };"), 1)

    def test_what_is_not_in_an_object(self):
        self.assertEqual(self.of("""
            static int a; static constexpr int kB = 2; inline static std::map<int, int> c;
            using D = int; typedef int E; enum class F { kG, kH }; friend class I; class J;
            static_assert(1 < 2, "k");
            public: // int l;
            /* int m; */
            #define N int o;"""), 0)

    def test_annotations_change_nothing(self):
        self.assertEqual(self.of("""
            int a GUARDED_BY(mutex_) = 0; B* b PT_GUARDED_BY(mutex_); alignas(64) int c;
            void d() REQUIRES(mutex_); bool e() TRY_ACQUIRE(true) { return f(); }
            [[nodiscard]] int g() const; [[no_unique_address]] H h;"""), 4)

    def test_nested_classes_count_by_themselves(self):
        found = counts("""
            class CAPABILITY("mutex") A final : public B<int>, C {
              struct D { int e, f; };
              union { int g; char h; };
              struct { int i; } j;
              D k;
              enum { kL } m;
            };
            enum class N : int { kO };
            template <class T> struct P { T q; };
            struct R f() { struct stat s; return {}; }""")
        self.assertEqual(found, {"A": 5, "A::D": 2, "A::(unnamed)": 1, "P": 1})

    def test_text_is_not_read_as_code(self):
        self.assertEqual(self.of("""std::string a = "}; int b;"; char c = '{'; int d = 1'000;
            const char* e = R"x({ int f; )" )x";"""), 4)

    def test_large_classes_are_found(self):
        text = "class A {" + "int a;" * 25 + "};\nstruct B {" + "int b;" * 24 + "};"
        texts = {"cvm/a.h": text, "tests/a.h": text, "cvm/a.md": text}
        found = list(tree.check_classes(tree.product_classes(texts.get, texts)))
        self.assertEqual(len(found), 1, found)
        self.assertIn("cvm/a.h:1: A has 25", found[0])

    def test_classes_of_many_functions_are_found(self):
        text = "class A {" + "int a();" * 61 + "};\nstruct B {" + "int b();" * 60 + "};"
        texts = {"cvm/a.h": text, "tests/a.h": text}
        found = list(tree.check_classes(tree.product_classes(texts.get, texts)))
        self.assertEqual(len(found), 1, found)
        self.assertIn("cvm/a.h:1: A has 61 functions", found[0])


class Mutexes(unittest.TestCase):
    def problems(self, text, document):
        found = tree.product_classes({"cvm/a.h": text}.get, ["cvm/a.h"])
        return list(tree.check_mutexes(found, document))

    def test_those_of_a_class(self):
        text = """
            class A {
              Mutex& lent() const { const MutexLock lock(mutex_); return mutex_; }
              Mutex& another_; Mutex* at_; CondVar changed_;
              mutable Mutex mutex_;
              int a_ GUARDED_BY(mutex_) = 0;
              struct B { Mutex mutex; };  // taken after A's
              FifoMutex order_mutex_;
            };
            struct A::C : D { Mutex mutex; };"""
        found = [one.rsplit(" ", 1)[1] for one in self.problems(text, "")]
        self.assertEqual(found, ["A::B::mutex", "A::C::mutex", "A::mutex_", "A::order_mutex_"])

    def test_named_and_unknown(self):
        text = "class A { Mutex mutex_; };"
        self.assertEqual(self.problems(text, "`A::mutex_` -> a file's lock"), [])
        self.assertEqual(self.problems(text, "`kv::A::mutex_`"), [])
        self.assertEqual(len(self.problems(text, "A::mutex_, `AA::mutex_`")), 2)
        self.assertEqual(self.problems(text, "`A::mutex_`, `A::b_mutex_`"),
                         [f"{tree.LOCK_ORDER}: there is no A::b_mutex_"])

    def test_namespaces_tell_equal_names_apart(self):
        text = "class A { Mutex mutex_; }; namespace b { class A { Mutex mutex_; }; }"
        self.assertEqual(len(self.problems(text, "`b::A::mutex_`")), 1)
        self.assertEqual(self.problems(text, "`a::A::mutex_`, `b::A::mutex_`"), [])


class Readmes(unittest.TestCase):
    def test_missing(self):
        paths = {"cvm/layout.cc", "cvm/README.md", "cvm/io/ring.cc", "tests/unit/cvm/a_test.cc",
                 "tests/README.md", "tests/unit/README.md", "common/kv/etcd/CMakeLists.txt"}
        missing = [line.split(":")[0] for line in tree.check_readmes(paths)]
        self.assertEqual(missing, ["common", "common/kv", "common/kv/etcd", "cvm/io"])


class Rooms(unittest.TestCase):
    def test_loose_sources(self):
        paths = {"vnfsd/names/names.h", "vnfsd/README.md", "vnfsd/CMakeLists.txt", "vnfsd/names.h",
                 "fsal_cluster/mount.cc", "cvm/layout.cc", "tests/unit/vnfsd/x.h"}
        found = [line.split(":")[0] for line in tree.check_rooms(paths)]
        self.assertEqual(found, ["fsal_cluster/mount.cc", "vnfsd/names.h"])


class Tests(unittest.TestCase):
    def test_without_a_target(self):
        lists = {"tests/CMakeLists.txt": "symnas_test(SOURCES u/a_test.cc)\nforeach(name b c)",
                 "tests/u/CMakeLists.txt": "foreach(name b)", "tests/g/CMakeLists.txt": "GLOB x"}
        paths = {*lists, "tests/u/a_test.cc", "tests/u/b_test.cc", "tests/u/c_test.cc",
                 "tests/g/d_test.cc"}
        found = [line.split(":")[0] for line in tree.check_tests(lists.get, paths)]
        self.assertEqual(found, ["tests/u/c_test.cc"])


if __name__ == "__main__":
    unittest.main()
