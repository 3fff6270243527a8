"""Python without what is POSIX' alone, as on Windows: found by its place on PYTHONPATH, in child processes, too."""

import builtins
import ctypes
import errno
import io
import os
import signal
import sys

MODULES = "fcntl", "resource", "termios", "grp", "pwd"
OF_OS = (
    *("fork", "register_at_fork", "geteuid", "getuid", "pread", "pwrite", "posix_fallocate", "sched_getaffinity"),
    *("killpg", "sysconf", "O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC"),
)
OF_SIGNALS = "pthread_sigmask", "SIGHUP", "SIGBUS", "SIGPIPE"
OPENED = "/proc/self/fd"
BY_NAME = "portalocker"  # of sacrebleu
_true_open, _true_replace, _true_stat = os.open, os.replace, os.stat


class _Lacking:
    """Refuses the import of modules, but to a library that asks for them by the name of the system."""

    def find_spec(self, name, path=None, target=None):
        frame, importing = sys._getframe(), ""
        while frame is not None and not importing.startswith(BY_NAME):
            frame, importing = frame.f_back, frame.f_globals.get("__name__", "")
        if name in MODULES and not importing.startswith(BY_NAME):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def _is_lacking(path):
    return isinstance(path, str | bytes | os.PathLike) and os.fsdecode(path).startswith("/proc")


def _without_proc(function):
    def refusing(path, *arguments, **named):
        if _is_lacking(path):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        return function(path, *arguments, **named)

    return refusing


def _open(path, flags, mode=0o777, *, dir_fd=None):
    """Open a file; Windows does not open directories."""
    if _is_lacking(path):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
    if os.path.isdir(path):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
    return _true_open(path, flags, mode, dir_fd=dir_fd)


def _replace(source, target):
    """Rename a file; Windows renames none that is open, and puts nothing in the place of one."""
    opened = set()
    for number in _listed(OPENED):
        try:
            opened.add(os.readlink(f"{OPENED}/{number}"))
        except OSError:
            continue  # that of the list itself
    for path in (source, target):
        if os.path.realpath(path) in opened:
            raise PermissionError(errno.EACCES, "the file is open", os.fspath(source))
    _true_replace(source, target)


_listed = os.listdir
for module in MODULES:
    sys.modules.pop(module, None)
sys.meta_path.insert(0, _Lacking())
for owner, names in ((os, OF_OS), (signal, OF_SIGNALS)):
    for name in names:
        if hasattr(owner, name):
            delattr(owner, name)
builtins.open = io.open = _without_proc(io.open)
os.open, os.replace = _open, _replace
for name in ("scandir", "listdir", "stat"):
    setattr(os, name, _without_proc(getattr(os, name)))


class _Library(ctypes.CDLL):
    """A library by its name; that of the whole process is none."""

    def __init__(self, name, *arguments, **named):
        if name is None:
            raise TypeError("a library has a name")
        super().__init__(name, *arguments, **named)


ctypes.CDLL = _Library
