# The front door: everything a developer types. CMake and Ninja do the work behind it.

BUILD ?= build
JOBS ?= $(shell nproc)
N ?= 1
FROM ?= 1
SEEDS ?= 1000
SIM ?= session mount data heads moves service repair
HOLDS ?= 2
LUNS ?= file
EMPTY ?= 0
KDC ?= 0
MINUTES ?= 30
RUNS ?= 30
RELEASE ?= bookworm trixie
HEADS ?= 4
SECONDS ?= 20
export SYMNAS_CACHE ?= /var/cache/symnas
export SYMNAS_BUILD := $(abspath $(BUILD))

.PHONY: help setup setup-build setup-demo build demo test quick check duplicates
.PHONY: lab lab-down asan clean
.PHONY: sim sim-exhaustive sim-mutants
.PHONY: bench bench-compare bench-capacity bench-profile
.PHONY: bench-raw bench-quotas bench-engine bench-shared bench-failover
.PHONY: packages packages-test release machines machines-san ansible-test ha-tests fuzz
.PHONY: shells sim-long soak lab-asan lab-tsan lab-tests torture conformance openapi api-fuzz
.PHONY: monitoring-tests lab-soak workloads report databases trunking
.PHONY: console-build console console-tests
.DEFAULT_GOAL := help

