"""The package as it was built, and NumPy; LACKS says what is missing (then tests are skipped, and say so). Callers: tests here."""
import os
import sys
from pathlib import Path

BUILD = Path(os.environ.get("WEFT_BUILD", Path(__file__).resolve().parents[2] / "build"))
sys.path.insert(0, str(BUILD / "python"))
try:
    import numpy as np
    import weft as wf
    LACKS = None
except ImportError as error:
    np = wf = None
    LACKS = str(error)
