"""Stand for rosidl_generator_cpp 3.1.6 (Humble): write the C++ of a message, after rosidl's rules.

The patterns are those of rosidl_adapter.parser.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

PACKAGE = re.compile(r"(?!.*__)(?!.*_$)[a-z][a-z0-9_]*\Z")
MESSAGE = re.compile(r"[A-Z][A-Za-z0-9]*\Z")
FIELD = re.compile(r"(?!.*__)(?!.*_$)[a-z][a-z0-9_]*\Z")
TYPES = {
    "float32": "float",
    "int32": "int32_t",
    "uint32": "uint32_t",
    "uint16": "uint16_t",
    "bool": "bool",
    "std_msgs/Header": "std_msgs::msg::Header",
}


def declaration(line: str) -> str:
    """Return the C++ of a line that declares a field."""
    kind, name = line.split()
    assert FIELD.match(name), name
    array = re.fullmatch(r"(\w+)\[(\d+)\]", kind)
    if array:
        return f"  std::array<{TYPES[array[1]]}, {array[2]}> {name}{{}};\n"
    return f"  {TYPES[kind]} {name}{{}};\n"


def main(package: str, source: Path, folder: Path) -> None:
    """Write the header of a message."""
    assert PACKAGE.match(package), package
    assert MESSAGE.match(source.stem), source.stem
    lines = (line.split("#")[0].strip() for line in source.read_text("ascii").splitlines())
    fields = "".join(declaration(line) for line in lines if line)
    header = folder / package / "msg" / f"{source.stem.lower()}.hpp"
    header.parent.mkdir(parents=True, exist_ok=True)
    header.write_text(
        "#pragma once\n#include <array>\n#include <cstdint>\n#include <memory>\n"
        '#include "std_msgs/msg/header.hpp"\n'
        f"namespace {package}::msg\n{{\nstruct {source.stem}\n{{\n"
        f"  using SharedPtr = std::shared_ptr<{source.stem}>;\n{fields}}};\n}}\n"
    )


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))
