# SPDX-License-Identifier: MIT
"""pytest: with the kernel's own events, which every machine counts; with
those of the processor where there are any."""
import copy
import errno
import functools
import gc
import json
import mmap
import os
import pickle
import re
import subprocess
import sys
import threading

import pytest

import upmu
from upmu._library import list_names

PAGE = mmap.PAGESIZE


def touch(pages):
    """Page faults: one for each page, and a few."""
    memory = mmap.mmap(-1, pages * PAGE)
    if hasattr(memory, "madvise") and hasattr(mmap, "MADV_NOHUGEPAGE"):
        try:
            memory.madvise(mmap.MADV_NOHUGEPAGE)
        except OSError:
            pass        # a kernel without huge pages
    for i in range(pages):
        memory[i * PAGE] = 1
    memory.close()


def python(text, **environment):
    """A program of its own: regions live until exit."""
    return subprocess.run([sys.executable, "-c", text], text=True,
                          capture_output=True, check=False,
                          env={**os.environ, **environment})


def has_cycles():
    try:
        upmu.Set("cycles").close()
    except upmu.Error:
        return False
    return True


def test_set_counts_what_the_block_does():
    with upmu.Set("page-faults,task-clock") as counts:
        touch(300)
    assert 300 <= counts["page-faults"] < 400
    assert counts["task-clock"] > 0
    assert counts.units == ("events", "ns")
    assert counts.counts().running == 1.0


def test_set_takes_a_sequence_of_names():
    with upmu.Set(["page-faults", "context-switches"]) as counts:
        pass
    assert counts.events == ("page-faults", "context-switches")


def test_a_count_that_cannot_be_had_tells_why(monkeypatch):
    library = upmu._library.library
    with upmu.Set("page-faults") as counts:
        monkeypatch.setattr(library, "count_by_call",
                            lambda counter: upmu._library.NO_COUNT)
        assert counts.count() >= 0
        # As where another holds all counters: read() gives times of 0.
        monkeypatch.setattr(library, "count_all",
                            lambda *arguments: -errno.EBUSY)
        with pytest.raises(upmu.Error) as refused:
            counts.count()
        assert refused.value.errno == errno.EBUSY


def test_counts_stay_after_the_block_and_no_longer_grow():
    with upmu.Set("page-faults") as counts:
        touch(10)
    last = counts["page-faults"]
    touch(50)
    assert counts["page-faults"] == last
    with pytest.raises(ValueError):
        counts.read()
    with pytest.raises(ValueError):
        counts.start()
    counts.close()


def test_a_block_that_raises_is_counted_and_the_error_goes_on():
    with pytest.raises(ZeroDivisionError):
        with upmu.Set("page-faults") as counts:
            touch(20)
            1 / 0
    assert counts["page-faults"] >= 20


def test_an_event_that_is_not_in_counts_is_not():
    with upmu.Set("page-faults") as counts:
        pass
    assert 0 in counts.counts() and 1 not in counts.counts()
    assert counts.counts().get("cycles") is None


def test_counts_are_mappings_and_subtract():
    with upmu.Set("page-faults,task-clock") as counted:
        before = counted.counts()
        touch(100)
        change = counted.counts() - before
    assert 100 <= change["page-faults"] < 150
    assert change[0] == change["page-faults"]
    assert list(change) == ["page-faults", "task-clock"]
    assert all(type(value) is int for value in change.values())
    with pytest.raises(KeyError):
        change["no-such"]


def test_stop_holds_the_counts_and_start_goes_on():
    with upmu.Set("page-faults", stopped=True) as counts:
        touch(50)
        assert counts.count() == 0
        counts.start()
        touch(50)
        counts.stop()
        held = counts.count()
        touch(50)
        assert counts.count() == held
    assert 50 <= held < 100


def test_two_sets_count_the_same_thing_each():
    with upmu.Set("page-faults") as outer:
        touch(20)
        with upmu.Set("page-faults") as inner:
            touch(40)
    assert 40 <= inner["page-faults"] < 80
    assert outer["page-faults"] >= inner["page-faults"] + 20


def test_a_set_counts_its_opener_whoever_reads_it():
    with upmu.Set("page-faults") as counts:
        start = counts.count()
        seen = []

        def other():
            touch(200)
            seen.append(counts.count())

        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        assert seen[0] - start < 150


