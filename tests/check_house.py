"""Rules of the house that linters do not know: python tests/check_house.py prints what breaks them, and fails."""

import ast
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# The rooms in the order in which they may import each other: each what stands before it, and its own files.
ROOMS = [
    "phrasebeam.system",
    "phrasebeam.process",
    "phrasebeam.base",
    "phrasebeam.plugins",
    "phrasebeam.console",
    "phrasebeam.engine",
    "phrasebeam.kernels.compilation",
    "phrasebeam.kernels",
    "phrasebeam.lm.text",
    "phrasebeam.lm",
    "phrasebeam.decoder.tables",
    "phrasebeam.decoder.sparse",
    "phrasebeam.decoder.input",
    "phrasebeam.decoder.operations",
    "phrasebeam.decoder.features",
    "phrasebeam.decoder.model",
    "phrasebeam.decoder.tokenizers",
    "phrasebeam.decoder.raw_text",
    "phrasebeam.decoder.extraction",
    "phrasebeam.decoder.options",
    "phrasebeam.decoder.unknown_words",
    "phrasebeam.decoder.held_out",
    "phrasebeam.decoder.search",
    "phrasebeam.decoder.ngrams",
    "phrasebeam.decoder.output",
    "phrasebeam.decoder.marked_text",
    "phrasebeam.decoder.documents",
    "phrasebeam.decoder.model_alignment",
    "phrasebeam.decoder.translation_memory",
    "phrasebeam.decoder.adaptation",
    "phrasebeam.decoder.translate",
    "phrasebeam.decoder.normalization",
    "phrasebeam.decoder.forced",
    "phrasebeam.decoder.explanation",
    "phrasebeam.decoder.moses",
    "phrasebeam.training.clustering",
    "phrasebeam.training.word_alignment",
    "phrasebeam.training.bitext",
    "phrasebeam.training.metrics",
    "phrasebeam.training.selection",
    "phrasebeam.training.twins",
    "phrasebeam.training.nbest",
    "phrasebeam.training.common",
    "phrasebeam.training.joining",
    "phrasebeam.training.online",
    "phrasebeam.training.ranking",
    "phrasebeam.training.model_building",
    "phrasebeam.training.aligned_text",
    "phrasebeam.training.tuning.methods",
    "phrasebeam.training.tuning",
    "phrasebeam.training.maxforce",
    "phrasebeam.training.joint_selection",
    "phrasebeam.training.expected_bleu",
    "phrasebeam.training.normalization",
    "phrasebeam.training.recipe_texts",
    "phrasebeam.training.recipe",
    "phrasebeam.training.report",
    "phrasebeam.training.demo",
    "phrasebeam.server.serving",
    "phrasebeam.server.routes",
    "phrasebeam.server.clients",
    "phrasebeam.server",
    "phrasebeam.api",
    "phrasebeam.api.trainers",
    "phrasebeam.integrations",
    "phrasebeam.commands",
    "phrasebeam",
]
# The last four are reached by links, too.
FOLDERS = (
    "phrasebeam/system",
    "phrasebeam/process",
    "phrasebeam/base",
    "phrasebeam/plugins",
    "phrasebeam/console",
    "phrasebeam/engine",
    "phrasebeam/kernels",
    "phrasebeam/api",
    "phrasebeam/commands",
    "phrasebeam/integrations",
    "lm",
    "decoder",
    "training",
    "server",
)
LONGEST_FILE = 400
LARGEST_ROOM = 15  # files
LONGEST_FUNCTION, LONGEST_KERNEL = 40, 80  # lines of the body; kernels that are one loop nest
SLOWEST = 3.0  # processor seconds of compiling a kernel, without a reason
COMPILE_SECONDS = ROOT / "benchmarks" / "results" / "compile_seconds.csv"  # by benchmarks.speed.compilation
KERNELS = ("kernel", "inner_kernel", "inlined_kernel")
FRAGMENTS = ("Of", "Those", "As", "By", "At")  # that no docstring begins with
EMPTY_WORDS = re.findall(r"\w+", "the a an of to in is it its that and for with from all each")
FORBIDDEN_FILES = ("utils.py", "core.py")
SPEAKING = ("", "phrasebeam", "phrasebeam.console", "phrasebeam.commands")  # rooms that print
COMMAND_ROOMS = ("phrasebeam.commands", "phrasebeam.api", "phrasebeam.api.trainers")  # that declare options
MAY_COMPILE = ("tests/kernels/test_indices.py",)  # it compares with numba without us
SYSTEM = "phrasebeam.system"  # the room that asks what the operating system has
SYSTEM_MODULES = {"fcntl", "grp", "msvcrt", "multiprocessing", "pwd", "resource", "termios", "winreg"}
SYSTEM_NAMES = re.compile(
    r"ctypes\.CDLL|sys\.platform|signal\.(pthread_\w+|SIG(?!INT|TERM|_)\w+)"
    r"|os\.(fork|register_at_fork|get[eu]*[gu]id|killpg|posix_\w+|pread|pwrite|sched_\w+|setsid|sysconf|wait\w*"
    r"|O_(BINARY|CLOEXEC|DIRECTORY|NOFOLLOW|NONBLOCK))"
)
COMPILERS = {"njit", "jit", "vectorize", "guvectorize", "jitclass", "prange"}


