"""Experiments in Python are those of files: the same names, messages, bytes; what is written out reads back to the same."""
import gc
import hashlib
import inspect
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

import numpy as np

from built import BUILD, LACKS, wf

ROOT = Path(__file__).resolve().parents[2]


def small(**keys):
    from weft.experiment import Experiment, cost, data, model, optimizer, prepare
    given = dict(data={"train": data.digits(size=200), "valid": data.digits(split="valid", size=50), "prepare": [prepare.scale([0, 1]), prepare.flatten]},
                 model=[model.linear(8, init="xavier_uniform"), model.dropout(0.2), model.linear(10)], cost=[cost.cross_entropy, cost.weight_decay(1e-4)],
                 optimizer=optimizer.adam(lr=0.01), batch_size=50, stop_when={"epochs": 2}, keep_best={"of": "valid.loss"}, seed=7)
    return Experiment(**{**given, **keys})


@unittest.skipIf(LACKS, f"the Python package: {LACKS}")
class Experiments(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def refused(self, make, *words):
        with self.assertRaises((wf.ConfigError, AttributeError)) as found:
            make()
        for word in words:
            self.assertIn(word, str(found.exception))

    def test_every_name_of_the_registry_is_made_by_its_own(self):
        made = 0
        for kind, _ in wf._core.experiment_kinds():
            names = getattr(wf.experiment, kind)
            for name in dir(names):
                maker = getattr(names, name)
                parameters = inspect.signature(maker).parameters.values()
                self.assertTrue(maker.__doc__.startswith(f"{kind} "), name)
                # prepare's steps say themselves what stands behind their name
                if kind != "prepare" and all(one.default is not inspect.Parameter.empty for one in parameters) and (kind, name) not in {("augment", "crop")}:
                    self.assertEqual(wf.experiment.Part(kind, maker._description).tree, name)
                    self.assertEqual(maker(), maker())
                    made += 1
        self.assertGreater(made, 150)

    def test_the_run_of_an_object_and_of_the_file_that_it_writes_have_the_same_bytes(self):
        experiment = small()
        experiment.save(self.folder / "small.yaml")
        self.assertEqual(wf.experiment.load(self.folder / "small.yaml"), experiment)
        seen = []
        run = experiment.train(self.folder / "object", on_epoch=seen.append)
        self.assertEqual(seen, run.log)
        subprocess.run([BUILD / "weft", "train", "small.yaml", "--out", "file", "--quiet"], cwd=self.folder, check=True)
        for name in ["config.yaml", "model.yaml", "last/model.safetensors", "last/state.safetensors", "last/state.json", "best/model.safetensors"]:
            self.assertEqual((self.folder / "object" / name).read_bytes(), (self.folder / "file" / name).read_bytes(), name)
        answers = run.predict(wf.zeros((3, 28, 28)))
        self.assertEqual((answers.outputs.shape, answers.classes.shape, answers.probabilities.shape), ((3, 10), (3,), (3, 10)))
        self.assertEqual(run.experiment, experiment)

    def test_examples_are_written_out_and_read_back_to_the_same(self):
        for name in ["tinyshakespeare/input.txt", "input.txt", "fsdd.tar.gz"]:
            (self.folder / name).parent.mkdir(exist_ok=True)
            (self.folder / name).touch()
        os.environ["WEFT_DATA"], before = str(self.folder), os.environ.get("WEFT_DATA")
        try:
            for example in sorted((ROOT / "examples").glob("*.yaml")):
                experiment = wf.experiment.load(example)
                experiment.save(self.folder / "again.yaml")
                experiment.save(self.folder / "again.json")
                self.assertEqual(wf.experiment.load(self.folder / "again.yaml"), experiment, example)
                self.assertEqual(wf.experiment.load(self.folder / "again.json"), experiment, example)
        finally:
            os.environ.pop("WEFT_DATA") if before is None else os.environ.update(WEFT_DATA=before)

    def test_mistakes_name_the_line_of_the_program_and_a_way_out(self):
        from weft.experiment import data, model, prepare, stop
        line = inspect.currentframe().f_lineno + 1
        self.refused(lambda: model.linear(unts=3), f"experiment_test.py:{line}: unknown key 'unts' in linear; did you mean 'units'?")
        self.refused(lambda: model.linear("ten"), "expected an integer, found the string 'ten' (linear, 'units': how many outputs)")
        self.refused(lambda: model.lineer(3), "unknown name 'lineer' for a layer; did you mean 'linear'?")
        self.refused(lambda: prepare.scale([1]), "scale takes two numbers")
        self.refused(lambda: stop.no_improvement(of="valid.loss"), "needs the key 'for'")
        self.refused(lambda: small(bach_size=3), f"experiment_test.py:{inspect.getsourcelines(small)[1] + 5}: unknown key 'bach_size'", "'batch_size'")
        line = inspect.currentframe().f_lineno + 1
        self.refused(lambda: small(model=[model.linear(8), model.conv2d(channels=2, kernel_size=3)]).dry_run(), f":{line}: conv2d (layer 1)")
        with self.assertRaisesRegex(TypeError, "numbers, texts, lists, dicts and its parts, not by 'object'"):
            data.digits(size=object())

    def test_a_dry_run_keeps_nothing_of_the_data_that_it_looked_at(self):
        table = self.folder / "t.csv"
        table.write_text("".join(f"{i},{i % 7},{i % 2}\n" for i in range(40)))
        experiment = wf.experiment.Experiment(data={"train": {"csv": {"path": str(table)}}}, model={"linear": 2}, cost="cross_entropy",
                                              optimizer={"sgd": {"lr": 1e-4}}, stop_when={"epochs": 1})
        self.assertIn("(batch, 2)", experiment.dry_run())
        table.write_text("".join(f"{i},{i % 7},{i % 2}\n" for i in range(60)))
        self.assertEqual(experiment.train(self.folder / "run").log[0]["examples"], 60)

    def test_the_log_has_each_rate_that_a_schedule_changes(self):
        from weft.experiment import optimizer, schedule
        run = small(optimizer=optimizer.momentum(lr=0.01, momentum=schedule.linear(from_=0.5, to=0.9, epochs=[1, 2]))).train(self.folder / "run")
        self.assertEqual(run.figures("momentum"), [0.5, 0.9])
        self.assertEqual(run.figures("lr"), [0.01, 0.01])
        plain = small(optimizer=optimizer.momentum(lr=0.01, momentum=0.5)).train(self.folder / "plain")
        self.assertEqual(plain.figures("momentum"), [])

    def test_lbfgs_makes_the_steps_that_it_is_asked_for_and_logs_the_last_ones_length(self):
        from weft.experiment import optimizer
        losses = {}
        for search in ["exhaustive", "strong_wolfe"]:
            for steps in [1, 2, 8]:
                run = small(model=[{"linear": 10}], optimizer=optimizer.lbfgs(iterations=steps, line_search=search), batch_size=200,
                            stop_when={"epochs": 1}).train(self.folder / f"{search}{steps}")
                losses[search, steps] = run.eval("train")["train.loss"]
            self.assertGreater(losses[search, 1], losses[search, 2])
            self.assertGreater(losses[search, 2], losses[search, 8])
        self.assertNotEqual(wf.experiment.Run(self.folder / "exhaustive8").figures("lr"), [1.0])

    def test_the_times_of_a_run_are_those_of_all_its_sittings(self):
        import json
        class Enough(Exception):
            pass
        def stop(line):
            raise Enough
        with self.assertRaises(Enough):
            small().train(self.folder / "run", on_epoch=stop)
        def times():
            return json.loads((self.folder / "run" / "times.json").read_text())
        first = times()
        wf.experiment.Run(self.folder / "run").resume()
        second = times()
        wf.experiment.Run(self.folder / "run").resume()  # it has ended
        third = times()
        for name, seconds in first.items():
            self.assertLessEqual(seconds, second[name], name)
            self.assertLessEqual(second[name], third[name], name)
        self.assertLess(sum(first.values()), sum(second.values()))

    def test_runs_do_in_python_what_the_commands_do(self):
        run = small().train(self.folder / "run")
        told = subprocess.run([BUILD / "weft", "eval", self.folder / "run", "--data", "valid"], capture_output=True, text=True, check=True).stdout
        figures = run.eval("valid")
        self.assertEqual(figures, run.eval())  # there is no test set
        self.assertIn(f"valid.loss {figures['valid.loss']:.4f}\n", told)
        self.assertAlmostEqual(figures["valid.loss"], min(run.figures("valid.loss")), places=12)
        self.refused(lambda: run.eval("vald"), "no set 'vald'; did you mean 'valid'?")
        self.assertEqual(run.show(), self.folder / "run" / "report.html")
        self.assertIn("valid.error", run.show().read_text())
        subprocess.run([BUILD / "weft", "plot", run.folder, "--out", self.folder / "command.svg", "--channel", "*.loss"], check=True, capture_output=True)
        self.assertEqual(run.plot(self.folder / "python.svg", channel="*.loss").read_bytes(), (self.folder / "command.svg").read_bytes())
        self.refused(lambda: run.plot("figures.txt"), "figures.txt", ".svg, .png or .html")
        self.refused(run.sample, "makes no examples")
        self.refused(run.likelihood, "no logarithm of a probability")
        self.refused(lambda: run.likelihood(draws=0), "at least 1, 2 and 2")

    def test_samples_and_likelihoods_are_those_of_the_commands(self):
        from weft.experiment import cost, data, model, prepare
        machine = small(data={"train": data.digits(size=100), "valid": data.digits(split="valid", size=50), "prepare": [prepare.scale([0, 1]), prepare.binarize, prepare.flatten]},
                        model=model.rbm(4), cost=cost.of_layers, optimizer={"sgd": {"lr": 0.05}}, keep_best=None, stop_when={"epochs": 1})
        run = machine.train(self.folder / "rbm")
        made = run.sample(count=3, steps=20, seed=5, out=self.folder / "python.npy")
        self.assertEqual((made.shape, made.dtype), ((3, 28, 28), wf.float32))
        subprocess.run([BUILD / "weft", "sample", run.folder, "--count", "3", "--steps", "20", "--seed", "5", "--out", self.folder / "command.npy"], check=True, capture_output=True)
        self.assertEqual((self.folder / "python.npy").read_bytes(), (self.folder / "command.npy").read_bytes())
        found = run.likelihood(chains=20, temperatures=50)
        self.assertFalse(found.bound)
        self.assertTrue(found.log_z.low < found.log_z.value < found.log_z.high)
        self.assertAlmostEqual(found.log_z.value / found.exact_log_z, 1, delta=0.05)
        self.assertIsNone(found.log_z_from_above)
        told = subprocess.run([BUILD / "weft", "likelihood", run.folder, "--chains", "20", "--temperatures", "50"], capture_output=True, text=True, check=True).stdout
        self.assertIn(f"valid.log_likelihood {found.mean:.3f} nats", told)
        self.refused(lambda: run.sample(walk=3), "no code")
        self.refused(lambda: run.sample(out="samples.txt"), "samples.txt", ".png or .npy")

    def test_arrays_in_memory_are_data_and_a_run_says_which_they_were(self):
        numbers = np.random.default_rng(3)
        x, y = numbers.normal(size=(60, 4)).astype(np.float32), numbers.integers(0, 3, 60)
        valid = {"x": wf.asarray(x[:20]), "y": wf.asarray(y[:20])}
        experiment = small(data={"train": (x, y), "valid": valid, "prepare": ["standardize"]}, model={"linear": 3}, batch_size=20)
        np.savez(self.folder / "train.npz", x=x, y=y)
        np.savez(self.folder / "valid.npz", x=x[:20], y=y[:20])
        of_files = small(data={"train": {"npz": {"path": self.folder / "train.npz"}}, "valid": {"npz": {"path": self.folder / "valid.npz"}}, "prepare": ["standardize"]},
                         model={"linear": 3}, batch_size=20)
        known = hashlib.md5(x.tobytes()).hexdigest()
        kept_x = x.copy()
        x[:] = 0  # they were copied
        run, other = experiment.train(self.folder / "run"), of_files.train(self.folder / "files")
        self.assertEqual((run.kept / "model.safetensors").read_bytes(), (other.kept / "model.safetensors").read_bytes())
        self.assertEqual(run.eval("valid"), other.eval("valid"))
        self.assertEqual(run.experiment.config["data"]["train"]["arrays"]["x"], {"shape": [60, 4], "dtype": "float32", "md5": known})
        del run, experiment
        gc.collect()
        again = wf.experiment.Run(self.folder / "run")
        self.assertEqual(len(again.log), 3)
        self.refused(again.resume, "x float32 (60, 4), y int64 (60)", "Run(folder, data=", "numpy.savez")
        told = subprocess.run([BUILD / "weft", "resume", self.folder / "run"], capture_output=True, text=True)
        self.assertEqual(told.returncode, 2)
        self.assertIn("numpy.savez", told.stderr)
        self.refused(lambda: wf.experiment.Run(self.folder / "run", data={"train": (x, y)}), "begun with other data as 'train'")
        wf.experiment.Run(self.folder / "run", data={"train": (kept_x, y), "valid": valid}).resume()

    def test_several_inputs_may_be_arrays_and_wrong_ones_are_refused(self):
        x, y = np.zeros((6, 4), np.float32), np.arange(6)
        experiment = small(data={"train": ({"left": x, "right": x}, y)}, keep_best=None, model={"linear": 6})
        self.assertEqual([*experiment.config["data"]["train"]["arrays"]["x"]], ["left", "right"])
        with self.assertRaisesRegex(wf.ShapeError, "6.*5|5.*6"):
            small(data={"train": (x, y[:5])})
        self.refused(lambda: small(data={"train": {"x": x}}), '{"x": x, "y": y}')
        self.refused(lambda: small(data={"train": {"arrays": {"x": "abc", "y": 3}}}), "described by a program")

    def test_a_model_of_texts_writes_what_the_command_writes(self):
        (self.folder / "abc.txt").write_text("abc" * 300)
        run = small(data={"train": {"text": {"path": self.folder / "abc.txt", "length": 8}}}, cost="cross_entropy", keep_best=None, batch_size=10,
                    model=[{"embedding": {"count": 3, "units": 8}}, {"gru": 16}, {"linear": 3}, "transpose"], stop_when={"epochs": 5}).train(self.folder / "run")
        self.assertEqual(len(run.sample()), 400)
        written = run.sample(count=9, temperature=2, prompt="ab", seed=3, out=self.folder / "python.txt")
        subprocess.run([BUILD / "weft", "sample", run.folder, "--count", "9", "--temperature", "2", "--prompt", "ab", "--seed", "3", "--out", self.folder / "command.txt"],
                       check=True, capture_output=True)
        self.assertEqual((self.folder / "command.txt").read_text(), "ab" + written + "\n")
        self.assertEqual((self.folder / "python.txt").read_text(), "ab" + written + "\n")
        self.refused(lambda: run.sample(prompt="z"), "'z', which the run's text had not")

    def test_the_module_shows_what_is_its_own(self):
        self.assertEqual([name for name in dir(wf.experiment) if inspect.ismodule(getattr(wf.experiment, name))], [])

    def test_a_run_that_is_interrupted_from_python_goes_on(self):
        def leave(line):
            raise RuntimeError("enough")
        with self.assertRaisesRegex(RuntimeError, "enough"):
            small().train(self.folder / "run", on_epoch=leave)
        run = wf.experiment.Run(self.folder / "run")
        self.assertEqual(len(run.log), 1)
        run.resume()
        self.assertEqual(run.figures("valid.loss"), small().train(self.folder / "whole").figures("valid.loss"))
        with self.assertRaisesRegex(wf.ConfigError, "holds a run already"):
            small().train(self.folder / "run")


if __name__ == "__main__":
    unittest.main()
