"""Experiments killed at random moments, some of them twice, and resumed: what they leave is byte for byte what an undisturbed run leaves,
whatever the number of threads. In nightly runs (WEFT_NIGHTLY=1), for it takes minutes; tests/cli has a quick one in every run."""
import json
import os
import random
import shutil
import signal
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

BUILD = Path(os.environ.get("WEFT_BUILD", Path(__file__).resolve().parents[2] / "build"))
KILLS = 10   # an experiment
PIXELS = [{"scale": [0, 1]}, "flatten"]
ADAM = {"adam": {"lr": 0.0002, "beta1": 0.5, "skip_zero": True}}


def digits(size, split="train"):
    return {"digits": {"size": size, "split": split}}


EXPERIMENTS = {
    "adversarial pair": {
        "data": {"train": digits(3000), "prepare": PIXELS},
        "model": {"adversarial": {"latent": 16, "margin": 0.25, "generator": [{"linear": 128}, "batch_norm", "relu", {"linear": 784}, "sigmoid"],
                                  "discriminator": [{"linear": 128}, {"leaky_relu": 0.2}, {"dropout": 0.3}, {"linear": 1}]}},
        "cost": "of_layers", "optimizer": {"by_name": {"parts": {"generator.*": ADAM, "discriminator.*": ADAM}}},
        "batch_size": 64, "last": "drop", "stop_when": {"epochs": 12}},
    "LSTM with a carried state": {
        "data": {**{part: {"text": {"path": "words.txt", "length": 20, "lanes": 16, "split": part}} for part in ("train", "valid")}, "shuffle": False},
        "model": [{"embedding": {"count": 65, "units": 32}}, {"lstm": {"units": 48, "layers": 2, "carry": True}}, {"linear": 65}, "transpose"],
        "cost": "cross_entropy", "optimizer": {"adam": {"lr": 0.005, "clip_norm": 1}}, "batch_size": 16, "last": "drop", "stop_when": {"epochs": 6}},
    "chains of a Boltzmann machine": {
        "data": {"train": digits(2000), "valid": digits(500, "valid"), "prepare": [*PIXELS, {"binarize": {"draw": True}}]},
        "model": [{"rbm": {"units": 64, "chains": 50, "steps": 2}}], "cost": "of_layers",
        "optimizer": {"sgd": {"lr": {"linear": {"from": 0.05, "to": 0.0, "epochs": [1, 15]}}}}, "batch_size": 50, "stop_when": {"epochs": 12}},
    "L-BFGS": {
        "data": {"train": digits(3000), "valid": digits(500, "valid"), "prepare": PIXELS},
        "model": [{"linear": 64}, "tanh", {"dropout": 0.2}, {"linear": 10}], "cost": "cross_entropy",
        "optimizer": {"lbfgs": {"iterations": 5}}, "batch_size": 1000, "stop_when": {"epochs": 15}, "keep_best": {"of": "valid.error"}},
    "phases, noise, dropout": {
        "data": {"train": digits(3000), "valid": digits(500, "valid"), "prepare": PIXELS, "augment": [{"noise": {"deviation": 0.05}}]},
        "model": [{"linear": {"units": 128, "name": "a"}}, "batch_norm", "relu", {"dropout": 0.3}, {"linear": 10}], "cost": "cross_entropy",
        "optimizer": {"adam": {"lr": 0.002}}, "batch_size": 50,
        "phases": [{"name": "one", "stop_when": {"any": [{"epochs": 8}, {"no_improvement": {"of": "valid.loss", "for": 2}}]}, "keep_best": {"of": "valid.loss"}},
                   {"name": "two", "optimizer": {"momentum": {"lr": 0.01}}, "freeze": ["a.*"], "stop_when": {"epochs": 6}}]},
}


def without_times(line):
    if isinstance(line, dict):
        return {key: without_times(value) for key, value in line.items() if not any(word in key for word in ("second", "time", "rate"))}
    return line


def left(run):
    """What a run left: its checkpoints byte for byte, and its log but for times."""
    files = {str(path.relative_to(run)): path.read_bytes() for part in ("last", "best") for path in sorted((run / part).rglob("*")) if path.is_file()}
    return files, [without_times(json.loads(line)) for line in (run / "log.jsonl").read_text().splitlines()]


@unittest.skipUnless((BUILD / "weft").exists(), f"killed runs: there is no {BUILD / 'weft'}")
class Kills(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        self.random = random.Random(1)
        words = [self.random.choice(["to", "be", "or", "not", "that", "is", "the", "question"]) for _ in range(12_000)]
        (self.folder / "words.txt").write_text(" ".join(words))

    def start(self, name, *more):
        command = [BUILD / "weft", "train", f"{name}.json", "--out", str(self.folder / name), "--quiet", "--threads", str(self.random.choice([1, 2])), *more]
        return subprocess.Popen(command, cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def finish(self, name, *more):
        process = self.start(name, *more)
        _, complaint = process.communicate()
        self.assertEqual(process.returncode, 0, complaint)
        return left(self.folder / name)

    def kill(self, name, after, *more):
        """Whether it was alive."""
        process = self.start(name, *more)
        time.sleep(after)
        alive = process.poll() is None
        process.send_signal(signal.SIGKILL)
        process.communicate()
        return alive

    def test_these_are_experiments(self):
        for title, experiment in EXPERIMENTS.items():
            (self.folder / "dry.json").write_text(json.dumps(experiment))
            seen = subprocess.run([BUILD / "weft", "train", "dry.json", "--dry-run"], cwd=self.folder, capture_output=True, text=True)
            with self.subTest(title):
                self.assertEqual(seen.returncode, 0, seen.stderr)

    @unittest.skipUnless(os.environ.get("WEFT_NIGHTLY"), "50 kills of 5 experiments take minutes: WEFT_NIGHTLY=1")
    def test_runs_that_were_killed_leave_what_undisturbed_ones_leave(self):
        for title, experiment in EXPERIMENTS.items():
            text = json.dumps({**experiment, "seed": 3})
            (self.folder / "whole.json").write_text(text)
            begin = time.monotonic()
            expected = self.finish("whole")
            seconds = time.monotonic() - begin
            alive = 0
            for number in range(KILLS):
                name = f"{title.split()[0]}{number}"
                (self.folder / f"{name}.json").write_text(text)
                alive += self.kill(name, self.random.uniform(0.05, 0.8 * seconds))
                if self.random.random() < 0.5 and (self.folder / name).exists():
                    self.kill(name, self.random.uniform(0.05, 0.5 * seconds), "--resume")
                resumed = self.finish(name, *(["--resume"] if (self.folder / name).exists() else []))
                with self.subTest(title, kill=number):
                    self.assertTrue(resumed == expected)
            self.assertGreaterEqual(alive, KILLS // 2, f"{title}: too few kills met a run alive")
            shutil.rmtree(self.folder / "whole")


if __name__ == "__main__":
    unittest.main()
