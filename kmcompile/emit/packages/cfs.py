"""A cFS app: commands and answers on the software bus, a self-test step at each wake-up.

Sources, all of NASA's cFS, as of Caelum rc4, Draco rc5 and 7.0: sample_app, ci_lab and to_lab
(layout, names, counters, start-up line), cFE (message headers, default limits, CMake functions)
and OSAL (lengths of names).
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from kmcompile.emit.packages.framework import Framework
from kmcompile.program.program import Program
from kmcompile.target import Target

_FILES: Mapping[str, str] = {
    "{own.name}/README.md": "cfs/README.md",
    "{own.name}/CMakeLists.txt": "cfs/CMakeLists.txt",
    "{own.name}/mission_build.cmake": "cfs/mission_build.cmake",
    "{own.name}/arch_build.cmake": "cfs/arch_build.cmake",
    "{own.name}/config/default_{own.name}_topicids.h": "cfs/topicids.h",
    "{own.name}/config/default_{own.name}_msgids.h": "cfs/msgids.h",
    "{own.name}/config/default_{own.name}_perfids.h": "cfs/perfids.h",
    "{own.name}/config/default_{own.name}_internal_cfg.h": "cfs/internal_cfg.h",
    "{own.name}/eds/{own.name}.xml": "cfs/eds.xml",
    "{own.name}/fsw/inc/{own.name}_eventids.h": "cfs/eventids.h",
    "{own.name}/fsw/inc/{own.name}_fcncodes.h": "cfs/fcncodes.h",
    "{own.name}/fsw/inc/{own.name}_msg.h": "cfs/msg.h",
    "{own.name}/fsw/inc/{name}.h": "{name}.h",
    "{own.name}/fsw/src/{own.name}.c": "cfs/app.c",
    "{own.name}/fsw/src/{own.name}.h": "cfs/app.h",
    "{own.name}/fsw/src/{own.name}_cmds.c": "cfs/cmds.c",
    "{own.name}/fsw/src/{own.name}_dispatch.c": "cfs/dispatch.c",
    "{own.name}/fsw/src/{own.name}_version.h": "cfs/version.h",
    "{own.name}/fsw/src/{name}.c": "{name}.c",
    "{own.name}/unit-test/CMakeLists.txt": "cfs/unit_test.cmake",
    "{own.name}/unit-test/coveragetest/coveragetest_{own.name}.c": "cfs/coveragetest.c",
}

_LONGEST = 12
# The loader takes files of at most 19 letters (OS_MAX_FILE_NAME is 20): 12, `_app` and `.so`.
_NAMES_OF_CFS = ("sample", "skeleton")
# sample_app and skeleton_app are apps that come with cFS.
_FIRST_TOPIC = 0xC0
_TOPICS_PER_MODEL = 3
_SLOTS = 21
# cFS 7.0.1 gives topics up to 0xBC to its own apps; a CPU has those below 0x100.
_FIRST_PERFORMANCE_ID = 100
# cFE 7.0.1 and its apps use lower ones; CFE_MISSION_ES_PERF_MAX_IDS is 128.


@dataclass(frozen=True, slots=True)
class App:
    """What cFS calls a model, and the ids that the app has until a mission gives others.

    Attributes
    ----------
    name, upper : str
        The app, at most 16 letters: its folder, file and CMake target, and its macros' prefix.
    entry, pipe : str
        The entry point and the pipe, at most 19 letters (CFE_MISSION_MAX_API_LEN and
        OS_MAX_API_NAME are 20).
    topic : int
        The first of its topic ids: commands, the request for housekeeping, the wake-up; and among
        the topics of telemetry, housekeeping and answers.
    performance_id : int
        The marker in the performance log.
    """

    name: str
    upper: str
    entry: str
    pipe: str
    topic: int
    performance_id: int

    @property
    def topics(self) -> tuple[tuple[str, int], ...]:
        """Each topic with its id."""
        return tuple(
            (topic, self.topic + i)
            for topics in (self.commands, self.telemetry)
            for i, (topic, _) in enumerate(topics)
        )

    @property
    def commands(self) -> tuple[tuple[str, str], ...]:
        """Topics of commands, with the type of their messages."""
        return ("CMD", "CommandBase"), ("SEND_HK", "SendHkCmd"), ("WAKEUP", "WakeupCmd")

    @property
    def telemetry(self) -> tuple[tuple[str, str], ...]:
        """Topics of telemetry, with the type of their messages."""
        return ("HK_TLM", "HkTlm"), ("ANSWER_TLM", "AnswerTlm")

    @property
    def interfaces(self) -> tuple[tuple[str, str], ...]:
        """All topics, with the type of their messages."""
        return (*self.commands, *self.telemetry)


def app_of(name: str) -> App:
    """Return the app of a model.

    A name over 12 letters becomes its beginning and four letters of the SHA-256 of the whole, so
    that two long names that begin alike stay apart.

    Examples
    --------
    >>> app_of("iris").name, app_of("breast_cancer").name
    ('iris_app', 'breast_jkvb_app')
    """
    digest = hashlib.sha256(name.encode("ascii")).digest()
    short = name
    if len(name) > _LONGEST or name in _NAMES_OF_CFS:
        letters = base64.b32encode(digest)[:4].decode("ascii").lower()
        short = f"{name[:6].rstrip('_')}_{letters}"
    slot = int.from_bytes(digest[4:8], "big") % _SLOTS
    return App(
        name=f"{short}_app",
        upper=f"{short}_app".upper(),
        entry=f"{short.upper()}_Main",
        pipe=f"{short}_pipe".upper(),
        topic=_FIRST_TOPIC + _TOPICS_PER_MODEL * slot,
        performance_id=_FIRST_PERFORMANCE_ID + slot,
    )


def _app_of(program: Program, target: Target) -> App:
    return app_of(program.name)


FRAMEWORK = Framework(_FILES, _app_of)
