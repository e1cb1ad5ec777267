"""`<name>_telemetry.xml`: the telemetry struct for ground systems, in XTCE 1.2.

The format is that of the OMG's XML Telemetric and Command Exchange, version 1.2 (formal/18-10-04;
the same as CCSDS 660.1-B-1). The container holds the struct alone: the packet's headers are the
mission's, whose container refers to this one.
"""

from __future__ import annotations

from typing import Final
from xml.sax.saxutils import escape, quoteattr

from kmcompile.program.program import Program
from kmcompile.program.telemetry import WORD_BYTES, words
from kmcompile.target import Target
from kmcompile.text.visible import visible

_BYTE_ORDERS: Final = {"little": "leastSignificantByteFirst", "big": "mostSignificantByteFirst"}
_HEAD: Final = """\
<?xml version="1.0" encoding="UTF-8"?>
<!-- SPDX-License-Identifier: LicenseRef-Owner -->
<SpaceSystem xmlns="http://www.omg.org/spec/XTCE/20180204"
             xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
             xsi:schemaLocation="http://www.omg.org/spec/XTCE/20180204
                                 https://www.omg.org/spec/XTCE/20180204/SpaceSystem.xsd"
             name="{name}" shortDescription="What the compiled model {name} has answered">
  <LongDescription>{command}</LongDescription>
  <TelemetryMetaData>
    <ParameterTypeSet>
      <IntegerParameterType name="counter" signed="false" sizeInBits="32">
        <UnitSet/>
        <IntegerDataEncoding sizeInBits="32" encoding="unsigned" byteOrder="{order}"/>
      </IntegerParameterType>
      <FloatParameterType name="number" sizeInBits="32">
        <UnitSet/>
        <FloatDataEncoding sizeInBits="32" encoding="IEEE754_1985" byteOrder="{order}"/>
      </FloatParameterType>
    </ParameterTypeSet>
    <ParameterSet>
"""
_MIDDLE: Final = """\
    </ParameterSet>
    <ContainerSet>
      <SequenceContainer name="telemetry" shortDescription="{name}_telemetry_t, {n_bytes} bytes">
        <EntryList>
"""
_END: Final = """\
        </EntryList>
      </SequenceContainer>
    </ContainerSet>
  </TelemetryMetaData>
</SpaceSystem>
"""


def telemetry_xtce(program: Program, target: Target, command: str) -> str:
    """Return the text of `<name>_telemetry.xml`, in ASCII; the same program gives the same text.

    Parameters
    ----------
    program : Program
        A program with telemetry.
    target : Target
        Its byte order is that of the parameters.
    command : str
        The canonical command.
    """
    order = _BYTE_ORDERS[target.byte_order]
    own = words(program)
    parameters = "".join(
        f'      <Parameter name="{name}" parameterTypeRef="{"number" if is_float else "counter"}"\n'
        f"                 shortDescription={_quoted(meaning)}/>\n"
        for name, meaning, is_float in own
    )
    entries = "".join(f'          <ParameterRefEntry parameterRef="{name}"/>\n' for name, *_ in own)
    head = _HEAD.format(name=program.name, command=_ascii(escape(visible(command))), order=order)
    middle = _MIDDLE.format(name=program.name, n_bytes=WORD_BYTES * len(own))
    return head + parameters + middle + entries + _END


def _quoted(text: str) -> str:
    """Return a text as an attribute with its quotes, in ASCII."""
    return _ascii(quoteattr(visible(text)))


def _ascii(text: str) -> str:
    return text.encode("ascii", "xmlcharrefreplace").decode("ascii")
