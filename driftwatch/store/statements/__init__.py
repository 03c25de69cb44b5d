"""The SQL, in words that every back end understands.

Times are parameters, never ``now()``; NULLs are never sorted by chance; nothing counts ``rowcount``, which
means something else elsewhere: RETURNING says what was done. Upserts are written with a dialect's own
``insert``, so they are built once for each back end; everything else stands here as it is run.
"""
