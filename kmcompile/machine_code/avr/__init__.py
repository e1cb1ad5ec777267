"""Calls and frames of AVR code, from its instructions: avr-gcc 5 writes no call graph."""

from kmcompile.machine_code.avr.call_graph import read_avr_call_graph

__all__ = ["read_avr_call_graph"]
