r"""Phrases that order the agent around instead of informing it (launch checklist, item 8, and wider).

Each rule has a pattern for the phrase, and where the phrase alone may be harmless ("never returns null",
"ignore case") one for what makes it an order. Patterns see folded text: lower case, straight apostrophes,
hidden characters removed.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_CALL = r"(?:call|use|run|invoke|execute|try|prefer|choose|select|pick)"
_TOOLS = r"(?:tools?|functions?|servers?|skills?|plugins?|connectors?|agents?|apis?)"
_THIS = rf"(?:this|it|these|our|\w*_\w+|{_TOOLS})"
_PEOPLE = (
    r"(?:(?:the|your|any|this)\s+)?(?:users?|humans?|persons?|people|customers?|owners?|operators?|anyone|anybody|"
    r"them|him|her)"
)
_DO_NOT = (
    r"(?:do\s+not|must\s+not|should\s+not|shall\s+not|don't|mustn't|shouldn't|dont|never|avoid|"
    r"refrain\s+from)"
)
_ADVERB = r"(?:(?:\w+ly|also|first|then|please|just|ever)\s+)?"
_PRIOR_TO = r"(?:prior\s+to|ahead\s+of|in\s+preference\s+to)"
_DOING = r"(?:(?:you\s+)?(?:use|using|call|calling|invoke|invoking|run|running|try|trying|do|doing)\s+)?"
_MUST = (
    r"(?:must|shall|have\s+to|you(?:\s+are|'re)\s+(?:\w+ly\s+)?(?:required|instructed)\s+to|"
    r"mandatory\s+(?:to|that\s+you)|imperative\s+(?:to|that\s+you)|essential\s+(?:to|that\s+you))"
)
_THEN_CALL = rf",\s*(?:(?:you\s+)?(?:must|should|always|first|please)\s+){{0,3}}{_CALL}\b"
_REQUESTS = (
    r"(?:requests?|questions?|messages?|tasks?|quer(?:y|ies)|prompts?|conversations?|sessions?|chats?|turns?|"
    r"responses?|repl(?:y|ies)|answers?)"
)
_ANYTHING = (
    rf"(?:{_DOING}(?:any|other|every|each|all|anything|everything)|"
    r"(?:you\s+)?(?:answer|reply|respond|proceed|continu)\w*)"
)
_ANYTHING_ELSE = (
    rf"(?:{_DOING}(?:(?:anything|everything)\b|\w+\s+(?:\w+\s+){{0,2}}(?:{_TOOLS}|calls?|actions?|answers?|"
    r"answering|replies|reply|replying|responses?|responding|requests?|steps?|tasks?|operations?|work|others?|"
    rf"using|calling|doing)\b)|[\w\s]{{6,60}}{_THEN_CALL})"
)
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
    """Begins with one of several letters wherever it can: then a search skips all other places."""
    order: re.Pattern[str] | None
    """Matches from where the phrase begins when it is an order; None when it always is one."""
    within_words: bool
    """Whether it counts in the middle of a word as well."""

    def matches(self, text: str) -> Iterator[re.Match[str]]:
        """Where the phrase stands in a text, from left to right."""
        at = 0
        while (match := self.phrase.search(text, at)) is not None:
            start = match.start()
            if start and not self.within_words and _INSIDE.match(text, start - 1):
                at = start + 1
            else:
                yield match
                at = match.end()


_INSIDE = re.compile(r"[\w-]")


def _rule(name: str, words: str, phrase: str, order: str | None = None) -> Rule:
    markup = phrase.startswith("[")
    return Rule(
        name=name,
        words=tuple(words.split()),
        phrase=re.compile(phrase if markup else rf"(?:{phrase})(?![\w-])"),
        order=re.compile(order) if order else None,
        within_words=markup,
    )


RULES = (
    _rule("always", "always", "always", rf"always(?:\s*,)?\s+{_ADVERB}{_VERB}"),
    _rule("never", "never", "never", rf"never(?:\s*,)?\s+{_ADVERB}{_VERB}"),
    _rule(
        "ignore",
        "ignore egard",
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
        rf"{_DO_NOT}\s+{_ADVERB}(?:(?:tell|telling|mention|mentioning|inform|informing|reveal|revealing|disclose|"
        rf"disclosing|notify|notifying|warn|warning|alert|alerting)(?:\s+{_PEOPLE})?|"
        rf"(?:ask|show|say|report|explain|describe|discuss|share|let)\s+(?:[\w']+\s+){{0,4}}{_PEOPLE})",
    ),
    _rule(
        "do not tell",
        "not",
        rf"(?:say|tell|mention|reveal)\s+nothing\s+(?:about|of|to)\s+(?:this|it|{_PEOPLE})",
    ),
    _rule(
        "do not use",
        "not n't dont never avoid refrain",
        rf"{_DO_NOT}\s+{_ADVERB}(?:(?:call|use|run|invoke|calling|using|running|invoking)\s+"
        rf"(?:any|other|another|the|that|them|unless|until|more|{_THIS})|trust\s+\w+)",
    ),
    _rule(
        "do not use",
        "stop",
        r"stop\s+(?:calling|using|running|invoking)\s+(?:any|other|another|all|your)",
    ),
    _rule(
        "no other",
        "other",
        rf"no\s+other\s+{_TOOLS}\s+(?:may|can|should|must|shall)\s+be\s+(?:called|used|run|invoked)",
    ),
    _rule("before any other", "before", rf"before\s+{_ANYTHING}", rf"before\s+{_ANYTHING_ELSE}"),
    _rule(
        "before any other",
        "prior ahead prefer",
        rf"{_PRIOR_TO}\s+{_ANYTHING}",
        rf"{_PRIOR_TO}\s+{_ANYTHING_ELSE}",
    ),
    _rule(
        "must call",
        "must shall have required instruct mandatory imperative essential",
        rf"{_MUST}\s+(?:(?:always|first|only|also|immediately)\s+)*(?:call|invoke|obey|"
        rf"{_CALL}(?=\s+{_THIS}\b)|be\s+(?:called|invoked)|be\s+used(?=\s+(?:first|before|for\s+(?:all|every|any))))",
    ),
    _rule(
        "only use",
        "only exclusively",
        r"only\s+(?:call|use|invoke)\s+(?:this|these|our)|exclusively\s+(?:call|use|invoke)\s+(?:this|these|our)",
    ),
    _rule(
        "only use",
        "only exclusively",
        rf"(?:call|use|invoke)\s+(?:only\s+(?:this|these|our)|(?:this|our)(?:\s+{_TOOLS})?\s+exclusively)",
    ),
    _rule(
        "call this first",
        "first before immediately prior ahead",
        rf"{_CALL}\s+(?:this|it)(?:\s+{_TOOLS})?\s+(?:first|before|immediately|prior\s+to|ahead\s+of)",
    ),
    _rule("call this first", "first", r"first\s*,?\s+(?:call|use|invoke)\s+this"),
    _rule(
        "begin with this",
        "begin start",
        r"(?:begin|start)\s+(?:\w+\s+){0,3}(?:by|with)\s+(?:calling|using|running|invoking)\s+(?:this|it|our)",
    ),
    _rule(
        "for every request",
        "every each",
        rf"{_CALL}\s+(?:this|it|our)(?:\s+{_TOOLS})?\s+(?:for|on|in|with|after|at\s+the\s+(?:start|beginning)\s+of)\s+"
        rf"(?:every|each)\s+(?:\w+\s+)?{_REQUESTS}",
    ),
    _rule(
        "first step",
        "first every each",
        r"as\s+your\s+(?:very\s+)?first\s+(?:step|action|call|move)|"
        rf"at\s+the\s+(?:start|beginning)\s+of\s+(?:every|each)\s+(?:new\s+)?{_REQUESTS}",
        rf"[\w\s]{{10,60}}{_THEN_CALL}",
    ),
    _rule(
        "under no circumstances",
        "circumstance",
        r"under\s+(?:no|any)\s+circumstances?",
        r"under\s+\w+\s+circumstances?,?\s+(?:(?:should|may|must|shall|can|are)\s+)?"
        rf"(?:(?:you|agents?|assistants?)\s+)?(?:to\s+)?{_ADVERB}{_VERB}",
    ),
    _rule(
        "from now on",
        "now",
        r"from\s+now\s+on|you\s+are\s+now\s+(?:an?|the|my)",
    ),
    _rule(
        "prefer this",
        "prefer over",
        rf"prefer\s+(?:this|our)|over\s+(?:(?:any|all|every)\s+others?|other\s+{_TOOLS})",
    ),
    _rule(
        "prefer this",
        "over",
        r"(?:priority|precedence)\s+over\s+(?:(?:any|all|every|the|your)\s+)*(?:others|instructions?|prompts?|users?|"
        r"system\s+\w+)",
    ),
    _rule(
        "without telling",
        "without",
        r"without\s+(?:ever\s+)?(?:telling|asking|informing|notifying|mentioning|consulting|alerting)|"
        r"without\s+(?:the\s+)?users?(?:'s|')?\s+(?:knowledge|consent|approval|permission|knowing)",
    ),
    _rule(
        "keep secret",
        "keep hid conceal secret",
        rf"keep\s+(?:\w+\s+){{1,4}}(?:secret|hidden|private|confidential)|"
        rf"hide\s+(?:\w+\s+){{1,4}}from\s+{_PEOPLE}|conceal\s+(?:\w+\s+){{1,4}}from\s+{_PEOPLE}|secretly",
    ),
    _rule(
        "user must not know",
        "user",
        r"users?\s+(?:must|should|need|needs|do|does|shall)(?:\s+not|n't)\s+(?:to\s+)?(?:know|see|be|notice|learn)",
    ),
    _rule(
        "override",
        "over bypass egard",
        rf"(?:override|bypass|overrule)\s+(?:\w+\s+){{0,3}}{_INSTRUCTIONS}|"
        r"regardless\s+of\s+(?:what|whatever)\s+(?:the\s+)?(?:users?|anyone|they)",
    ),
    _rule(
        "prompt talk",
        "prompt instruct",
        r"system\s+prompts?|(?:previous|prior|earlier|above|new|your)\s+instructions",
        r"(?:new|your|above)\s+instructions\s*(?::|are\b)",
    ),
    _rule(
        "markup for the agent",
        "< [",
        r"[<\[][\s/]{0,4}(?:important|system|instructions?|critical|secret|hidden|admin|assistant)\s{0,4}[>\]]",
    ),
)