def breaches(path: Path, source: str) -> Iterator[tuple[int, str]]:
    """Line and complaint for everything in a file at `path`, relative to the root, that breaks a rule."""
    n_lines = source.count("\n")
    if n_lines > LONGEST_FILE:
        yield n_lines, f"{n_lines} lines; split files at {LONGEST_FILE}"
    if path.name in FORBIDDEN_FILES:
        yield 1, "name a file for what it holds"
    room = room_of(path)
    for node in ast.walk(ast.parse(source)):
        complaint = _anywhere(node, path)
        if not complaint and room:
            complaint = (
                _import(node, room)
                or _in_packages(node, room)
                or (room != SYSTEM and _of_system(node))
                or _length(node)
                or _parameters(node)
            )
        if complaint:
            yield getattr(node, "lineno", 1), complaint


def room_of(path: Path) -> str:
    """The room that a file stands in, "" where it is none of the packages'."""
    name = module_of(path.parent / "__init__.py")
    if name.partition(".")[0] != "phrasebeam":
        return ""
    return name if name in ROOMS else _last_within(name)


def module_of(path: Path) -> str:
    """The name by which a file is imported, links of the package included; of __init__.py that of its folder."""
    parts = path.parent.parts if path.name == "__init__.py" else path.with_suffix("").parts
    is_linked = parts[:1] in (("lm",), ("decoder",), ("training",), ("server",))
    return ".".join(("phrasebeam", *parts) if is_linked else parts)


def _last_within(module: str) -> str:
    """The room of a module or package: the longest name that it begins with; of a package of rooms, its last."""
    known = [room for room in ROOMS[:-1] if f"{module}.".startswith(f"{room}.")]
    within = [room for room in ROOMS[:-1] if room.startswith(f"{module}.")]
    return max(known, key=len) if known else (within or ["phrasebeam"])[-1]


def _anywhere(node: ast.AST, path: Path) -> str:
    name = _name(node)
    if name.rpartition(".")[2] in COMPILERS and path.as_posix() not in MAY_COMPILE:
        return f"{name}: kernels are made by the decorators of phrasebeam.kernels.jit alone"
    if complaint := _docstring(node):
        return complaint
    if isinstance(node, ast.keyword) and node.arg == "allow_pickle" and getattr(node.value, "value", None) is True:
        return "allow_pickle=True: nothing is pickled"
    if isinstance(node, ast.Call) and _name(node.func) == "yaml.load":
        return "yaml.load: use yaml.safe_load, or in the packages load_yaml of phrasebeam.base.config"
    for module in _modules(node):
        if module.partition(".")[0] in ("lm", "decoder", "training", "server"):
            return f"imports {module}; it is phrasebeam.{module}"
    return ""


def _in_packages(node: ast.AST, room: str) -> str:
    if isinstance(node, ast.Assert):
        return "assert: raise one of the errors of phrasebeam.base.errors"
    if isinstance(node, ast.Call) and _name(node.func) == "yaml.safe_load":
        return "yaml.safe_load: use load_yaml of phrasebeam.base.config, which bounds time and memory"
    if isinstance(node, ast.Call) and room not in SPEAKING and _name(node.func) in ("print", "sys.exit"):
        return f"{_name(node.func)}: only phrasebeam/commands does that; log, return or raise"
    if isinstance(node, ast.keyword) and node.arg == "show_default" and isinstance(node.value, ast.Constant):
        return "show_default: the section of a setting holds its default, see phrasebeam/base/options.py"
    return ""


