"""A page for everything public: what it says, its formula and derivative, shapes, dtypes, its example, a picture. Callers: build.py."""
import functools
import inspect
import re

import weft

from . import curve, examples, inquiry, public



# Text ---------------------------------------------------------------------------------------------------------------------------------

def title(text, line="="):
    return f"{text}\n{line * len(text)}\n\n"


def escaped(text):
    """Prose that means nothing else in reStructuredText; what stands between backquotes is code."""
    parts = re.split(r"`([^`]+)`", text)
    plain = [re.sub(r"([\\*|_`])", r"\\\1", part) for part in parts[::2]]
    code = [f"``{part}``" for part in parts[1::2]] + [""]
    return "".join(a + b for a, b in zip(plain, code))


def code(text):
    """Inline code, which may not begin or end with a blank."""
    return f":code:`{text.replace(chr(92), chr(92) * 2).replace('`', chr(92) + '`')}`" if text else ""


def link(name, owner=None):
    """To the page of a public name, or of what it belongs to; else the name alone."""
    thing = public.by_name().get(owner or name)
    if not thing:
        return code(name)
    page = f"errors/{thing.value.__name__}" if thing.is_error else f"reference/{thing.page}"
    return f":doc:`{name} </{page}>`"


def block(directive, text, options=""):
    """A directive with its arguments ("code-block:: pycon") over lines that it takes as they are."""
    lines = "\n".join("   " + line if line else "" for line in text.rstrip().splitlines())
    return f".. {directive}\n{options}\n{lines}\n\n"


def table(rows, head=None, widths=None):
    if not rows:
        return "(None.)\n\n"
    text = ".. list-table::\n"
    if head:
        text += "   :header-rows: 1\n"
    if widths:
        text += f"   :widths: {' '.join(map(str, widths))}\n"
    text += "\n"
    for row in [head, *rows] if head else rows:
        text += "".join(("   * - " if i == 0 else "     - ") + (cell or "\\ ") + "\n" for i, cell in enumerate(row))
    return text + "\n"


def paragraphs(doc):
    """A docstring's paragraphs as they stand there, without its examples."""
    text = re.split(r"^\s*>>>", doc or "", maxsplit=1, flags=re.M)[0]
    return [paragraph.strip("\n") for paragraph in re.split(r"\n\s*\n", text) if paragraph.strip()]


def prose(doc):
    """The same, each as one line."""
    return [" ".join(paragraph.split()) for paragraph in paragraphs(inspect.cleandoc(doc or ""))]


def body(doc):
    """A docstring without its indentation (cleandoc takes a module's code for that) on its page: prose, and what is indented as code."""
    text = ""
    for paragraph in paragraphs(doc):
        indented = all(line.startswith("    ") for line in paragraph.split("\n"))
        text += block("code-block:: python", inspect.cleandoc(paragraph)) if indented else escaped(" ".join(paragraph.split())) + "\n\n"
    return text


def first_sentence(thing):
    said = (prose(thing.value.__doc__) or [""])[0]
    found = re.match(r"(.*?[.:;])(\s|$)", said)
    return (found.group(1).rstrip(":;") if found else said).rstrip(".")


# One page -----------------------------------------------------------------------------------------------------------------------------

def signature(thing):
    try:
        return f"{thing.name}{inspect.signature(thing.value)}"
    except (TypeError, ValueError):
        return thing.name


def formula_rows(record):
    rows = []
    if record["formula"]:
        rows.append(("Formula", code("y = " + record["formula"])))
    for name, partial in zip(record["operands"], record["partials"]):
        rows.append((f"∂y / ∂{name}" if len(record["operands"]) > 1 else "dy / dx", code(partial) or "(too long to be read)"))
    return rows


def derivative(record, answers):
    """What is said of the derivative beside formulas of partials."""
    if record and not record["differentiable"]:
        return "does not exist, and asking for it is :doc:`NotDifferentiable </errors/NotDifferentiable>`"
    if answers.derivative.startswith("no"):      # no: why, or none: why
        return escaped(answers.derivative)
    if answers.derivative:
        if record and record["partials"]:
            return "of every order, forward and reverse: from the partials above"
        if record and record["composite"]:
            return "of every order, forward and reverse: that of the operations it is made of"
        return "of every order, forward and reverse"
    return ""


def dtype_rows(answers):
    same = [dtype for dtype in inquiry.DTYPES if dtype in answers.takes.get(dtype, ())]
    rows = [(", ".join(f"{dtype}" for dtype in same), "the same")] if len(same) > 1 else []
    for result, given in answers.takes.items():
        rest = [dtype for dtype in given if len(same) <= 1 or dtype != result]
        if rest:
            rows.append((", ".join(rest), result))
    return rows


def elsewhere(record):
    found = []
    if record["numpy"]:
        found.append(code(record["numpy"] if record["numpy"].startswith("scipy") else "numpy." + record["numpy"]))
    if record["torch"]:
        found.append(code("torch." + record["torch"]))
    return ", ".join(found)


def facts(thing, record, answers):
    """The table of a function's page."""
    rows = formula_rows(record) if record and record["family"] == "elementwise" else []
    if text := derivative(record, answers):
        rows.append(("Derivative", text))
    if record and record["family"] == "elementwise":
        rows.append(("Shape", "those of the arguments, broadcast" if record["arity"] > 1 else "that of the argument"))
    elif answers.shapes:
        rows.append(("Shapes in the example", answers.shapes))
    if record and record["family"] == "elementwise" and weft._core.oracle(record["name"], [1.0] * record["arity"]) is not None:
        rows.append(("Error", f"at most {record['ulp']:g} ulp (units in the last place)"))
    if record and elsewhere(record):
        rows.append(("Elsewhere", elsewhere(record)))
    if len(thing.names) > 1:
        rows.append(("Also called", ", ".join(code(name) for name in thing.names[1:])))
    return rows


