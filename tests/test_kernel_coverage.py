"""What counts as a kernel, and as a line of it that did not run."""

from tests.kernel_coverage import kernels_of

SOURCE = '''
@kernel
def whole(x):
    """Told."""
    return x


@jit.inner_kernel
def part(x):
    if x:
        return 1
    return 2


def other(x):
    return x
'''


def test_lines_of_kernels(tmp_path):
    path = tmp_path / "x.py"
    path.write_text(SOURCE)
    found = list(kernels_of(path, lambda name: ({3, 5, 9, 10, 11, 12, 15, 16}, {11, 16})))
    assert [(one.name, one.lines, one.missing) for one in found] == [("whole", 1, []), ("part", 3, [11])]


def test_files_without_kernels_are_not_asked_for(tmp_path):
    path = tmp_path / "x.py"
    path.write_text("def f():\n    return 1\n")
    assert list(kernels_of(path, lambda name: 1 / 0)) == []


def test_kernels_that_call_machine_code_are_left_out(tmp_path):
    path = tmp_path / "x.py"
    path.write_text("from phrasebeam.kernels.compiled_calls import call_kernel\n" + SOURCE)
    assert list(kernels_of(path, lambda name: ({4, 6}, {6}))) == []
