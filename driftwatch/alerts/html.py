"""The same lines as an e-mail: light and dark, readable without styles, nothing to be fetched (pure)."""

from collections.abc import Sequence
from html import escape
from itertools import groupby

from driftwatch.alerts.layout import Block, Line, Role
from driftwatch.model import Level

_STYLE = """\
body{margin:0;padding:16px;background:#fff;color:#1c2024;
font:15px/1.5 -apple-system,"Segoe UI",Roboto,Helvetica,Arial,sans-serif}
.dw{max-width:640px;margin:0 auto;border-left:4px solid #5b7083;padding:2px 0 2px 16px}
.error{border-color:#c62828}.warning{border-color:#b26a00}
h1{font-size:18px;line-height:1.35;margin:0 0 12px}h2{font-size:15px;margin:20px 0 4px}
p{margin:4px 0}ul{margin:4px 0;padding-left:20px}.lead{font-weight:600;margin-top:12px}
.fact b{font-weight:600}.foot{color:#667;font-size:13px;margin-top:16px}
@media (prefers-color-scheme:dark){body{background:#16191d;color:#e4e7ea}.foot{color:#9aa4ad}}
@media (prefers-color-scheme:dark){.error{border-color:#ff8a80}.warning{border-color:#ffb74d}}"""

_END = "</div></body></html>"


def page(title: str, level: Level, blocks: Sequence[Block]) -> str:
    """A whole HTML document."""
    # The line break is for the text that is made of it: there it sets the blocks apart.
    inner = "<br>".join(_block(block) for block in blocks)
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head>"
        f'<body><div class="dw {level.value}"><h1>{escape(title)}</h1>{inner}{_END}'
    )


def with_line(document: str, line: str) -> str:
    """A document of ``page`` with one more line at its end."""
    return document.removesuffix(_END) + f'<p class="foot">{escape(line)}</p>' + _END


def _block(block: Block) -> str:
    parts = []
    for item, lines in groupby(block, key=lambda line: line.role is Role.ITEM):
        if item:
            parts.append(f"<ul>{''.join(f'<li>{escape(line.text)}</li>' for line in lines)}</ul>")
        else:
            parts.extend(_line(line) for line in lines)
    return "".join(parts)


def _line(line: Line) -> str:
    text = escape(line.text)
    match line.role:
        case Role.HEADING:
            return f"<h2>{text}</h2>"
        case Role.LEAD:
            return f'<p class="lead">{text}</p>'
        case Role.FACT:
            label, _, value = text.partition(": ")
            return f'<p class="fact"><b>{label}:</b> {value}</p>'
        case Role.FOOTER:
            return f'<p class="foot">{text}</p>'
        case _:
            return f"<p>{text}</p>"
