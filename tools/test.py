#!/usr/bin/env python3
"""Runs every test of weft and adds them up: the programs in C++ (tests/*/*_test.cpp), the checks in Python (tests/*/*_test.py), and
the C++ programs again under the sanitizers. Called by `./run test`; needs Python's standard library alone.

  --quick   without sanitizers
  --nightly random programs in numbers for a night: 200,000 kernels, 20,000 expressions
  --judge   the checks in tests/judge alone (they need larger outside packages)

The last line, alone, is the total: `N passed, N failed, N skipped`. Exit status 1 if a test failed or none ran.
"""
import argparse
import concurrent.futures
import functools
import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import time
import unittest
import xml.etree.ElementTree as xml
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROCESSORS = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
NIGHTLY = "--nightly" in sys.argv
# Which programs run under which sanitizer: the core, and what handles memory, files and threads. Training starts no thread of its own, so it
# is seen at night alone.
SANITIZED = {"asan": {"test_base", "test_core", "test_kernel", "test_graph", "test_autodiff", "test_compile", "test_runtime", "test_io",
                      "test_data", "test_emit"},
             "tsan": {"test_base", "test_runtime", "test_data", "test_emit"} | ({"test_train"} if NIGHTLY else set())}
# What the thread sanitizer leaves out of them: what one thread computes by itself, which the address sanitizer sees.
ONE_THREAD = {"test_emit": "-EmittedRoot*:EmittedColumns*:ShortRows*:PastCaches*:Rows*:Emitter.functions*:Emitter.exponentials*:Emitter.columns*:Emitter.runs*:"
                           "Emitter.what_leaves*:Emitter.ends_of_rows*"}
# Which run once more as on a processor without vector instructions: no machine code is made, the block evaluator serves. What derivatives and
# maps over examples are made of is the same there: of the operation matrix the columns of values are enough.
BASELINE = {"test_autodiff", "test_compile", "test_nn", "test_ops", "test_optim", "test_random", "test_rewrite", "test_runtime"}
# Which run once more as on a Zen 5, whose choices differ most from those of the others: of kernels, by the instructions that there are.
AS_ZEN5 = {"test_backend": "*Gemm*:TurnedProducts*:Winograd*:*Few*:ManyColumns*:ShortSums*:RunningSum*:LongRows*", "test_compile": "Products*:Row*:Scans*",
           "test_emit": "*"}
# Which take longest, and so begin first, the longest of all foremost: what is long and begins last keeps one processor alone at work. One
# that takes longer than half of all does so wherever it begins: its tests are dealt out to several processes. They write no files but in folders of their own.
SHARED_OUT = {"test_backend", "test_compile", "test_emit"}
LONGEST = ["test_backend", "test_ops", "test_compile", "test_cli", "test_random", "test_kernel", "test_emit", "test_runtime", "test_autodiff"]
LIMIT = 6000 if NIGHTLY else 600  # seconds for one test program: a deadlock must end the run, not hang it
SLOWER = {"release": 1, "asan": 2, "tsan": 2}
say = functools.partial(print, file=sys.stdout, flush=True)   # of now: a check may put another in its place, for all threads


class Tally:
    """What passed, failed and was skipped so far, by name, and how long each part took."""

    def __init__(self):
        self.passed, self.failed, self.skipped, self.seconds = 0, [], [], []

    def part(self, name, work):
        say(f"\n== {name}")
        start = time.monotonic()
        try:
            return work()
        finally:
            self.seconds.append((name, time.monotonic() - start))

    def beside(self, work, others):
        """Does `work` in this thread (Python's checks want signals) and `others`, which counts in a tally of its own, in another."""
        theirs = Tally()
        with concurrent.futures.ThreadPoolExecutor(1) as thread:
            done = thread.submit(others, theirs)
            work()
            done.result()
        for name, found in vars(theirs).items():
            setattr(self, name, getattr(self, name) + found)

    def fail(self, name, why):
        self.failed.append(name)
        say(f"FAILED {name}: {why}")

    def finish(self):
        say()
        for name, seconds in self.seconds:
            say(f"{seconds:7.1f} s  {name}")
        for name, lacks in self.skipped:
            say(f"skipped {name}: {lacks}")
        for name in self.failed:
            say(f"failed  {name}")
        if not self.passed and not self.failed:
            say("No test ran.")
        say(f"{self.passed} passed, {len(self.failed)} failed, {len(self.skipped)} skipped")
        return 1 if self.failed or not self.passed else 0


