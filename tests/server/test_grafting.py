"""What is answered about a single nest, put back into its program."""

from __future__ import annotations

import json

import numpy as np
from server_kit import put_back

from loopbook.sdfg import build, frontend, passes, program
from loopbook.sdfg.untrusted import admit
from loopbook.server.grafting import graft
from loopbook.toolchain import compiler
from loopbook.toolchain.sandbox import run_limited


def test_what_comes_apart_is_put_back_as_one(tmp_path):
    def sums(A, x):
        for i in range(A.shape[0]):
            x[i] = 0.0
            for j in range(A.shape[1]):
                x[i] += A[i, j]

    args = [np.arange(72.0).reshape(9, 8), np.ones(9)]
    given = admit(frontend.trace(sums, args))
    (loop,) = given.document["root"]["children"]
    finished = json.loads(build.finish(given.text, "sequential", {}))
    assert len(finished["root"]["children"]) == 2
    document = {**given.document}
    answer = {"sdfg_result": {"sdfg": graft(finished, given)}}
    put_back(document, loop["element_id"], answer)
    done = program.parse(json.dumps(given.names.restored_program(document)))
    compiler.activate()
    library = run_limited(passes.build, done, tmp_path, "sequential")
    frontend.bind(sums, args, library)(*args)
    np.testing.assert_array_equal(args[1], args[0].sum(axis=1))
