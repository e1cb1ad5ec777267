"""Shared parts of tests: small models, their C, and their true answers.

Models
    `catalogue`, `coded`, `regressions` and others hold dataclasses: one is one model, and its
    `emit(target)` gives the C. Each module lists some as `CORE`, for every compiler and board.
From an estimator to its program or its C
    `lowered`, `emitted`.
The truth about answers
    `real_model` and `fixed_sums`, in real numbers.
How tests run
    `covering` chooses combinations, `tools` needs compilers and emulators, `host_program` and
    `roundings` build the C for this machine.
"""
