"""The layout of a program's C: workspace and parts, known before a template is rendered."""

from __future__ import annotations

from dataclasses import dataclass

from kmcompile.emit.early_exits_view import EarlyExitsView, early_exits_view
from kmcompile.emit.prepare_view import PrepareView, prepare_view
from kmcompile.emit.replay_view import ReplayView, replay_view
from kmcompile.emit.tables import table_qualifier
from kmcompile.emit.totals_view import BlockFunctions
from kmcompile.emit.workspace import integer_bytes, workspace_members
from kmcompile.program.layout import Member
from kmcompile.program.program import Program
from kmcompile.target import Target


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """The workspace and the parts of a program's C.

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

    @property
    def members(self) -> tuple[Member, ...]:
        """The arrays of the workspace behind the integer sums and their codes."""
        return workspace_members(self.program, self.prepared.buffers, self.early)

    @property
    def workspace_bytes(self) -> int:
        """RAM of the workspace in every C ABI, since the widest members come first.

        If it holds doubles of the replay or 64-bit sums, it is padded to a multiple of 8 bytes.
        """
        size = sum(member.n_bytes for member in self.members) + integer_bytes(self.program)
        if self.replay is None and self.program.codes is None:
            return size
        if self.replay is not None:
            size += self.replay.workspace_bytes
        return -(-size // 8) * 8


def workspace_bytes(program: Program, target: Target) -> int:
    """Return the bytes of a program's workspace, as `Layout.workspace_bytes`."""
    return Layout.of(program, target).workspace_bytes
