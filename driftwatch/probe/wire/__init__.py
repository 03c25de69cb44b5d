"""One bounded exchange with a server: what is asked, and what came back as data.

``exchange`` stands on ``connect``, ``tcp``, ``tls`` and ``http1`` (a connection that may be opened, and
HTTP/1.1 on it) and on ``body``, ``encoding``, ``sse`` and ``message`` (what a reply says). ``credential``
keeps secrets out of all that is recorded. Nothing here knows what a probe is.
"""