help:
	@echo 'make setup     prepare this Debian 12 machine (root): packages, ganesha, etcd, kernels'
	@echo 'make build     compile the product into $(BUILD)/'
	@echo 'make demo      three heads serve a Linux client: a kill, a move and a crash under it'
	@echo 'make test      unit, contract, property and lab tests; last line: N passed, N failed'
	@echo 'make quick     after an edit: what changed is compiled, and its unit tests run'
	@echo 'make check     test, plus the checks of tests/check and packages in machines;'
	@echo '               warnings are errors'
	@echo 'make duplicates  runs of equal lines that the product has twice; check runs it, too'
	@echo 'make lab-soak  the long fault tests; SYMNAS_SOAK_OPS=300000 says how long'
	@echo 'make lab-tests  all tests on a lab: of one head, then of several; some subjects only:'
	@echo '               tests/lab/run locks moves'
	@echo 'make conformance  the rules of POSIX and NFS, a case each, over all versions; PEER=vfs:'
	@echo '               on FSAL_VFS; MOVES=1, SHORT=1, SEC=krb5p, TESTS="rename v3"'
	@echo 'make monitoring-tests  alert rules, dashboards and metrics against a real Prometheus;'
	@echo '               SHORT=1: without a cluster'
	@echo 'make workloads  what databases do to storage, against aims; LONG=1; WORKLOADS="links oltp"'
	@echo 'make soak MINUTES=10   a database that verifies every block, killed once and resumed'
	@echo 'make report    a page of plots of what these two have measured'
	@echo 'make databases  PostgreSQL, MariaDB, SQLite and DuckDB on NFS mounts, while VNFSs move and'
	@echo '               heads crash; SHORT=1, CASES="postgres sqlite"'
	@echo 'make trunking  one client over several links and heads: what each kind of mount gives'
	@echo 'make console   a lab of four heads, each with the web console in its Cockpit, on loopback;'
	@echo '               make console-build: its plug-in, in $(BUILD)/console/plug_in'
	@echo 'make console-tests  the console in a real browser; CASES=moves: some of them'
	@echo 'make torture MINUTES=30 HEADS=4 [CUTS=lun]   random faults and moves under verified load'
	@echo 'make lab N=3   a lab cluster of N heads that serves a filesystem, and how to mount it;'
	@echo '               EMPTY=1: nothing but heads and devices; KDC=1: with Kerberos, and a KDC;'
	@echo '               make lab-down removes it'
	@echo 'make sim FROM=1 SEEDS=1000   deterministic simulation; SIM=... for one of them'
	@echo 'make sim-long MINUTES=30  seeds that this tree has not had'
	@echo 'make sim-exhaustive HOLDS=2  every order of messages between mounts, up to a bound'
	@echo 'make sim-mutants  deliberate mistakes in the product; each must be caught by a seed'
	@echo 'make asan      unit, property and simulation tests under AddressSanitizer and UBSan'
	@echo 'make lab-asan  the lab tests with everything of ours under AddressSanitizer and UBSan'
	@echo 'make lab-tsan  the same under ThreadSanitizer; TESTS=locks a subject or a part of names'
	@echo 'make shells    completion in a real bash and zsh, --watch and colours on a terminal,'
	@echo '               manual pages; CASES=watch: some of them'
	@echo 'make fuzz SECONDS=60  what decodes bytes of others; TESTS="label nsm": these targets only'
	@echo 'make bench     the same load on symnas and on ganesha FSAL_VFS, with ratios'
	@echo 'make bench-compare BASE=COMMIT CASES=...  what a change costs: the product of both trees'
	@echo '               under the same load; processor time per operation, ratios'
	@echo 'make bench-shared  four heads on one filesystem: shared files, scans, creates'
	@echo 'make bench-failover RUNS=30 HEADS=4  how long clients wait for a move and for a crash;'
	@echo '               DECIDER=pacemaker or keepalived RUNS=2: under that, in machines'
	@echo 'make bench-capacity FILES=200000  memory of instances and cached inodes, etcd bytes'
	@echo 'make bench-profile CASE=...  where the processor time of one of its cases goes'
	@echo 'make bench-quotas  with and without a limit of the user who writes'
	@echo 'make bench-raw symnas against the raw LUN file; make bench-engine: its volume engine'
	@echo 'make api-fuzz SECONDS=20  the API of a lab is asked at random, by its OpenAPI document'
	@echo 'make openapi   docs/operations/openapi.json anew, after a change of routes or schemas'
	@echo 'make packages  .debs for Debian 12 and 13 in $(BUILD)/packages; RELEASE=bookworm: one only'
	@echo 'make packages-test  they are installed, upgraded and purged in fresh roots; lintian'
	@echo 'make machines  three heads as Debian machines, installed from packages; SHORT=1: less'
	@echo 'make machines-san  two heads and an array, each with a kernel of its own: iSCSI, multipath,'
	@echo '               SCSI-3 reservations'
	@echo 'make ansible-test  a cluster of such machines, made and upgraded by deploy/ansible'
	@echo 'make ha-tests  such machines under pacemaker and keepalived; DECIDER=pacemaker: one only;'
	@echo '               RELEASE=trixie: fewer cases on Debian 13; DECIDER=keepalived CASES=witness'
	@echo 'make release   tags the version, builds its packages, prints their checksums'
	@echo 'make clean     remove $(BUILD)/'
	@echo
	@echo 'Variables: BUILD=$(BUILD) JOBS=$(JOBS) SYMNAS_CACHE=$(SYMNAS_CACHE)'

setup:
	@deploy/setup/setup

# What fewer targets need is fetched by these only.
setup-build:
	@deploy/setup/setup packages ganesha etcd

setup-demo:
	@deploy/setup/setup packages ganesha etcd uml statd

# Warnings are errors here always: one set of flags, one set of objects.
$(BUILD)/build.ninja: | setup-build
	@cmake --log-level=WARNING -S . -B $(BUILD) -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo \
	  -DSYMNAS_WERROR=ON -DSYMNAS_CACHE=$(SYMNAS_CACHE)

build: setup-build $(BUILD)/build.ninja
	@ninja -C $(BUILD) -j $(JOBS)

demo:
	@deploy/lab/first_demo $(BUILD) $(JOBS)

test: setup build
	@ninja -C $(BUILD) -j $(JOBS) tests_all
	@tests/run --build $(BUILD) --jobs $(JOBS) --fresh --lab