def build(tally, preset, targets=()):
    """Configures and builds a preset's tests, or these targets of it; False (and a failure) if that cannot be done."""
    folder = ROOT / {"release": "build"}.get(preset, f"build-{preset}")
    configure = ["cmake", "--preset", preset, "-DWEFT_BUILD_TESTS=ON"]
    if preset == "release":
        configure += ["-DWEFT_BUILD_PYTHON=ON", f"-DPython_EXECUTABLE={sys.executable}"] if builds_package() else ["-DWEFT_BUILD_PYTHON=OFF"]
    if preset in SANITIZED and NIGHTLY:
        configure.append("-DWEFT_LEAVE_OUT=viz;look;search")
    if not (folder / "CMakeCache.txt").exists():
        configure += [] if shutil.which("ninja") else ["-G", "Unix Makefiles"]
        configure += ["-DCMAKE_CXX_COMPILER_LAUNCHER=ccache" if shutil.which("ccache") else "-DWEFT_SHARE_HEADERS=ON"]
    targets = targets or ([] if preset == "release" else chosen(preset))
    compile_all = ["cmake", "--build", folder, "-j", str(PROCESSORS), *(["--target", *targets] if targets else [])]
    for command in (configure, compile_all):
        if subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL).returncode:
            tally.fail(f"{preset}: build", " ".join(map(str, command)))
            return False
    return True


def builds_package():
    """Whether this Python has what the package is built with: nanobind, and Python's own headers."""
    return importlib.util.find_spec("nanobind") is not None and Path(sysconfig.get_paths()["include"], "Python.h").exists()


def chosen(preset):
    """The test programs of a preset, by name: one a folder of tests, as tests/CMakeLists.txt makes them."""
    every = {f"test_{source.parent.name}" for source in ROOT.glob("tests/*/*_test.cpp")}
    return sorted(every & (SANITIZED.get(preset) or every))


def run_program(tally, preset, program, reports, settings, around, part=""):
    """Runs one GoogleTest program, or a part of its tests; one that dies or hangs counts as failed beside the tests that it did finish."""
    name = " ".join([f"{preset}: {program.name}", *(f"{key}={value}" for key, value in settings.items())])
    report = reports / f"{program.name}{part}.xml"
    report.unlink(missing_ok=True)
    # Frames that are kept for pointers that outlive them are two fifths of the time: those are looked for at night.
    environment = dict(around, **settings, GTEST_COLOR="no",
                       ASAN_OPTIONS=f"detect_stack_use_after_return={int(NIGHTLY)}:malloc_context_size=8:allocator_may_return_null=1",
                       UBSAN_OPTIONS="print_stacktrace=1", TSAN_OPTIONS="halt_on_error=0:second_deadlock_stack=1")
    say(f"-- {name}")
    try:
        done = subprocess.run([program, "--gtest_brief=1", f"--gtest_output=xml:{report}"], cwd=ROOT, env=environment,
                              stdin=subprocess.DEVNULL, timeout=LIMIT * SLOWER[preset]).returncode
    except subprocess.TimeoutExpired:
        return tally.fail(name, f"ran longer than {LIMIT * SLOWER[preset]} s and was ended")
    if not report.exists():
        how = signal.Signals(-done).name if done < 0 else f"exit status {done}"
        return tally.fail(name, f"ended by {how} before it could report")
    failures = 0
    for case in xml.parse(report).getroot().iter("testcase"):
        test = f"{name} {case.get('classname')}.{case.get('name')}"
        skip = case.find("skipped")
        if case.find("failure") is not None:
            failures += 1
            tally.failed.append(test)
        elif skip is not None:
            tally.skipped.append((test, " ".join((skip.get("message") or "says no reason").split("\n")[1:]) or "says no reason"))
        elif case.get("status") == "run":
            tally.passed += 1
    if done and not failures:  # a sanitizer, or a library that is unloaded, found fault after the last test
        tally.fail(name, f"every test passed, but the program ended with status {done}")


