"""A program outside the tree gets weft in each way in which it can be had, static and shared, and compiles without a warning.

Static: weft's own release build, installed, then found by CMake and by pkg-config. Shared: weft as a folder of another project,
packed there from the same compiled floors (WEFT_JOINED), installed from there, and found again.
"""
import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HERE = ROOT / "tests" / "install"
BUILD = Path(os.environ.get("WEFT_BUILD", ROOT / "build"))
CXX = os.environ.get("CXX", "c++")
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]
LAUNCHER = ["-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []
GENERATOR = ["-G", "Ninja"] if shutil.which("ninja") else []
JOBS = str(os.cpu_count() or 1)


def call(*command, env=None):
    """Runs a command; its output is the message of the failure."""
    done = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, env=env)
    if done.returncode:
        raise AssertionError(f"{' '.join(map(str, command))}\nended with status {done.returncode}\n{done.stdout[-4000:]}")
    return done.stdout


def setUpModule():
    global work, shared_build
    work = Path(tempfile.mkdtemp(prefix="weft-install-"))
    unittest.addModuleCleanup(shutil.rmtree, work)
    call("cmake", "--install", BUILD, "--prefix", work / "static")
    shared_build = work / "subdirectory"
    call("cmake", *GENERATOR, *LAUNCHER, "-S", HERE / "subdirectory", "-B", shared_build, f"-DWEFT_JOINED={BUILD / 'weft_whole.o'}",
         f"-DWEFT_SOURCE={ROOT}", "-DBUILD_SHARED_LIBS=ON", "-DWEFT_INSTALL=ON", f"-DPROGRAM={HERE / 'program.cpp'}")
    call("cmake", "--build", shared_build, "-j", JOBS)
    call("cmake", "--install", shared_build / "weft", "--prefix", work / "shared")


def by_package(kind, source):
    folder = Path(tempfile.mkdtemp(dir=work))
    call("cmake", *GENERATOR, "-S", HERE / "package", "-B", folder, f"-DCMAKE_PREFIX_PATH={work / kind}", f"-DPROGRAM={source}")
    call("cmake", "--build", folder)
    return folder / "program"


def by_pkg_config(kind, source):
    library = next((work / kind).glob("**/pkgconfig"))
    flags = call("pkg-config", "--cflags", "--libs", "weft", env=dict(os.environ, PKG_CONFIG_PATH=str(library))).split()
    program = work / f"pkg-config-{kind}"
    call(CXX, "-std=c++20", *WARNINGS, source, "-o", program, *flags, f"-Wl,-rpath,{library.parent}")
    return program


class Installed(unittest.TestCase):
    def test_static_weft_is_found_by_cmake(self):
        call(by_package("static", HERE / "program.cpp"))

    def test_shared_weft_is_found_by_cmake(self):
        program = by_package("shared", HERE / "program.cpp")
        call(program)
        self.assertIn("libweft.so", call("ldd", program))

    def test_weft_is_built_as_a_folder_of_another_project(self):
        call(shared_build / "program")

    def test_static_and_shared_weft_are_found_by_pkg_config(self):
        if not shutil.which("pkg-config"):
            self.skipTest("pkg-config is missing")
        for kind in ("static", "shared"):
            with self.subTest(kind):
                call(by_pkg_config(kind, HERE / "program.cpp"))

    def test_the_program_of_the_readme_trains_a_network(self):
        source = work / "readme.cpp"
        source.write_text(re.search(r"```cpp\n(.*?)```", (ROOT / "README.md").read_text(), re.S).group(1))
        error = float(call(by_package("static", source)))
        print(f"test error {error}", end=" ")
        self.assertLess(error, 0.1)   # one pass; chance is 0.9

    def test_the_experiment_of_the_documentation_is_written_out_and_trained(self):
        source, folder = work / "experiment.cpp", work / "experiment"
        program = re.search(r"```cpp\n(.*?)```", (ROOT / "docs/experiments.md").read_text(), re.S).group(1)
        source.write_text("#include <weft/experiment.h>\nint main() {\n" + program + "}\n")
        folder.mkdir()
        call("env", "-C", folder, by_package("shared", source))
        self.assertIn("model: [{linear: 100}, relu, {linear: 10}]", (folder / "digits.yaml").read_text())
        self.assertTrue((folder / "runs/digits/last/model.safetensors").exists())

    def test_the_header_alone_compiles_within_two_seconds(self):
        # Of a processor that compiles headers of the standard library in one; one that is slower, or shared, has as much longer.
        standard = "regex", "iostream", "functional", "unordered_map"
        for _ in range(5):   # in turns, for what else runs on the machine changes meanwhile
            yardstick, seconds = compiled(*(f"<{name}>" for name in standard)), compiled("<weft/weft.h>")
            print(f"{seconds:.2f} s (the standard library's {yardstick:.2f} s)", end=" ")
            if seconds <= 2.0 * max(1.0, yardstick):
                return
        self.fail(f"weft/weft.h took {seconds:.2f} s, {', '.join(standard)} {yardstick:.2f} s")


def compiled(*headers):
    """Seconds of processor time that these headers take."""
    source = work / "header.cpp"
    source.write_text("".join(f"#include {header}\n" for header in headers))
    process = subprocess.Popen([CXX, "-std=c++20", "-O0", *WARNINGS, "-I", work / "static/include", "-c", source, "-o", work / "header.o"],
                               stdin=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)   # of this child alone: the tests' runner has others meanwhile
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise AssertionError(f"{' '.join(headers)} ended with status {process.returncode}")
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    unittest.main(verbosity=2)
