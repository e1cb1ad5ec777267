"""Reliability 48: a model's header hides none of the system's, and its names meet no macro."""

from __future__ import annotations

import re
import subprocess

import pytest

from kit.catalogue import CORE, emitted
from kit.tools import need
from kmcompile.errors import UsageError
from kmcompile.request.prefix import check_prefix, prefix_from
from kmcompile.request.reserved_names import RESERVED

# ISO C23 7.1.2, with the headers of C99 and C11 that it has left out; ISO C++23 [headers] and
# [depr], [diff.cpp17]; POSIX.1-2024, those that stand in no folder.
C = """assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal
stdalign stdarg stdatomic stdbit stdbool stdckdint stddef stdint stdio stdlib stdnoreturn string
tgmath threads time uchar wchar wctype"""
CPP = """algorithm any array atomic barrier bit bitset charconv chrono codecvt compare complex
concepts condition_variable coroutine deque exception execution expected filesystem flat_map
flat_set format forward_list fstream functional future generator initializer_list iomanip ios iosfwd
iostream istream iterator latch limits list locale map mdspan memory memory_resource mutex new
numbers numeric optional ostream print queue random ranges ratio regex scoped_allocator semaphore
set shared_mutex source_location span spanstream sstream stack stacktrace stdexcept stdfloat
stop_token streambuf string string_view strstream syncstream system_error thread tuple type_traits
typeindex typeinfo unordered_map unordered_set utility valarray variant vector version
cassert ccomplex cctype cerrno cfenv cfloat cinttypes ciso646 climits clocale cmath csetjmp csignal
cstdalign cstdarg cstdbool cstddef cstdint cstdio cstdlib cstring ctgmath ctime cuchar cwchar
cwctype"""
POSIX = """aio assert complex cpio ctype devctl dirent dlfcn endian errno fcntl fenv float fmtmsg
fnmatch ftw glob grp iconv inttypes iso646 langinfo libgen libintl limits locale math monetary
mqueue ndbm netdb nl_types poll pthread pwd regex sched search semaphore setjmp signal spawn stdarg
stdatomic stdbool stddef stdint stdio stdlib stdnoreturn string strings syslog tar termios tgmath
threads time uchar unistd utime utmpx wchar wctype wordexp"""
DEVICES = "con prn aux nul com1 com9 lpt1 lpt9"
ALL = sorted(set(f"{C} {CPP} {POSIX} {DEVICES} features malloc board arduino wire cfe".split()))


def test_every_header_of_c_cpp_and_posix_is_reserved():
    assert not set(ALL) - RESERVED.keys()


@pytest.mark.parametrize("spelt", [str.lower, str.upper, str.capitalize])
def test_a_file_with_such_a_name_gives_another_prefix(spelt):
    """In any case of letters: some file systems do not tell them apart."""
    for name in RESERVED:
        prefix = prefix_from(spelt(name))
        assert prefix == f"m_{name}"
        assert check_prefix(prefix) == prefix


@pytest.mark.parametrize("name", ["stdint", "stdbool", "time", "vector", "nul", "int", "r"])
def test_such_a_name_that_was_asked_for_exits_2_with_the_reason(name):
    with pytest.raises(UsageError, match=f"cannot prefix C names: it .*\n.* m_{name}$") as caught:
        check_prefix(name)
    assert caught.value.exit_code == 2
    assert len(str(caught.value).splitlines()) == 2


def test_longer_names_are_not_reserved():
    for name in ("timer", "stdint2", "my_string", "iris", "sensor", "m", "k"):
        assert prefix_from(name) == check_prefix(name) == name


def test_no_macro_of_the_c_library_has_a_name_that_an_accepted_prefix_gives():
    """Of a program in which everything is emitted: macros replace names wherever they stand."""
    need("gcc")
    text = b"".join(
        content
        for case in CORE[:2]
        for name, content in emitted(case, "host").files.items()
        if name.endswith((".c", ".h"))
    ).decode()
    ends = set(re.findall(r"\biris(_[a-z]\w*)", text)) | set(re.findall(r"\bIRIS(_\w+)", text))
    headers = sorted(set(f"{C} {POSIX}".split()))
    includes = "".join(f"#if __has_include(<{h}.h>)\n#include <{h}.h>\n#endif\n" for h in headers)
    done = subprocess.run(
        ["gcc", "-D_GNU_SOURCE", "-E", "-dM", "-xc", "-"],
        input=includes,
        capture_output=True,
        text=True,
        check=True,
    )
    met = {}
    for macro in re.findall(r"^#define (\w+)", done.stdout, flags=re.MULTILINE):
        for first in range(1, len(macro)):
            begin, end = macro[:first], macro[first:]
            wanted = begin.lower() if end[1:2].islower() else begin.upper()
            if end in ends and begin == wanted:
                met[macro] = begin.lower()
    assert met  # R_OK and others: the search finds something
    for macro, prefix in met.items():
        if re.fullmatch(r"[a-z][a-z0-9_]*", prefix):
            assert prefix in RESERVED, macro
