"""Searches in Python are those of the program: the same trials, runs, folders; by this process or by several."""
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

import numpy as np

from built import BUILD, LACKS, wf

LINES = """
data: {train: {digits: {size: 120}}, valid: {digits: {split: valid, size: 40}}, prepare: [flatten]}
let: {units: 4}
model: [{linear: "${units}"}, relu, {linear: 10}]
cost: cross_entropy
optimizer: {sgd: {lr: 0.01}}
stop_when: {epochs: 2}
sweep: {over: {let.units: [3, 5], optimizer.sgd.lr: [0.001, 0.01]}}
"""
KEPT = ["last/model.safetensors", "last/state.json", "config.yaml"]


@unittest.skipIf(LACKS, f"the Python package: {LACKS}")
class Searches(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / "e.yaml").write_text(LINES)
        self.experiment = wf.experiment.load(self.folder / "e.yaml")

    def same_runs(self, one, other, trials):
        for number in range(1, trials + 1):
            for file in KEPT:
                run = f"trials/{number:03}"
                self.assertEqual((self.folder / one / run / file).read_bytes(), (self.folder / other / run / file).read_bytes(), (run, file))

    def test_a_sweep_here_by_processes_and_by_the_program_leave_the_same_runs(self):
        told = []
        here = self.experiment.sweep(self.folder / "here", on_trial=told.append)
        beside = self.experiment.sweep(self.folder / "beside", jobs=2)
        program = subprocess.run([BUILD / "weft", "sweep", "e.yaml", "--out", "program", "--quiet"], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(program.returncode, 0, program.stderr)
        for other in ["beside", "program"]:
            self.same_runs("here", other, 4)
        self.assertEqual([trial.number for trial in told], [1, 2, 3, 4])
        self.assertEqual(told[3].values, {"let.units": 5, "optimizer.sgd.lr": 0.01})
        self.assertEqual(here.best.number, min(told, key=lambda trial: trial.figure).number)
        self.assertEqual([trial.figure for trial in here.trials], [trial.figure for trial in beside.trials])
        self.assertEqual(here.best.run.eval("valid")["valid.loss"], here.best.figure)
        self.assertIn("let.units", str(here).splitlines()[0])
        self.assertTrue(here.page.exists())

    def test_keys_stand_in_place_of_the_experiments_own(self):
        search = self.experiment.sweep(self.folder / "s", over={"let.units": [2]}, maximize="valid.loss")
        self.assertEqual([trial.values for trial in search.trials], [{"let.units": 2}])
        again = self.experiment.sweep(self.folder / "s", over={"let.units": [2]}, maximize="valid.loss", on_trial=self.fail)
        self.assertEqual(again.trials[0][:7], search.trials[0][:7])

    def test_folds_of_arrays_in_memory(self):
        x = np.random.default_rng(0).standard_normal((60, 3)).astype(np.float32)
        held = wf.experiment.Experiment(data={"train": (x, x @ np.float32([[1], [2], [-1]]))}, model={"linear": 1}, cost="mse",
                                        optimizer={"sgd": {"lr": 0.1}}, stop_when={"epochs": 20}, batch_size=10)
        found = held.cv(self.folder / "cv", folds=3, seed=5)
        self.assertEqual([trial.values for trial in found.trials if trial.number == 2], [{"repeat": 1, "fold": 2}])
        mean, deviation = found.means["test.loss"]
        losses = [trial.figures["test.loss"] for trial in found.trials]
        self.assertAlmostEqual(mean, np.mean(losses))
        self.assertAlmostEqual(deviation, np.std(losses, ddof=1))
        self.assertLess(mean, 1e-3)
        with self.assertRaisesRegex(wf.ConfigError, "jobs=1"):
            held.cv(self.folder / "other", jobs=2)

    def test_mistakes_come_before_a_trial_is_trained(self):
        for keys, words in [({"over": {"let.unit": [1]}}, "no variable 'unit'; did you mean 'units'"), ({"over": {}}, "at least one"), ({"ober": {}}, "over"),
                            ({"over": {"optimizer.sgd.lr": ["high"]}}, "search_test.py:")]:
            with self.assertRaisesRegex(wf.ConfigError, words):
                self.experiment.sweep(self.folder / "s", **keys)
        with self.assertRaisesRegex(wf.ConfigError, "at least 1"):
            self.experiment.sweep(self.folder / "s", jobs=0)
        self.assertFalse((self.folder / "s").exists())
        (self.folder / "full").mkdir()
        (self.folder / "full" / "file").touch()
        with self.assertRaisesRegex(wf.ConfigError, "no empty folder"):
            self.experiment.sweep(self.folder / "full")

    def test_what_fails_is_a_trial_with_an_error(self):
        search = self.experiment.sweep(self.folder / "s", over={"optimizer.sgd.lr": [1e38, 0.01]})
        self.assertEqual([trial.number for trial in search.trials], [2, 1])
        failed = search.trials[1]
        self.assertIn("not finite", failed.error)
        self.assertEqual((failed.figure, failed.epoch, failed.run, failed.figures), (None, None, None, {}))

    def test_what_a_callback_raises_ends_it_and_the_same_call_goes_on(self):
        def enough(trial):
            raise OverflowError(trial.number)
        with self.assertRaises(OverflowError):
            self.experiment.sweep(self.folder / "s", on_trial=enough)
        told = []
        self.assertEqual(len(self.experiment.sweep(self.folder / "s", on_trial=told.append).trials), 4)
        self.assertEqual([trial.number for trial in told], [2, 3, 4])

    def test_interrupted_with_processes_at_work_it_goes_on_to_the_same_bytes(self):
        # Many steps, so that it goes on for a while on any machine; few checkpoints, which wait for a disk.
        longer = wf.experiment.load(self.folder / "e.yaml", set=["stop_when.epochs=10", "data.train.digits.size=3000", "batch_size=1", "checkpoint={steps: 1500}"])
        def interrupt():
            while not list(self.folder.glob("s/trials/*/last/state.json")):
                time.sleep(0.01)
            os.kill(os.getpid(), signal.SIGINT)
        # A shell that runs the tests in the background lets them ignore interrupts.
        self.addCleanup(signal.signal, signal.SIGINT, signal.signal(signal.SIGINT, signal.default_int_handler))
        watcher = threading.Thread(target=interrupt)
        watcher.start()
        with self.assertRaises(KeyboardInterrupt):
            longer.sweep(self.folder / "s", jobs=2, over={"optimizer.sgd.lr": [0.001, 0.01]})
        watcher.join()
        self.assertTrue(list(self.folder.glob("s/trials/*/last/state.json")))
        self.assertEqual(len(longer.sweep(self.folder / "s", over={"optimizer.sgd.lr": [0.001, 0.01]}).trials), 2)
        longer.sweep(self.folder / "whole", over={"optimizer.sgd.lr": [0.001, 0.01]})
        self.same_runs("s", "whole", 2)


if __name__ == "__main__":
    unittest.main()
