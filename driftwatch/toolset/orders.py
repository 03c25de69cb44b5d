r"""Phrases that order the agent around instead of informing it (launch checklist, item 8, and wider).

Each rule has a pattern for the phrase, and where the phrase alone may be harmless ("never returns null",
"ignore case") one for what makes it an order. Patterns see folded text: lower case, straight apostrophes,
hidden characters removed.
"""

import re
from dataclasses import dataclass

_CALL = r"(?:call|use|run|invoke|execute|try|prefer|choose|select|pick)"
_TOOLS = r"(?:tools?|functions?|servers?|skills?|plugins?|connectors?|agents?|apis?)"
_THIS = rf"(?:this|it|these|our|\w*_\w+|{_TOOLS})"
_PEOPLE = (
    r"(?:(?:the|your|any|this)\s+)?(?:users?|humans?|persons?|people|customers?|owners?|operators?|anyone|anybody|"
    r"them|him|her)"
)
_DO_NOT = r"(?:(?:do|must|should|shall)\s+not|(?:do|must|should)n't|dont|never|avoid|refrain\s+from)"
_ADVERB = r"(?:(?:\w+ly|also|first|then|please|just|ever)\s+)?"
_INSTRUCTIONS = (
    r"(?:instructions?|prompts?|rules|guidelines|polic(?:y|ies)|safety|safeguards?|restrictions?|system|users?|"
    rf"requests?|messages?|context|previous|prior|earlier|above|everything|anything|what|whatever|{_TOOLS})"
)