def example(value):
    text = "".join(prompted(source) + want for source, want in examples.of(value))
    return block("code-block:: pycon", text) if text else ""


def prompted(source):
    lines = source.rstrip("\n").split("\n")
    return "".join((">>> " if i == 0 else "... ") + line + "\n" for i, line in enumerate(lines))


def function_page(thing):
    record, answers = public.records().get(thing.name), inquiry.ask(thing)
    text = title(thing.name) + block("code-block:: python", signature(thing), "   :class: signature\n")
    text += body(inspect.getdoc(thing.value)) + example(thing.value)
    if record and record["family"] == "elementwise" and record["arity"] == 1 and (picture := curve.picture(thing.value, record)):
        text += block("raw:: html", picture)
    if rows := facts(thing, record, answers):
        text += ".. rst-class:: facts\n\n" + table(rows, widths=[22, 78])
    if rows := dtype_rows(answers):
        text += title("Dtypes", "-") + ".. rst-class:: dtypes\n\n" + table(rows, ("takes", "gives"), [70, 30])
    if answers.makes:
        text += title("Dtypes", "-") + "``dtype=`` may be " + ", ".join(answers.makes) + ".\n\n"
    return text


def bases(owner):
    """The public classes among a class's bases: their members stand on their own pages."""
    found = {thing.value: thing for thing in public.classes()}
    return [found[base] for base in owner.__mro__[1:] if base in found]


def members(owner):
    """Names of a class's own members; of those that its public bases have, too, only what says something of its own."""
    inherited = {name for thing in bases(owner) for name in dir(thing.value)}
    named = [name for name in dir(owner) if not name.startswith("_")]
    return sorted(name for name in named if name not in inherited or name in vars(owner) and getattr(vars(owner)[name], "__doc__", None))


def class_page(thing):
    """Of a class, or of an object that is the only one of its class."""
    owner = thing.value if thing.is_class else type(thing.value)
    text = title(thing.name) + block("code-block:: python", signature(thing), "   :class: signature\n")
    text += body(inspect.cleandoc(owner.__doc__ or "")) + example(owner)
    if bases(owner):
        text += "Has what " + ", ".join(link(base.name) for base in bases(owner)) + " has.\n\n"
    rows, shown = [], ""
    for name in members(owner):
        member = getattr(owner, name)
        call = name + ("()" if callable(member) else "")
        rows.append((code(call), escaped((prose(getattr(member, "__doc__", "")) or [""])[0])))
        if name in vars(owner) and getattr(member, "__module__", "") == owner.__module__ and (more := example(member)):
            shown += title(call, "~") + more
    if rows:
        text += title("Methods and attributes", "-") + table(rows, widths=[26, 74]) + shown
    return text


KINDS = {"b": "truth values", "i": "signed integers", "u": "unsigned integers", "f": "floating numbers", "c": "complex numbers"}


def constants_page():
    rows = []
    for thing in public.constants():
        if isinstance(thing.value, weft.DType):
            about = f"{KINDS[thing.value.kind]}, {8 * thing.value.itemsize} bits"
        else:
            about = code(repr(thing.value))
        rows.append((code(thing.name), about))
    return title("Constants and dtypes") + table(rows, ("name", "value"), [30, 70])


# The lists ----------------------------------------------------------------------------------------------------------------------------

def group_of(thing):
    """The module that a function belongs with: the public one it has its name from, or the private one that it is written in."""
    above = thing.name.rpartition(".")[0]
    if above != "weft":
        return above
    return public.TYPES if thing.home == "weft" else thing.home


def groups():
    """Functions and classes by module: those of `weft` itself by title, then the modules below it."""
    found = {}
    for thing in [*public.functions(), *public.classes(), *public.objects()]:
        found.setdefault(group_of(thing), []).append(thing)
    return dict(sorted(found.items(), key=lambda item: (not item[0].startswith("weft._"), group_title(item[0]))))


@functools.cache
def group_title(home):
    said = prose(public.modules(private=True)[home].__doc__) if home in public.modules(private=True) else []
    heading = re.split(r"[.:;](?:\s|$)|\s\(", said[0])[0].strip() if said else "Types"
    heading = heading.partition(",")[0] if len(heading) > 45 else heading
    return f"{home}: {heading}" if home in public.modules() else heading


def group_page(home, members):
    module = public.modules(private=True).get(home)
    text = title(group_title(home)) + body(module.__doc__ if module else "")
    text += table([(link(thing.name), escaped(first_sentence(thing))) for thing in members], widths=[34, 66])
    pages = "".join(f"   {thing.page}\n" for thing in members)
    return text + f".. toctree::\n   :hidden:\n\n{pages}"


def pages():
    """The text of each page, by its name."""
    found = {thing.page: function_page(thing) for thing in public.functions()}
    found |= {thing.page: class_page(thing) for thing in [*public.classes(), *public.objects()]}
    found["constants"] = constants_page()
    names = []
    for home, members in groups().items():
        name = "group-" + home.removeprefix("weft").strip("._").replace(".", "-")
        found[name] = group_page(home, members)
        names.append(name)
    found["index"] = (title("Reference") + "Every name that ``import weft as wf`` brings, made from the package itself: derivatives are the registry's, dtypes and shapes were found "
                      "by asking each function, and every example is run as a test. In examples ``wf`` is weft and ``np`` NumPy.\n\n"
                      ".. toctree::\n   :maxdepth: 1\n\n" + "".join(f"   {name}\n" for name in [*names, "constants"]))
    return found
