"""cppcheck's addon `misra`, to which the place of an element in a table is known at once.

cppcheck runs this file as it runs its own addons, beside which it finds the module `misra_9`.
That looks each element of a table up in the list of all of them, with a time that grows with the
square of the table's length. Nothing else differs: every rule is the addon's own.
"""

import gc
import runpy
from pathlib import Path

import misra_9


class Elements(list):
    """Elements of a table, each of which keeps its place."""

    def append(self, element):
        element.place = len(self)
        super().append(element)

    def index(self, element):
        if element.place < len(self) and self[element.place] is element:
            return element.place
        return super().index(element)


class ElementDef(misra_9.ElementDef):
    """An element with its own elements."""

    place = -1

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.children = Elements(self.children)


misra_9.ElementDef = ElementDef
gc.disable()  # a process reads one file, and no cycle of its objects needs to go before
runpy.run_path(str(Path(misra_9.__file__).with_name("misra.py")), run_name="__main__")