# Verbs that tell the agent what to do; a third person ("always returns") has another ending.
_VERB = (
    "(?:"
    "act|add|agree|allow|answer|append|approve|ask|assume|attach|begin|bypass|call|check|choose|confirm|consult|"
    "continue|copy|disclose|discuss|display|do|download|ensure|execute|explain|expose|fetch|finish|follow|forward|"
    "get|give|hide|include|inform|insert|insist|install|invoke|keep|leave|let|list|load|log|look|make|mention|"
    "modify|notify|obey|open|output|pass|paste|pick|post|prefer|present|print|proceed|provide|quote|"
    "recommend|refer|refuse|reject|rely|remember|remind|remove|repeat|replace|reply|report|request|respond|return|"
    "reveal|route|save|say|search|select|send|share|show|skip|speak|start|state|stop|store|submit|suggest|"
    "summarize|switch|take|talk|tell|transfer|treat|trust|try|upload|use|verify|wait|warn|write|"
    # The same in "it is never run": an order only with an object.
    r"(?:put|read|run|set)(?!\s*(?:[^\w\s]|$)|\s+(?:and|at|by|for|from|in|into|on|or|to|with)\b)|"
    r"be\s+(?:called|used|run|invoked|preferred|told|shown|mentioned|revealed|disclosed)"
    r")\b"
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rule:
    """One kind of phrase."""

    name: str
    """Stable; shown to people."""
    words: tuple[str, ...]
    """One of these stands in every match: a quick test before the patterns."""
    phrase: re.Pattern[str]
    order: re.Pattern[str] | None
    """Matches from where the phrase begins when it is an order; None when it always is one."""


def _rule(name: str, words: str, phrase: str, order: str | None = None) -> Rule:
    return Rule(
        name=name,
        words=tuple(words.split()),
        phrase=re.compile(phrase if phrase.startswith("[") else rf"(?<![\w-])(?:{phrase})(?![\w-])"),
        order=re.compile(order) if order else None,
    )


RULES = (
    _rule("always", "always", "always", rf"always(?:\s*,)?\s+{_ADVERB}{_VERB}"),
    _rule("never", "never", "never", rf"never(?:\s*,)?\s+{_ADVERB}{_VERB}"),
    _rule(
        "ignore",
        "ignore disregard",
        "ignore|disregard",
        rf"\w+\s+(?:\w+\s+){{0,3}}{_INSTRUCTIONS}\b",
    ),
    _rule("forget", "forget", rf"forget\s+(?:\w+\s+){{0,3}}{_INSTRUCTIONS}"),
    _rule(
        "instead of",
        "instead rather",
        r"instead\s+of|rather\s+than",
        rf"\w+\s+\w+\s+(?:(?:any|all|every)\s+)?(?:(?:other|another)\b|(?:[\w'-]+\s+){{0,3}}{_TOOLS}\b)",
    ),
    _rule(
        "do not tell",
        "not n't dont never avoid refrain",
        rf"{_DO_NOT}\s+{_ADVERB}(?:tell|telling|mention|mentioning|inform|informing|reveal|revealing|disclose|"
        rf"disclosing|notify|notifying|warn|warning|alert|alerting)(?:\s+{_PEOPLE})?|"
        rf"{_DO_NOT}\s+{_ADVERB}(?:ask|show|say|report|explain|describe|discuss|share|let)\s+(?:[\w']+\s+){{0,4}}{_PEOPLE}",
    ),
    _rule(
        "do not use",
        "not n't dont never avoid refrain",
        rf"{_DO_NOT}\s+{_ADVERB}(?:(?:call|use|run|invoke|calling|using|running|invoking)\s+"
        rf"(?:any|other|another|the|that|them|unless|until|more|{_THIS})|trust\s+\w+)",
    ),
    _rule(
        "before any other",
        "before",
        r"before\s+(?:any|other|every|each|all|anything|everything)",
        rf"before\s+(?:(?:anything|everything)\b|\w+\s+(?:\w+\s+){{0,2}}(?:{_TOOLS}|calls?|actions?|answers?|"
        r"answering|replies|reply|replying|responses?|responding|requests?|steps?|tasks?|operations?|work|"
        r"others?|using|calling|doing)\b)",
    ),
    _rule(
        "must call",
        "must shall have",
        rf"(?:must|shall|have\s+to)\s+(?:(?:always|first|only|also|immediately)\s+)*(?:call|invoke|obey|"
        rf"{_CALL}(?=\s+{_THIS}\b)|be\s+(?:called|invoked)|be\s+used(?=\s+(?:first|before|for\s+(?:all|every|any))))",
    ),
    _rule(
        "only use",
        "only exclusively",
        r"(?:only|exclusively)\s+(?:call|use|invoke)\s+(?:this|these|our)|"
        r"(?:call|use|invoke)\s+only\s+(?:this|these|our)",
    ),
    _rule(
        "call this first",
        "first before immediately",
        rf"{_CALL}\s+(?:this|it)(?:\s+{_TOOLS})?\s+(?:first|before|immediately)|first\s+(?:call|use|invoke)\s+this",
    ),
    _rule(
        "prefer this",
        "prefer over",
        rf"prefer\s+(?:this|our)|over\s+(?:any|all|every)\s+others?|over\s+other\s+{_TOOLS}",
    ),
    _rule(
        "without telling",
        "without",
        r"without\s+(?:ever\s+)?(?:telling|asking|informing|notifying|mentioning|consulting|alerting)|"
        r"without\s+(?:the\s+)?users?(?:'s|')?\s+(?:knowledge|consent|approval|permission|knowing)",
    ),
    _rule(
        "keep secret",
        "secret hidden private confidential hide conceal",
        rf"keep\s+(?:\w+\s+){{1,4}}(?:secret|hidden|private|confidential)|"
        rf"(?:hide|conceal)\s+(?:\w+\s+){{1,4}}from\s+{_PEOPLE}|secretly",
    ),
    _rule(
        "user must not know",
        "user",
        r"users?\s+(?:must|should|need|needs|do|does|shall)(?:\s+not|n't)\s+(?:to\s+)?(?:know|see|be|notice|learn)",
    ),
    _rule(
        "override",
        "override bypass overrule regardless",
        rf"(?:override|bypass|overrule)\s+(?:\w+\s+){{0,3}}{_INSTRUCTIONS}|"
        r"regardless\s+of\s+(?:what|whatever)\s+(?:the\s+)?(?:users?|anyone|they)",
    ),
    _rule(
        "prompt talk",
        "prompt instructions",
        r"system\s+prompts?|(?:previous|prior|earlier|above|new|your)\s+instructions",
        r"(?:new|your|above)\s+instructions\s*(?::|are\b)",
    ),
    _rule(
        "markup for the agent",
        "< [",
        r"[<\[][\s/]{0,4}(?:important|system|instructions?|critical|secret|hidden|admin|assistant)\s{0,4}[>\]]",
    ),
)
