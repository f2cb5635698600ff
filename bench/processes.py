"""What only fresh processes show: imports, first results, memory, large expressions; and two threads beside a busy loop. Called by bench/peers.py."""
import compileall
import importlib.metadata
import json
import multiprocessing
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

from systems import ROOT, InProcess
from table import Row

FIRSTS = ("mlp", "mnist", "lstm", "gpt128")
# A peer is only asked for what it can do within this: JAX needs minutes for 4,000 operations, PyTorch's compiler half a minute for 1,000.
LATE = 120


def fresh(kind, system, name="", cache=None):
    """The figures of one new process; RuntimeError with its last words."""
    folder = cache or tempfile.mkdtemp(prefix="weft-bench-")
    env = {**{k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}, "PYTHONPATH": str(ROOT / "build" / "python"), "TORCHINDUCTOR_CACHE_DIR": f"{folder}/torch", "WEFT_CACHE": f"{folder}/weft",
           "JAX_COMPILATION_CACHE_DIR": f"{folder}/jax", "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0", "JAX_PLATFORMS": "cpu"}
    try:
        done = subprocess.run([sys.executable, str(ROOT / "bench" / "fresh.py"), kind, system, name], capture_output=True, text=True, env=env, timeout=LATE)
    except subprocess.TimeoutExpired:
        raise RuntimeError(f"{system}: not done after {LATE} s") from None
    finally:
        if not cache:
            subprocess.run(["rm", "-rf", folder], check=False)
    if done.returncode:
        raise RuntimeError(f"{system}: {done.stderr.strip().splitlines()[-1:]}")
    return json.loads(done.stdout.splitlines()[-1])


def collect(kind, systems, name="", rounds=1, cache=None, once=("torch-compile",)):
    """{figure: {system: least of the rounds}}, and what went wrong. Systems take turns, so that the state of the machine's memory, which doubles such
    figures, is the same for all; those in `once`, which take long, have one turn."""
    found, notes, failed = {}, [], set()
    for turn in range(rounds):
        for system in systems:
            if system in failed or (turn > 0 and system in once):
                continue
            try:
                figures = fresh(kind, system, name, cache)
            except RuntimeError as error:
                notes.append(str(error))
                failed.add(system)
                continue
            for key, value in figures.items():
                held = found.setdefault(key, {})
                held[system] = value if isinstance(value, list) else min(value, held.get(system, value))
    return found, notes


def imports(systems, rounds):
    systems = [s for s in systems if s != "torch-compile"]
    found, notes = collect("import", systems, rounds=2 * rounds)
    yield Row("import.time", found["seconds"], {"numpy": 0.7}, notes=notes)
    yield Row("import.memory", found["bytes"], {"numpy": 0.7}, unit="B")
    yield Row("import.disk", {s: on_disk(s) for s in systems}, {"numpy": 0.3}, unit="B", remarks=opened_later())


def on_disk(system):
    """Bytes of the package as pip leaves it, compiled sources too, and all that comes with it: packages that it requires, or, for weft, the
    libraries that it is linked with. What it opens where it is there (oneDNN, OpenBLAS, HDF5, ...) a note tells of."""
    if system != "weft":
        return sum(size(path) for path in distribution_files({"ort": "onnxruntime"}.get(system, system), set()))
    folder = ROOT / "build" / "python" / "weft"
    compileall.compile_dir(folder, quiet=1)
    core = next(folder.glob("_core*.so"))
    libraries = re.findall(r"=> (/\S+)", subprocess.run(["ldd", str(core)], capture_output=True, text=True, check=True).stdout)
    system_own = re.compile(r"/(libc|libm|libdl|librt|libpthread)\.so|/ld-linux|linux-vdso")
    return (sum(size(path) for path in folder.rglob("*"))
            + sum(size(pathlib.Path(path)) for path in set(libraries) if not system_own.search(path)))


def opened_later():
    """What weft opens of the libraries that are there when it has work for them, as a remark."""
    text = "import ctypes\nfor name in ('libdnnl.so.2', 'libopenblas.so.0'): ctypes.CDLL(name)\nprint(open('/proc/self/maps').read())"
    opened = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True)
    paths = {path for path in re.findall(r" (/\S+)", opened.stdout) if re.search("dnnl|openblas|gomp|gfortran|quadmath", path)}
    return [f"weft opens oneDNN and OpenBLAS, and what these bring, when it has work for them: {sum(map(size, paths)) / 1e6:.0f} MB"] if paths else []