# What is out of date is compiled, its unit tests are run: under 60 s after a one-line change.
quick: setup-build $(BUILD)/build.ninja
	@tests/quick --build $(BUILD) --jobs $(JOBS)

check: setup
	@tests/run --build $(BUILD) --jobs $(JOBS) --checks --compile --fresh --lab \
	  --machines --fuzz --shells --console --conformance --monitoring

duplicates:
	@tests/check/duplicates

openapi: setup-build $(BUILD)/build.ninja
	@ninja -C $(BUILD) -j $(JOBS) vnfsd_api_test
	@SYMNAS_WRITE_OPENAPI=1 $(BUILD)/tests/bin/vnfsd_api_test --gtest_filter='OpenApi.TheCommitted*'

lab-soak: setup build
	@tests/lab/run --soak

workloads: setup build
	@deploy/setup/setup tgt
	@tests/workloads/run $(if $(LONG),--long) $(WORKLOADS)

soak: setup build
	@tests/workloads/soak --minutes $(MINUTES)

report:
	@deploy/setup/setup report
	@tests/workloads/report

lab-tests: setup build
	@tests/lab/run
	@tests/lab/run --heads

torture: setup build
	@tests/lab/torture --minutes $(MINUTES) --heads $(HEADS) $(if $(CUTS),--cuts $(CUTS))

lab: setup-demo build
	@if [ $(KDC) = 1 ]; then deploy/setup/setup kerberos; fi
	@deploy/lab/lab up N=$(N) LUNS=$(LUNS) EMPTY=$(EMPTY) KDC=$(KDC)

lab-down:
	@deploy/lab/lab down

sim: setup-build $(BUILD)/build.ninja
	@ninja -C $(BUILD) -j $(JOBS) symnas_sim
	@for sim in $(SIM); do \
	  $(BUILD)/tests/bin/symnas_sim $$sim --from $(FROM) --seeds $(SEEDS) --jobs $(JOBS) || exit 1; \
	done

# EACH=100000: until each simulation has had so many seeds of this tree, however long that takes.
sim-long: setup-build $(BUILD)/build.ninja
	@ninja -C $(BUILD) -j $(JOBS) symnas_sim
	@tests/sim/seeds long --build $(BUILD) --jobs $(JOBS) \
	  $(if $(EACH),--each $(EACH),--minutes $(MINUTES))

sim-exhaustive: setup-build $(BUILD)/build.ninja
	@ninja -C $(BUILD) -j $(JOBS) symnas_sim
	@$(BUILD)/tests/bin/symnas_sim exhaustive --holds $(HOLDS) --jobs $(JOBS)

sim-mutants: setup-build $(BUILD)/build.ninja
	@ninja -C $(BUILD) -j $(JOBS) symnas_sim
	@tests/sim/mutants/run --build $(BUILD)

# A sanitizer build is a folder of its own: build/asan, build/tsan.
SANITIZE_asan := address,undefined
SANITIZE_tsan := thread
$(BUILD)/%/build.ninja: | setup-build
	cmake -S . -B $(@D) -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo \
	  -DSYMNAS_SANITIZE=$(SANITIZE_$*) -DSYMNAS_CACHE=$(SYMNAS_CACHE)

monitoring-tests: setup-build $(if $(SHORT),,build)
	@deploy/setup/setup prometheus
	@tests/monitoring/run $(if $(SHORT),--short)

console-build:
	@deploy/packages/console $(BUILD)/console/plug_in

console: setup-demo build console-build
	@deploy/setup/setup cockpit
	@deploy/lab/lab up N=4 LUNS=$(LUNS)
	@deploy/lab/lab console $(BUILD)/console/plug_in

console-tests: setup build
	@tests/console/run $(CASES)

conformance: setup build
	@deploy/setup/setup project
	@tests/conformance/run $(if $(PEER),--peer $(PEER)) $(if $(MOVES),--moves) \
	  $(if $(SHORT),--short) $(if $(SEC),--sec $(SEC)) $(TESTS)

