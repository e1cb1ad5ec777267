"""The layout of a program's C: its parts, known before a template is rendered."""

from __future__ import annotations

from dataclasses import dataclass

from kmcompile.emit.early_exits_view import EarlyExitsView, early_exits_view
from kmcompile.emit.prepare_view import PrepareView, prepare_view
from kmcompile.emit.replay_view import ReplayView, replay_view
from kmcompile.emit.tables import table_qualifier
from kmcompile.emit.totals_view import BlockFunctions
from kmcompile.program.program import Program
from kmcompile.target import Target


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """The parts of a program's C.

    Parameters
    ----------
    program : Program
    target : Target
        The target that the program was lowered for.
    functions : BlockFunctions
        The functions that sum blocks of vectors.
    prepared : PrepareView
    early : EarlyExitsView
    replay : ReplayView or None
    """

    program: Program
    target: Target
    functions: BlockFunctions
    prepared: PrepareView
    early: EarlyExitsView
    replay: ReplayView | None

    @classmethod
    def of(cls, program: Program, target: Target) -> Layout:
        """Return the layout of a program."""
        functions = BlockFunctions(target, program.ends.exact, program.name.upper())
        return cls(
            program,
            target,
            functions,
            prepare_view(program.prepare),
            early_exits_view(program, functions),
            None if program.replay is None else replay_view(program, program.replay),
        )

    @property
    def of_table(self) -> str:
        """Qualifier before a table's type, with a trailing blank; "" for tables in plain data."""
        return table_qualifier(self.program.name, self.target)