def _of_system(node: ast.AST) -> str:
    """What not every operating system has: modules, names of modules, and places."""
    of_process = "multiprocessing.process", "multiprocessing.connection"  # types, and waiting for several pipes
    named = [one for one in _modules(node) if one.partition(".")[0] in SYSTEM_MODULES and one not in of_process]
    if isinstance(node, ast.Attribute) and SYSTEM_NAMES.fullmatch(_name(node)):
        named = [_name(node)]
    if isinstance(node, ast.Constant) and str(node.value).startswith("/proc/"):
        named = [str(node.value)]
    return f"{named[0]}: not every system has it; ask for it in phrasebeam/system alone" if named else ""


def _docstring(node: ast.AST) -> str:
    """A docstring that begins with a fragment, or that says no more than the name, the parameters and their types."""
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Module):
        return ""
    words = re.findall(r"[A-Za-z0-9_']+", ast.get_docstring(node) or "")
    if words and words[0] in FRAGMENTS:
        return f"docstring begins with {words[0]}; write a sentence, or what the thing is"
    if words and not isinstance(node, ast.Module) and _stems(words) <= _stems(_said_by(node)):
        return f"docstring of {node.name} says no more than its name and parameters; leave it out, or say more"
    return ""


def _said_by(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> list[str]:
    texts = [node.name, *EMPTY_WORDS]
    if not isinstance(node, ast.ClassDef):
        texts += [ast.unparse(node.args), ast.unparse(node.returns) if node.returns else ""]
    return [word for text in texts for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+", text)]


def _stems(words: Iterable[str]) -> set[str]:
    return {re.sub("(ing|ed|es|s|e)$", "", word.lower()) or word.lower() for word in words}


def _length(node: ast.AST) -> str:
    """A function that is too long, decorators and docstring left out; a command's options are not counted."""
    if not isinstance(node, ast.FunctionDef):
        return ""
    first = node.body[0]
    if ast.get_docstring(node, clean=False) is not None and len(node.body) > 1:
        first = node.body[1]
    n_lines = (node.end_lineno or 0) - first.lineno + 1
    most = LONGEST_KERNEL if _is_kernel(node) else LONGEST_FUNCTION
    return f"{node.name}: {n_lines} lines, at most {most}; make it several functions" if n_lines > most else ""


def _parameters(node: ast.AST) -> str:
    """A kernel for other modules with a parameter that has neither a type nor a place in the docstring."""
    if not isinstance(node, ast.FunctionDef) or node.name.startswith("_") or not _is_kernel(node):
        return ""
    words = set(re.findall(r"\w+", ast.get_docstring(node) or ""))
    unknown = [one.arg for one in node.args.args if one.annotation is None and one.arg not in words]
    return f"{node.name}: give the type of {', '.join(unknown)}, or dtype and shape in the docstring" if unknown else ""


def _is_kernel(node: ast.FunctionDef) -> bool:
    return any(_name(one) in KERNELS for one in node.decorator_list)


def _import(node: ast.AST, room: str) -> str:
    for module in _modules(node):
        if module.partition(".")[0] == "tests":
            return f"imports {module}; the packages know nothing of tests"
        if module.partition(".")[0] == "typer" and room != "phrasebeam.commands":
            return f"{room} imports {module}; only phrasebeam/commands knows of the command line"
        if module.partition(".")[0] == "phrasebeam" and module != "phrasebeam":
            other = _last_within(module)
            if ROOMS.index(other) > ROOMS.index(room):
                return f"{room} imports {module}; imports go one way, see ROOMS in tests/check_house.py"
    return ""


def _modules(node: ast.AST) -> list[str]:
    if isinstance(node, ast.ImportFrom):
        return [node.module or ""]
    return [alias.name for alias in node.names] if isinstance(node, ast.Import) else []


def _name(node: ast.AST) -> str:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return f"{_name(node.value)}.{node.attr}"
    return ""


def crowded(folders: Iterable[Path]) -> Iterator[str]:
    """Complaints of folders with too many files."""
    for folder in folders:
        count = len([path for path in folder.glob("*.py") if path.name != "__init__.py"])
        if count > LARGEST_ROOM:
            yield f"{folder.relative_to(ROOT)}: {count} files, at most {LARGEST_ROOM}; make two rooms of it"


def ambiguous(files: Iterable[Path]) -> Iterator[str]:
    """Complaints of public classes of the packages that share a name."""
    nodes = (node for path in files if room_of(path.relative_to(ROOT)) for node in ast.parse(path.read_text()).body)
    names = Counter(node.name for node in nodes if isinstance(node, ast.ClassDef) and not node.name.startswith("_"))
    for name, count in names.items():
        if count > 1:
            yield f"{name}: {count} classes have this name; give each its own"


def circles(sources: Mapping[Path, str]) -> Iterator[str]:
    """Complaints of files that import each other, directly or by way of others, for types or in functions as well.

    `sources` are the files by path, relative to the root.
    """
    paths = {module_of(path): path for path in sources}
    imports = {
        module: {name for node in ast.walk(ast.parse(sources[path])) for name in _names(node)} & paths.keys()
        for module, path in paths.items()
    }
    reached = {module: _reached(module, imports) for module in imports}
    groups = {frozenset({module, *(one for one in reached[module] if module in reached[one])}) for module in imports}
    for group in sorted(sorted(str(paths[module]) for module in group) for group in groups if len(group) > 1):
        yield f"{', '.join(group)}: these files import each other; move what they share below them, or merge them"


def _names(node: ast.AST) -> list[str]:
    """The modules that a statement may import, and what it imports of them, which may be modules, too."""
    names = [f"{node.module}.{alias.name}" for alias in node.names] if isinstance(node, ast.ImportFrom) else []
    return _modules(node) + names


def _reached(module: str, imports: Mapping[str, set[str]]) -> set[str]:
    reached, left = set[str](), [module]
    while left:
        new = imports[left.pop()] - reached
        reached |= new
        left += new
    return reached


def repeated(files: Iterable[Path]) -> Iterator[str]:
    """Complaints of helps of options that are written twice."""
    paths = [path for path in files if room_of(path.relative_to(ROOT)) in COMMAND_ROOMS]
    for text, count in Counter(text for path in paths for text in helps(path.read_text(encoding="utf-8"))).items():
        if count > 1:
            yield f"{text!r}: the help of {count} options; declare one, and use it in both places"


def helps(source: str) -> Iterator[str]:
    """The helps of the options that a file declares: what stands in Annotated and in Option."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Subscript) and _name(node.value) == "Annotated" and isinstance(node.slice, ast.Tuple):
            parts = node.slice.elts[1:]
            parts += [part.args[0] for part in parts if isinstance(part, ast.Call) and part.args]
            yield from (part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str))


def slow_to_compile(table: str, sources: Mapping[str, str]) -> Iterator[str]:
    """Complaints of kernels that take long to compile, where no comment above them gives the reason.

    `table` (CSV) has the name and the seconds of each kernel; `sources` are the files by the names of their modules.
    """
    for line in table.splitlines()[1:]:
        name, seconds = line.split(",")
        module, _, function = name.rpartition(".")
        explained = rf"^# Compiles for seconds: .*\n(#.*\n)*@\w*kernel\ndef {function}\("
        if float(seconds) > SLOWEST and not re.search(explained, sources.get(f"phrasebeam.{module}", ""), re.M):
            reason = 'write "# Compiles for seconds: " and the reason above it, or make it smaller'
            yield f"{name}: compiled in {seconds} s, at most {SLOWEST}; {reason}"


def packaged(pyproject: str) -> Iterator[str]:
    """Complaints of what a wheel would bring besides the one package."""
    setuptools = tomllib.loads(pyproject)["tool"]["setuptools"]
    names = [*setuptools.get("py-modules", ()), *setuptools["packages"]["find"]["include"]]
    for name in names:
        if name.partition(".")[0].rstrip("*") != "phrasebeam":
            yield f"pyproject.toml: {name} would be a top-level module of the wheel; put it into phrasebeam"


def main() -> int:
    """The number of breaches, each printed as a line."""
    files = sorted((ROOT / "phrasebeam").glob("*.py"))
    for folder in (*FOLDERS, "tests", "benchmarks", "docs"):
        files += sorted((ROOT / folder).rglob("*.py"))
    complaints = list(crowded({path.parent for path in files if path.relative_to(ROOT).parts[0] != "tests"}))
    complaints += ambiguous(files)
    relative = {path.relative_to(ROOT): path.read_text(encoding="utf-8") for path in files}
    complaints += circles({path: source for path, source in relative.items() if room_of(path)})
    complaints += repeated(files)
    sources = {module_of(path): source for path, source in relative.items()}
    complaints += slow_to_compile(COMPILE_SECONDS.read_text(encoding="utf-8"), sources)
    complaints += packaged((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    print("\n".join(complaints), end="\n" if complaints else "")
    return len(complaints) + sum(map(report, files))


def report(path: Path) -> int:
    """Print the breaches of one file."""
    found = sorted(breaches(path.relative_to(ROOT), path.read_text(encoding="utf-8")))
    for line, complaint in found:
        print(f"{path.relative_to(ROOT)}:{line}: {complaint}")
    return len(found)


if __name__ == "__main__":
    sys.exit(main() > 0)
