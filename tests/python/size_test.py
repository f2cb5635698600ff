"""What the package takes on disk, for who installs it: as release builds of the compiler that it was measured with make it."""
import re
import unittest

from built import BUILD, LACKS

MOST = 17_120_000   # bytes; 0.30 of NumPy's, which `import.disk` of bench/peers.py aims at, is 17.2 million
FOLDER = BUILD / "python" / "weft"


def unlike_measured(core):
    """Why the size of this extension says nothing, or None. It names its compiler; what was stripped has no table of symbols."""
    setting = dict(re.findall(r"^(\w+):\w+=(.*)$", (BUILD / "CMakeCache.txt").read_text(), re.M))
    if setting.get("CMAKE_BUILD_TYPE") != "Release" or setting.get("WEFT_SANITIZE") or "ON" not in setting.get("WEFT_SHARE_HEADERS", ""):
        return "not a release build as `pip install` makes it"
    if b".symtab\0" in core or not re.search(rb"GCC: \([^)]*\) 12\.", core) or core[18:20] != b"\x3e\0":
        return "another compiler or processor, or not stripped"
    return None


@unittest.skipIf(LACKS, f"the Python package: {LACKS}")
class Size(unittest.TestCase):
    def test_the_package_stays_small_on_disk(self):
        if unlike := unlike_measured(next(FOLDER.glob("_core*.so")).read_bytes()):
            self.skipTest(unlike)
        sizes = {path: path.stat().st_size for path in FOLDER.rglob("*") if path.is_file() and "__pycache__" not in path.parts}
        self.assertLessEqual(sum(sizes.values()), MOST, "`nm -S --size-sort -C` of an extension linked without -s tells what grew")


if __name__ == "__main__":
    unittest.main()
