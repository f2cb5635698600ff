"""Builds the manual with Sphinx: the pages written by hand, and those made from the package. build.py [FOLDER]: FOLDER/html; FOLDER/source
is what Sphinx reads. `weft` must be importable. Callers: ./run docs, tests/python/documentation_test.py."""
import io
import os
import shutil
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


def write_source(folder):
    """All that Sphinx reads, written anew."""
    from . import public, reference, tables
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(HERE / "pages", folder)
    for name in ("conf.py", "style.css"):
        shutil.copy(HERE / name, folder)
    for name, text in reference.pages().items():
        page = folder / "reference" / f"{name}.rst"
        page.parent.mkdir(exist_ok=True)
        page.write_text(text)
    for name, text in tables.pages().items():
        page = folder / "tables" / f"{name}.inc"
        page.parent.mkdir(exist_ok=True)
        page.write_text(text)
    for thing in public.errors():
        if not (folder / "errors" / f"{thing.value.__name__}.rst").exists():
            raise SystemExit(f"docs: the error {thing.name} has no page: docs/manual/pages/errors/{thing.value.__name__}.rst")


def build(folder, quiet=False):
    """Builds FOLDER/html; gives Sphinx's warnings."""
    from sphinx.application import Sphinx
    from sphinx.util import console
    console.nocolor()
    source = Path(folder) / "source"
    write_source(source)
    warnings = io.StringIO()
    app = Sphinx(source, source, Path(folder) / "html", Path(folder) / "doctrees", "html", status=None if quiet else sys.stdout, warning=warnings,
                 freshenv=True, parallel=os.cpu_count() or 1)
    app.build(force_all=True)
    return warnings.getvalue()


if __name__ == "__main__":
    sys.path.insert(0, str(HERE.parent))
    from manual import build as module
    found = module.build(Path(sys.argv[1] if len(sys.argv) > 1 else "build/manual"), quiet=True)
    sys.stderr.write(found)
    sys.exit(1 if found else 0)
