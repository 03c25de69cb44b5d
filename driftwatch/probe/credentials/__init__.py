"""Where the credential of an unattended probe comes from.

``source`` reads a token each time it is needed, ``oauth`` asks for one; ``metadata`` and ``challenge`` find
out where a server says that tokens come from.
"""