def run_programs(tally, preset, programs=None, settings={}, around=None):
    folder = ROOT / {"release": "build"}.get(preset, f"build-{preset}") / "tests"
    reports = folder / "reports"
    reports.mkdir(parents=True, exist_ok=True)
    shares, around = [], around or dict(os.environ)
    for name in sorted(programs or chosen(preset), key=lambda name: LONGEST.index(name) if name in LONGEST else len(LONGEST)):
        parts = 2 * min(PROCESSORS, 4) if name in SHARED_OUT and PROCESSORS > 1 else 1   # more than processors: they are not even
        for part in range(parts):
            dealt = {"GTEST_TOTAL_SHARDS": str(parts), "GTEST_SHARD_INDEX": str(part)} if parts > 1 else {}
            left_out = {"GTEST_FILTER": ONE_THREAD[name]} if preset == "tsan" and name in ONE_THREAD and not NIGHTLY else {}
            shares.append((folder / name, dict(settings, **left_out, **dealt), f".{part}" if part else ""))
    with concurrent.futures.ThreadPoolExecutor(PROCESSORS) as pool:
        for _ in pool.map(lambda share: run_program(tally, preset, share[0], reports, share[1], around, share[2]), shares):
            pass


class Result(unittest.TextTestResult):
    """Counts what passed, which unittest itself does not."""

    def __init__(self, *arguments, **named):
        super().__init__(*arguments, **named)
        self.succeeded = 0

    def addSuccess(self, test):
        super().addSuccess(test)
        self.succeeded += 1


def run_python(tally, folder):
    """Runs the unittest files tests/<folder>/*_test.py in this process."""
    sys.path.insert(0, str(ROOT / "tests" / folder))    # what they share lies beside them
    for path in sorted(ROOT.glob(f"tests/{folder}/*_test.py")):
        say(f"-- python: {path.relative_to(ROOT)}")
        spec = importlib.util.spec_from_file_location(f"{folder}.{path.stem}", path)
        module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)   # unittest looks there for setUpModule
        spec.loader.exec_module(module)
        suite = unittest.defaultTestLoader.loadTestsFromModule(module)
        result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2, resultclass=Result).run(suite)
        tally.passed += result.succeeded
        tally.failed += sorted({f"python: {test.id()}" for test, _ in result.failures + result.errors})
        tally.skipped += [(f"python: {test.id()}", reason) for test, reason in result.skipped]


def run_folders(tally):
    for folder in sorted({path.parent.name for path in ROOT.glob("tests/*/*_test.py")} - {"judge"}):
        tally.part(f"python: tests/{folder}", lambda: run_python(tally, folder))


def run_otherwise(tally, around):
    settings = {"WEFT_ISA": "baseline", "GTEST_FILTER": "-*__maps:*__*derivatives"}
    tally.part("release: without vectors", lambda: run_programs(tally, "release", sorted(BASELINE), settings, around))

    def as_zen5(program):   # each has tests of its own
        run_programs(tally, "release", [program], {"WEFT_PROCESSOR": "zen5", "GTEST_FILTER": AS_ZEN5[program]}, around)

    with concurrent.futures.ThreadPoolExecutor(len(AS_ZEN5)) as pool:
        tally.part("release: as on a Zen 5", lambda: list(pool.map(as_zen5, AS_ZEN5)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--nightly", action="store_true")
    parser.add_argument("--judge", action="store_true")
    options = parser.parse_args()
    sys.dont_write_bytecode = True
    if options.nightly:
        os.environ["WEFT_NIGHTLY"] = "1"
    tally = Tally()
    if "WEFT_SETUP_SECONDS" in os.environ:
        tally.seconds.append(("set-up", float(os.environ.pop("WEFT_SETUP_SECONDS"))))
    os.environ.setdefault("WEFT_BUILD", str(ROOT / "build"))
    if options.judge:   # the package is all that they need; without it they say what is missing
        if builds_package():
            tally.part("release: build", lambda: build(tally, "release", ["weft_python_functions"]))
        tally.part("judge", lambda: run_python(tally, "judge"))
        return tally.finish()
    built = tally.part("release: build", lambda: build(tally, "release"))
    if built:
        tally.part("release: tests", lambda: run_programs(tally, "release"))
    # Checks in Python take one processor; programs that run once more, the others. What a check sets for itself is not for those.
    around = dict(os.environ)
    tally.beside(lambda: run_folders(tally), lambda theirs: run_otherwise(theirs, around) if built else None)
    for preset in [] if options.quick else SANITIZED:
        if chosen(preset) and tally.part(f"{preset}: build", lambda: build(tally, preset)):
            tally.part(f"{preset}: tests", lambda: run_programs(tally, preset))
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