def size(path):
    path = pathlib.Path(path)
    return path.stat().st_size if path.is_file() else 0


def distribution_files(name, seen):
    """Files of an installed distribution and of those that it requires here."""
    name = re.sub(r"[-_.]+", "-", name).lower()
    if name in seen:
        return
    seen.add(name)
    try:
        distribution = importlib.metadata.distribution(name)
    except importlib.metadata.PackageNotFoundError:
        return
    yield from (file.locate() for file in distribution.files or ())
    for requirement in distribution.requires or ():
        if "extra ==" not in requirement:
            yield from distribution_files(re.match(r"[\w.-]+", requirement).group(), seen)


def firsts(names, systems, rounds):
    systems = [s for s in systems if s in ("weft", "torch", "torch-compile", "jax")]
    goals = {"compiled": 0.1, "torch": 1.0}
    for name in names:
        with tempfile.TemporaryDirectory(prefix="weft-bench-") as cache:
            compilers = [s for s in systems if s in ("torch-compile", "jax")]
            others = [s for s in systems if s not in compilers]
            found, notes = collect("first", others, f"train.{name}", rounds)
            cold, more = collect("first", compilers, f"train.{name}", 1, cache)    # their disk caches are empty once
            warm, last = collect("first", compilers, f"train.{name}", 1, cache)
        for key in cold:
            found.setdefault(key, {}).update(cold[key])
        second = {**{s: found["first"][s] for s in others if s in found.get("first", {})}, **warm.get("first", {})}
        yield Row(f"first.{name}", found.get("first", {}), goals, notes=notes + more + last)
        yield Row(f"first.{name}.imported", found.get("imported", {}), goals)
        yield Row(f"new-batch.{name}", found.get("new", {}), {"at most": 0.02, "torch": 1.0})
        yield Row(f"second-process.{name}", second, goals)


def memories(names, systems):
    for name in names:
        found, notes = collect("memory", [s for s in systems if s in ("weft", "torch", "jax")], f"train.{name}")
        yield Row(f"memory.{name}.256", found.get("bytes", {}), {"best": 0.7}, unit="B", notes=notes)


def graphs(counts, systems, rounds):
    for count in counts:
        able = [s for s in systems if s in ("weft", "torch") or (s == "jax" and count <= 1000)]
        found, notes = collect("graph", able, str(count), rounds, once=("jax",))
        values = found.pop("values", {})
        for system, theirs in values.items():
            if any(abs(a - b) > 1e-3 * (abs(b) + 1e-2) for a, b in zip(values.get("weft", ()), theirs)):
                notes.append(f"weft gives {values['weft']}, {system} {theirs}")
        yield Row(f"graph.{count}.ready", found.get("ready", {}), {"torch": 1.0}, notes=notes)
        yield Row(f"graph.{count}.run", found.get("run", {}), {"torch": 0.05})


def spin(stop):
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    while not stop.is_set():
        pass


def busy(systems, rounds, seconds):
    """Two threads while a loop holds one of the two cores; weft also against itself on one thread."""
    if len(os.sched_getaffinity(0)) < 2:
        yield Row("busy.mlp", {}, {}, threads=2, remarks=["needs two cores"])
        return
    running, alone = {}, InProcess("weft", 1, {min(os.sched_getaffinity(0))})
    for system in systems:
        if system in ("weft", "torch", "jax"):
            running[system] = InProcess(system, 2)
    for process in (alone, *running.values()):
        process.setup("train.mlp")
    own, medians = [], {s: [] for s in running}
    for _ in range(rounds):
        own.append(alone.time("train.mlp", seconds)[1])
        for system, process in running.items():
            stop = multiprocessing.get_context("spawn").Event()
            loop = multiprocessing.get_context("spawn").Process(target=spin, args=(stop,))
            loop.start()
            time.sleep(0.5)
            medians[system].append(process.time("train.mlp", seconds)[1])
            stop.set()
            loop.join()
    for process in (alone, *running.values()):
        process.close()
    least = {s: min(values) for s, values in medians.items()}   # the least median: what is disturbed is the matter here
    yield Row("busy.mlp", least, {"own": 1.2}, threads=2, own=min(own))
