"""The module that reads Parquet is found from the Python extension, where one was built; where not, a table says a way out."""
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from built import BUILD, LACKS

TABLE = Path(__file__).resolve().parents[1] / "io/files/table.parquet"
CHECK = """
from weft.experiment import Experiment, cost, data, model, optimizer
try:
    run = Experiment(data={{"train": data.parquet(path={path!r}, x=["wide", "pair"], target="size")}}, model=[model.linear(3)],
                     cost=cost.cross_entropy, optimizer=optimizer.adam, batch_size=3, stop_when={{"epochs": 1}}).train("run")
    print("trained")
except Exception as error:
    print(error)
"""


@unittest.skipIf(LACKS, LACKS)
class Parquet(unittest.TestCase):
    def checked(self, **settings):
        environment = {**os.environ, "PYTHONPATH": str(BUILD / "python"), **settings}
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([sys.executable, "-c", CHECK.format(path=str(TABLE))], cwd=folder, env=environment, capture_output=True, text=True)
        return done.stdout + done.stderr

    def test_is_refused_with_a_way_out_without_the_module(self):
        said = self.checked(WEFT_PARQUET="/nowhere/of_arrow.so")
        self.assertIn("'table.parquet' is a Parquet file, and libweft_parquet.so, which reads these, is not here (/nowhere/of_arrow.so", said)
        self.assertIn("pandas.read_parquet('table.parquet').to_csv", said)

    def test_is_found_beside_the_extension(self):
        if not (BUILD / "libweft_parquet.so").exists():
            self.skipTest("this build has no Apache Arrow")
        self.assertTrue(self.checked().endswith("trained\n"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
