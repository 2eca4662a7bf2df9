"""Loop transformations of our own, where docc has no fitting one.

A rewriting works on the SDFG's JSON document: it checks with a conservative test of its own that
the program's dependences allow it, and changes the document. What comes out is parsed by docc
again, so a rewriting makes a new SDFG, where docc's transformations change theirs in place.
"""

from __future__ import annotations

from loopbook.sdfg.rewrites.blocking import block
from loopbook.sdfg.rewrites.buffering import buffer
from loopbook.sdfg.rewrites.cut import cut
from loopbook.sdfg.rewrites.delay import delay
from loopbook.sdfg.rewrites.demotion import demote
from loopbook.sdfg.rewrites.distribute import distribute
from loopbook.sdfg.rewrites.document import Draft, Rewriting
from loopbook.sdfg.rewrites.expansion import expand
from loopbook.sdfg.rewrites.fusion import fuse
from loopbook.sdfg.rewrites.hoist import hoist
from loopbook.sdfg.rewrites.interchange import interchange
from loopbook.sdfg.rewrites.join import join
from loopbook.sdfg.rewrites.library import library
from loopbook.sdfg.rewrites.padding import pad
from loopbook.sdfg.rewrites.prove import prove
from loopbook.sdfg.rewrites.push import push
from loopbook.sdfg.rewrites.serial import serial
from loopbook.sdfg.rewrites.single import single
from loopbook.sdfg.rewrites.skewing import skew
from loopbook.sdfg.rewrites.straighten import straighten
from loopbook.sdfg.rewrites.strips import sink
from loopbook.sdfg.rewrites.timetiling import time_tile, time_waves
from loopbook.sdfg.rewrites.wavefront import wavefront
from loopbook.sdfg.rewrites.widening import widen

REWRITES: dict[str, Rewriting] = {
    "block": block,
    "buffer": buffer,
    "cut": cut,
    "delay": delay,
    "demote": demote,
    "expand": expand,
    "hoist": hoist,
    "join": join,
    "library": library,
    "pad": pad,
    "prove": prove,
    "push": push,
    "serial": serial,
    "single": single,
    "sink": sink,
    "straighten": straighten,
    "time_tile": time_tile,
    "time_waves": time_waves,
    "wavefront": wavefront,
    "widen": widen,
}
"""Step name to rewriting."""

FALLBACKS: dict[str, Rewriting] = {
    "distribute": distribute,
    "fuse": fuse,
    "interchange": interchange,
    "skew": skew,
}
"""Rewritings for steps that docc has too, for where docc refuses them."""

__all__ = ["FALLBACKS", "REWRITES", "Draft", "Rewriting"]
