"""What the log says, and what it does not."""

import json
import logging
from io import StringIO

import pytest

from driftwatch.logs import JsonFormatter, Redactor


@pytest.mark.parametrize(
    "secret", ["plain-s3cret", 'with"quote', "with\\backslash", "mit-\u00dcmlaut", "a/b+c d"]
)
def test_a_secret_is_replaced_however_a_line_of_json_writes_it(secret: str) -> None:
    stream = StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonFormatter(Redactor([secret])))
    said = logging.LogRecord("driftwatch", logging.INFO, __file__, 1, "sent %s", (secret,), None)
    said.fields = {"error": f"refused {secret}!"}
    handler.handle(said)
    line = json.loads(stream.getvalue())
    assert (line["message"], line["error"]) == ("sent ***", "refused ***!")