def test_two_threads_have_a_set_each():
    found = {}

    def work(pages):
        with upmu.Set("page-faults") as counts:
            touch(pages)
        found[pages] = counts["page-faults"]

    threads = [threading.Thread(target=work, args=(pages,))
               for pages in (100, 1000)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert 100 <= found[100] < 300 and 1000 <= found[1000] < 1200


def test_an_unknown_event_is_an_error_with_words_and_a_number():
    with pytest.raises(upmu.Error) as caught:
        upmu.Set("no-such-event")
    assert caught.value.errno == errno.ENOENT
    assert "no-such-event" in str(caught.value)
    assert isinstance(caught.value, OSError)


def test_the_error_of_an_absent_pmu_tells_the_hint():
    if has_cycles():
        pytest.skip("this machine counts cycles")
    with pytest.raises(upmu.Error) as caught:
        upmu.Set("cycles")
    assert caught.value.reason and "hint:" not in caught.value.reason


def test_bad_options_are_errors():
    with pytest.raises(upmu.Error) as caught:
        upmu.Set("page-faults", source="nonsense")
    assert caught.value.errno == errno.EINVAL
    with pytest.raises(TypeError):
        upmu.Set("page-faults", nonsense=1)
    with pytest.raises(upmu.Error):
        upmu.Set("page-faults", pid=1 << 30)


def test_another_process_and_its_children_are_counted():
    child = subprocess.Popen(["sh", "-c", "read line; for i in 1 2 3; do "
                              "true & wait; done; exit"],
                             stdin=subprocess.PIPE)
    with upmu.Set("page-faults", pid=child.pid, inherit=True) as counts:
        before = counts.count()
        child.communicate(b"\n")
        assert counts.count() > before


def test_a_set_that_is_forgotten_closes_its_descriptors():
    gc.collect()
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(20):
        upmu.Set("page-faults,task-clock")
    gc.collect()
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_set_that_is_interrupted_as_it_opens_is_closed(monkeypatch):
    opens = upmu._sets.library.open

    def interrupted(*arguments):
        opens(*arguments)
        raise KeyboardInterrupt

    gc.collect()
    before = len(os.listdir("/proc/self/fd"))
    monkeypatch.setattr(upmu._sets.library, "open", interrupted)
    try:
        upmu.Set("page-faults")
    except KeyboardInterrupt:
        gc.collect()
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_set_that_did_not_open_is_closed():
    class Careless(upmu.Set):
        def __init__(self):
            with pytest.raises(upmu.Error):
                super().__init__("page-faults", pid=1 << 30)

    with pytest.raises(ValueError):
        Careless().stop()
    Careless().close()


def test_a_set_that_two_threads_close_is_closed_once():
    sets = [upmu.Set("page-faults") for _ in range(100)]
    threads = [threading.Thread(target=one.close) for one in sets
               for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all("page-faults" in one.counts() for one in sets)


def test_a_set_cannot_be_copied():
    with upmu.Set("page-faults") as counts:
        for act in (copy.copy, copy.deepcopy, pickle.dumps):
            with pytest.raises(TypeError):
                act(counts)
        touch(3)
    assert counts["page-faults"] >= 3


def test_a_child_that_closes_a_set_takes_nothing_from_its_parent():
    with upmu.Set("page-faults") as counts:
        child = os.fork()
        if not child:
            counts.close()
            os._exit(0)
        os.waitpid(child, 0)
        before = counts.count()
        touch(50)
        assert counts.count() - before >= 50


def test_what_c_could_not_be_told_is_refused():
    with pytest.raises(ValueError):
        upmu.Set("page-faults\0,no-such-event")
    with pytest.raises(ValueError):
        upmu.region("a\0b")
    for wrong in ({"pid": 2 ** 32 + 1}, {"cpu": 2 ** 32}, {"cpu": -1}):
        with pytest.raises(ValueError):
            upmu.Set("page-faults", **wrong)


def test_values_have_their_times_and_scale():
    with upmu.Set("page-faults") as counts:
        touch(10)
        value = counts.read()["page-faults"]
    assert value.enabled_ns == value.running_ns > 0
    assert value.scaled() == value.count
    assert upmu.Value(10, 200, 100).scaled() == 20
    with pytest.raises(upmu.Error) as caught:
        upmu.Value(10, 200, 0).scaled()
    assert caught.value.errno == errno.ENODATA


def test_tables_are_plain_text_and_no_name_is_markup():
    counts = upmu.Counts(["<b>", "page-faults"], ["events", "events"],
                         [1234567, 8])
    assert "1,234,567" in repr(counts)
    assert "<b>" not in counts._repr_html_()
    assert "&lt;b&gt;" in counts._repr_html_()
    half = upmu.Counts(["a"], ["events"], [1], running=0.5)
    assert "50.0 %" in repr(half)


def test_an_object_that_is_called_is_a_region_too():
    done = python("import functools, upmu\n"
                  "upmu.init_regions('page-faults')\n"
                  "class Solver:\n"
                  "    def __call__(self, n): return n + 1\n"
                  "print(upmu.region(Solver())(1),\n"
                  "      upmu.region(functools.partial(sum, [1, 2]))())\n"
                  "print(upmu.region('Solver').stats()[0].calls)\n",
                  UPMU_REPORT="none")
    assert done.stdout == "2 3\n1\n", done.stderr


@pytest.mark.parametrize("text, names", [
    ("a,b", ["a", "b"]), (" a , b:u", ["a", "b:u"]), ("{a,b},c", list("abc")),
    ("cpu/event=1,umask=2/,b", ["cpu/event=1,umask=2/", "b"]),
    ("{cpu/event=1,long=1/u,b}:k", ["cpu/event=1,long=1/u", "b:k"])],
    ids=["plain", "blanks", "group", "terms", "both"])
def test_names_of_a_list_are_those_between_its_commas(text, names):
    assert list_names(text) == names


def test_an_event_of_a_group_is_found_by_its_name():
    with upmu.Set("{page-faults,task-clock}") as counts:
        touch(10)
    assert counts["page-faults"] >= 10


def test_an_event_is_found_by_the_name_that_was_asked_for():
    counts = upmu.Counts(["cycles:u"], ["cycles"], [5], asked=["cycles"])
    assert counts["cycles"] == counts["cycles:u"] == 5


def test_measure_takes_off_what_an_empty_function_costs():
    nothing = upmu.measure(lambda: None, events="page-faults", runs=21)
    some = upmu.measure(touch, 64, events="page-faults", runs=21)
    assert nothing["page-faults"].median == 0
    assert 64 <= some["page-faults"].median < 96
    row = some[0]
    assert row.min <= row.q1 <= row.median <= row.q3 <= row.max
    assert len(row.runs) == 21 and "page-faults" in repr(some)


def test_measure_runs_as_often_as_said_and_leaves_gc_as_it_was():
    calls = []
    upmu.measure(calls.append, 1, events="page-faults", warmup=3, runs=7)
    assert len(calls) == 10
    assert gc.isenabled()
    with pytest.raises(ZeroDivisionError):
        upmu.measure(lambda: 1 / 0, events="page-faults")
    assert gc.isenabled()
    with pytest.raises(ValueError):
        upmu.measure(touch, 1, events="page-faults", runs=0)


@pytest.mark.parametrize("how", [
    {"stopped": True}, {"pid": 1}, {"inherit": True}, {"on_exec": True},
    {"cpu": 0}])
def test_measure_refuses_to_count_others_or_nothing(how):
    with pytest.raises(upmu.Error, match=f"no {next(iter(how))}"):
        upmu.measure(touch, 1, events="page-faults", options=how)


def test_measure_takes_the_options_that_it_may():
    how = {"user_only": True, "stopped": False, "pid": 0, "cpu": None}
    assert upmu.measure(touch, 64, events="page-faults", runs=3,
                        options=how)[0].median >= 64


REGIONS = """
import upmu, threading
upmu.init_regions("page-faults")
def touch(pages):
    memory = bytearray(pages * 4096)
@upmu.region
def decorated(x):
    "its words"
    return x + 1
assert decorated(1) == 2 and decorated.__doc__ == "its words"
def work():
    for i in range(3):
        with upmu.region("outer"):
            with upmu.region("inner"):
                touch(100)
threads = [threading.Thread(target=work) for i in range(2)]
[t.start() for t in threads]
[t.join() for t in threads]
outer, = upmu.region("outer").stats()
inner, = upmu.region("inner").stats()
assert outer.calls == inner.calls == 6, outer
assert outer.total >= inner.total > 0
assert "6" in repr(upmu.region("outer"))
try:
    with upmu.region("raises"):
        1 / 0
except ZeroDivisionError:
    pass
assert upmu.region("raises").stats()[0].calls == 1
try:
    upmu.init_regions("task-clock")
except upmu.Error as error:
    assert error.errno == 114, error
else:
    raise AssertionError
for name in ("", "x" * 64):
    try:
        upmu.region(name)
    except upmu.Error as error:
        assert error.errno == 22
    else:
        raise AssertionError
"""


def test_regions_nest_in_threads_and_decorate():
    done = python(REGIONS, UPMU_REPORT="none")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""


def test_a_child_leaves_its_parents_region_in_silence():
    done = python("""
import os, upmu
upmu.init_regions("page-faults")
with upmu.region("outer"):
    child = os.fork()
    with upmu.region("inner"):
        pass
if not child:
    assert upmu.region("outer").stats()[0].calls == 0
    assert upmu.region("inner").stats()[0].calls == 1
    os._exit(7)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
assert upmu.region("outer").stats()[0].calls == 1
""", UPMU_REPORT="none")
    assert (done.returncode, done.stderr) == (0, "")


def test_what_a_call_does_not_run_is_refused():
    async def coroutine():
        pass

    def generator():
        yield

    async def both():
        yield

    class Later:
        async def __call__(self):
            pass

    class Pieces:
        def __call__(self):
            yield

    for function in (coroutine, generator, both, Later(), Pieces(),
                     functools.partial(coroutine)):
        with pytest.raises(TypeError, match="calling it runs none of it"):
            upmu.region("later")(function)
        with pytest.raises(TypeError):
            upmu.region(function)
        with pytest.raises(TypeError):
            upmu.measure(function, events="page-faults")


def test_regions_report_at_exit_where_they_are_told_to(tmp_path):
    path = tmp_path / "regions.json"
    done = python("import upmu\nupmu.init_regions('page-faults')\n"
                  "with upmu.region('x'): pass\n", UPMU_REPORT=str(path))
    assert done.returncode == 0, done.stderr
    assert json.loads(path.read_text())["regions"][0]["region"] == "x"


def test_report_now_goes_to_a_file(tmp_path):
    path = tmp_path / "now.json"
    done = python("import upmu\nupmu.init_regions('page-faults')\n"
                  "with upmu.region('x'): pass\n"
                  f"with open({str(path)!r}, 'w') as f:\n"
                  "    upmu.report(f, json=True)\n")
    assert done.returncode == 0 and done.stderr == ""
    assert json.loads(path.read_text())["regions"][0]["calls"] == 1


def test_sources_tell_which_serve_and_why_the_others_do_not():
    found = upmu.sources()
    assert [source.name for source in found][:2] == ["page", "read"]
    assert all(source.reason for source in found)
    assert (found[0].error == 0 or found[1].error == 0) == has_cycles()


def test_a_library_that_is_not_there_is_an_import_error():
    done = python("import upmu", UPMU_LIBRARY="libc.so.6")
    assert "ImportError: upmu: libc.so.6 has no upmu_" in done.stderr
    done = python("import upmu", UPMU_LIBRARY="/nonexistent/libupmu.so.0")
    assert done.returncode != 0
    assert "ImportError: upmu: cannot load /nonexistent" in done.stderr


def test_the_version_is_the_librarys():
    assert upmu.version() == upmu.__version__


def test_plot_draws_or_says_what_it_wants():
    counts = upmu.Counts(["a", "b"], ["events"] * 2, [1, 100000])
    try:
        import matplotlib
    except ImportError:
        with pytest.raises(ImportError, match="python3-matplotlib"):
            counts.plot()
        return
    matplotlib.use("Agg")
    assert len(counts.plot().patches) == 2
    measured = upmu.measure(touch, 8, events="page-faults", runs=5)
    assert len(measured.plot().patches) == 1


TYPED = """import upmu
@upmu.region
def double(x: int) -> int: return 2 * x
@upmu.region("third")
def third(x: int) -> int: return x // 3
reveal_type(double)
reveal_type(third)
for row in upmu.measure(double, 1).values(): reveal_type(row.median)
for count in upmu.Set("cycles").counts().values(): reveal_type(count)
"""


def test_a_type_checker_is_told_what_is_decorated_and_counted(tmp_path):
    api = pytest.importorskip("mypy.api")
    (tmp_path / "typed.py").write_text(TYPED)
    said, _, _ = api.run(["--cache-dir", str(tmp_path),
                          "--follow-imports", "silent",
                          str(tmp_path / "typed.py")])
    types = re.findall('Revealed type is "(.*)"', said)
    assert types == ["def (x: builtins.int) -> builtins.int"] * 2 + [
        "builtins.int"] * 2, said


# Cycles, as an emulated board may count no instructions.
def test_a_call_takes_cycles_of_the_processor():
    if not has_cycles():
        pytest.skip("no counters of the processor here")
    row = upmu.measure(sum, range(1000), events="cycles:u")[0]
    assert row.median > 1000
