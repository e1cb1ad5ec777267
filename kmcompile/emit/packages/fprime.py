"""An F´ library of two components: one answers in the caller's thread, one in its own.

Sources: F´'s user manual and FPP's language specification.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kmcompile.emit.packages.framework import Framework
from kmcompile.program.program import Program
from kmcompile.program.telemetry import Counter, counters
from kmcompile.target import Target

_PASSIVE = "{name}/Models/{own.title}"
_ACTIVE = "{name}/Models/{own.title}Active"
_FILES: Mapping[str, str] = {
    "{name}/library.cmake": "fprime/library.cmake",
    "{name}/README.md": "fprime/README.md",
    _PASSIVE + "/CMakeLists.txt": "fprime/CMakeLists.txt",
    _PASSIVE + "/{own.title}.fpp": "fprime/component.fpp",
    _PASSIVE + "/Events.fppi": "fprime/Events.fppi",
    _PASSIVE + "/Telemetry.fppi": "fprime/Telemetry.fppi",
    _PASSIVE + "/{own.title}.hpp": "fprime/component.hpp",
    _PASSIVE + "/{own.title}.cpp": "fprime/component.cpp",
    _PASSIVE + "/{own.title}Machine.hpp": "fprime/machine.hpp",
    _PASSIVE + "/{own.title}Machine.cpp": "fprime/machine.cpp",
    _PASSIVE + "/{name}.h": "{name}.h",
    _PASSIVE + "/{name}.c": "{name}.c",
    _PASSIVE + "/docs/sdd.md": "fprime/sdd.md",
    _PASSIVE + "/test/ut/{own.title}KnownQueries.hpp": "fprime/known.hpp",
    _PASSIVE + "/test/ut/{own.title}TestMain.cpp": "fprime/test_main.cpp",
    _PASSIVE + "/test/ut/{own.title}Tester.hpp": "fprime/tester.hpp",
    _PASSIVE + "/test/ut/{own.title}Tester.cpp": "fprime/tester.cpp",
    _ACTIVE + "/CMakeLists.txt": "fprime/active_CMakeLists.txt",
    _ACTIVE + "/{own.title}Active.fpp": "fprime/active.fpp",
    _ACTIVE + "/{own.title}Active.hpp": "fprime/active.hpp",
    _ACTIVE + "/{own.title}Active.cpp": "fprime/active.cpp",
    _ACTIVE + "/docs/sdd.md": "fprime/active_sdd.md",
    _ACTIVE + "/test/ut/{own.title}ActiveTestMain.cpp": "fprime/active_test_main.cpp",
    _ACTIVE + "/test/ut/{own.title}ActiveTester.hpp": "fprime/active_tester.hpp",
    _ACTIVE + "/test/ut/{own.title}ActiveTester.cpp": "fprime/active_tester.cpp",
}

_TAKEN = frozenset(
    {
        *("F32", "F64", "I8", "I16", "I32", "I64", "U8", "U16", "U32", "U64"),
        *("Drv", "Fw", "Models", "Os", "Svc"),
    }
)
"""Types of FPP, and name spaces that would be hidden within `Models`."""


def component_name(name: str) -> str:
    """Return the name of a prefix's passive component, in camel case.

    Different prefixes have different names: an underscore stays where no letter follows it.

    Examples
    --------
    >>> component_name("iris"), component_name("sun_sensor"), component_name("m_2")
    ('Iris', 'SunSensor', 'M_2')
    >>> component_name("m2"), component_name("os")
    ('M2', 'OsModel')
    """
    first, *words = name.split("_")
    camel = first.capitalize() + "".join(
        word.capitalize() if word[:1].isalpha() else f"_{word}" for word in words
    )
    return f"{camel}Model" if camel in _TAKEN else camel


@dataclass(frozen=True, slots=True)
class Channel:
    """A telemetry channel of a member of the telemetry struct.

    The self-test's counters are channels without `--telemetry`, too; the components ask no audit.

    Attributes
    ----------
    name : str
        Of the member.
    title, local : str
        The channel, and a variable that is called like it.
    about : str
        A sentence.
    type : str
        Of FPP, without elements.
    n : int
        Elements of an array; 0 for one number.
    """

    name: str
    title: str
    local: str
    about: str
    type: str
    n: int

    @classmethod
    def of(cls, counter: Counter) -> Channel:
        """Return the channel of a member."""
        title = component_name(counter.name)
        return cls(
            name=counter.name,
            title=title,
            local=title[:1].lower() + title[1:],
            about=counter.meaning[:1].upper() + counter.meaning[1:],
            type="F32" if counter.is_float else "U32",
            n=len(counter.elements),
        )


@dataclass(frozen=True, slots=True)
class FPrimeView:
    """What only the templates of the F´ library know.

    Attributes
    ----------
    title : str
        The name in camel case, as components are called.
    channels : tuple of Channel
        The telemetry of `--telemetry`; empty without it.
    """

    title: str
    channels: tuple[Channel, ...]

    @classmethod
    def of(cls, program: Program, target: Target) -> FPrimeView:
        """Return the view of a program."""
        return cls(component_name(program.name), _channels(program))

    @property
    def arrays(self) -> tuple[Channel, ...]:
        """The channels that are arrays, which need a type of their own."""
        return tuple(channel for channel in self.channels if channel.n)


def _channels(program: Program) -> tuple[Channel, ...]:
    """Return the channels of the telemetry that the components do not have without it."""
    if not program.telemetry:
        return ()
    return tuple(
        Channel.of(counter)
        for counter in counters(program)
        if not counter.name.startswith(("self_test_", "audit_"))
    )


FRAMEWORK = Framework(_FILES, FPrimeView.of)