databases: setup build
	@deploy/setup/setup machines databases
	@tests/databases/run $(if $(SHORT),--short) $(CASES)

trunking: setup build
	@tests/trunking/run $(CASES)

asan: setup-build $(BUILD)/asan/build.ninja
	@ninja -C $(BUILD)/asan -j $(JOBS) tests_unit tests_property
	@tests/run --build $(BUILD)/asan --jobs $(JOBS) --labels unit,property

shells: build
	@deploy/setup/setup shells
	@SYMNAS_BUILD=$(abspath $(BUILD)) tests/shells/run $(CASES)

api-fuzz: setup build
	@deploy/setup/setup api_fuzz
	@tests/api_fuzz/run --seconds $(SECONDS)

fuzz: setup-build
	@deploy/setup/setup fuzz
	@tests/fuzz/run --seconds $(SECONDS) --jobs $(JOBS) --build $(BUILD)/fuzz $(TESTS)

lab-asan lab-tsan: lab-%: setup $(BUILD)/%/build.ninja
	@ninja -C $(BUILD)/$* -j $(JOBS)
	@SYMNAS_BUILD=$(SYMNAS_BUILD)/$* SYMNAS_LAB_SLOWER=3 tests/lab/run --one-head $(TESTS)

bench: setup build
	@tests/bench/run $(if $(CASES),--cases $(CASES))

# Compiles what a head runs, in both trees, and nothing else.
bench-compare: setup-build $(BUILD)/build.ninja
	@tests/bench/compare $(BASE) --jobs $(JOBS) $(if $(CASES),--cases $(CASES))

bench-profile: setup build
	@tests/bench/profile $(CASE)

bench-capacity: setup build
	@tests/bench/capacity $(if $(FILES),--files $(FILES))

# Under another decider: in machines, where pacemaker and keepalived run.
ifneq ($(filter pacemaker keepalived,$(DECIDER)),)
bench-failover: setup-build build
	@deploy/setup/setup machines
	@JOBS=$(JOBS) tests/machines/packages --short
	@tests/machines/ha/run --figures $(RUNS) $(DECIDER)
else
bench-failover: setup build
	@tests/bench/failover --runs $(RUNS) --heads $(HEADS)
endif

bench-shared: setup build
	@tests/bench/shared

bench-quotas: setup build
	@tests/bench/quotas

bench-raw: setup build
	@tests/bench/raw

bench-engine: setup build
	@tests/bench/raw --engine

packages: setup-build build
	@deploy/setup/setup debs
	@for release in $(RELEASE); do JOBS=$(JOBS) deploy/packages/build $$release || exit 1; done

machines: setup-build build
	@deploy/setup/setup machines
	@JOBS=$(JOBS) tests/machines/packages $(if $(SHORT),--short)
	@tests/machines/run $(if $(SHORT),--short)

machines-san: setup-build build
	@deploy/setup/setup machines uml
	@JOBS=$(JOBS) tests/machines/packages --short
	@tests/machines/san/run

ansible-test: setup-build build
	@deploy/setup/setup machines ansible
	@JOBS=$(JOBS) tests/machines/packages
	@tests/machines/ansible/run

# Without RELEASE=: Debian 12.
HA_RELEASE := $(if $(filter-out trixie,$(RELEASE)),bookworm,trixie)
ha-tests: setup-build build
	@deploy/setup/setup machines
	@JOBS=$(JOBS) tests/machines/packages --short $(HA_RELEASE)
	@tests/machines/ha/run --release $(HA_RELEASE) $(DECIDER) $(CASES)

# Also of a next version: of the same sources under another number.
packages-test: packages
	@for release in $(RELEASE); do JOBS=$(JOBS) tests/packages/run $$release || exit 1; done

release: setup-build
	@deploy/packages/release check
	@$(MAKE) --no-print-directory packages
	@deploy/packages/release tag

clean:
	rm -rf $(BUILD)
