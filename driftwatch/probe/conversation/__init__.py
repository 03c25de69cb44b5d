"""What is said to a server in each era, over one wire.

``dialogue`` has the patience, the redirects and the sessions of one probe; ``modern``, ``legacy`` and
``http_sse`` hold the conversation of their era and read its lists (``listing``). ``eras``, ``outcome`` and
``surface`` are pure: what an answer says about the era, the probe and what is shown.
"""
