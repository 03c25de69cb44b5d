"""What a probe asks, and in which order.

``sequence`` is the order of it all; ``full`` has what only a full probe asks of one era, ``auth`` what
becomes of a request without a token, ``further`` and ``replicas`` what is asked on connections of their
own.
"""
