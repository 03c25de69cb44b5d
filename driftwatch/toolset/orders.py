r"""Phrases that order the agent around instead of informing it (launch checklist, item 8, and wider).

An order is about what the agent does: which tools it calls and when, whose instructions it follows, what it
keeps from the user. Words alone make none: "ignore messages from bots" and "keep the repository private" say
what a tool does. Each rule has a pattern for the phrase, and where the phrase alone may be harmless one for
what makes it an order. Patterns see folded text: lower case, straight apostrophes, hidden characters removed.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

_CALL = r"(?:call|use|run|invoke|execute|try|prefer|choose|select|pick)"
_CALLING = r"(?:call|use|run|invoke|calling|using|running|invoking)"
_TOOLS = r"(?:tools?|functions?|servers?|skills?|plugins?|connectors?|agents?|apis?)"
_TOOL = r"(?:tools?|skills?|plugins?|connectors?|mcp\s+servers?)"
_USER = (
    r"(?:(?:the|your|this|any)\s+(?:end[\s-])?(?:users?|humans?|persons?|people|customers?|owners?|operators?)|"
    r"user|human|anyone|anybody|them|him|her)"
)
_PEOPLE = rf"(?:{_USER}|users|humans|people|customers|owners|operators)"
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
_END = (
    r"(?=\s*(?:[^\w\s'-]|$)|\s+(?:after|again|ahead|and|as|at|because|before|by|even|every|exclusively|first|for|"
    r"from|if|immediately|in|instead|just|may|now|on|once|or|prior|since|that|to|unless|until|when|whenever|"
    r"with|you)\b)"
)
"""What a noun of its own is followed by: "any tool when", not "any tool output"."""
_ANY_TOOL = (
    rf"(?:(?:(?:any|all|every|each|the|your|of)\s+)*(?:others?|another|different|alternative|competing|built-?in|"
    rf"native)(?:\s+[\w'-]+){{0,2}}?\s+{_TOOLS}{_END}|(?:any|all|every|each|your)(?:\s+[\w-]+){{0,2}}?\s+{_TOOL}{_END})"
)
_THIS_TOOL = (
    rf"(?:(?:this|these|it){_END}|(?:this|these|our|the)(?:\s+[\w-]+){{0,2}}?\s+(?:{_TOOL}|functions?)\b|"
    r"\w+_\w+|['\"`][^'\"`]{1,64}['\"`])"
)
_ANYTHING = (
    rf"(?:{_DOING}(?:any|other|every|each|all|anything|everything)|"
    r"(?:you\s+)?(?:answer|reply|respond|proceed|continu)\w*)"
)
_ANYTHING_ELSE = (
    rf"(?:{_DOING}(?:(?:anything|everything)\s+else\b|{_ANY_TOOL})|"
    r"(?:(?:you\s+)?(?:do|doing)\s+(?:anything|everything)\b)|"
    rf"(?:every|each|any|all)\s+(?:other\s+)?(?:tool\s+(?:calls?|use)|answers?|repl(?:y|ies)|conversations?)\b|"
    rf"[\w\s]{{6,60}}{_THEN_CALL})"
)
_BEFORE_OTHERS = (
    r"(?:before|prior\s+to|ahead\s+of)\s+(?:others?\b|anything|everything|you\b|"
    rf"(?:any|every|each|all)\s+(?:others?\b|(?:\w+\s+)?(?:{_TOOL}|{_REQUESTS}|actions?|steps?|tasks?)\b)|"
    r"\w*(?:search|answer|respond|reply|repli|proceed|continu|start|begin|using|calling|invoking|doing)\w*)"
)

# Whose words the agent goes by, and how an order to go by others speaks of them.
_SAID = (
    r"(?:(?:(?:all|any|every|each|the|your|these|those|its|my|of|other|user|user's|system|safety|previous|prior|"
    r"earlier|above|preceding|developer|initial|conflicting)\s+){0,4}"
    r"(?:instructions?|directives?|guidelines?|safeguards?|guardrails?)\b|"
    r"(?:(?:the|of|other|its)\s+){0,2}(?:all|any|every|your|their|previous|prior|earlier|above|safety|system)\s+"
    r"(?:(?:the|your|of|these|previous|prior|earlier|above|safety|system|other)\s+){0,3}"
    r"(?:prompts?|rules|polic(?:y|ies)|restrictions?|constraints?)\b|"
    r"(?:[\w']+\s+){0,4}instructions\s+(?:from|of|by)\s+(?:the\s+)?(?:users?|system|developers?)\b|"
    r"(?:everything|anything|all|whatever|what)\s+(?:(?:above|before|earlier)(?=\s*(?:[^\w\s]|$)|\s+and\b)|"
    r"you(?:'ve|\s+(?:were|are|have|know|knew|learn|learned|think|believe))\b|"
    r"(?:the\s+)?(?:users?|they|he|she)\s+(?:says?|said|asks?|asked|wants?|wanted|tells?|told)\b))"
)

# Verbs that tell the agent what to do; a third person ("always returns") has another ending.
_VERB = (
    "(?:"
    "act|agree|allow|answer|approve|ask|assume|begin|bypass|call|check|choose|confirm|consult|continue|copy|"
    "disclose|discuss|do|ensure|execute|explain|expose|finish|follow|forward|give|hide|inform|insist|install|"
    "invoke|leave|let|look|make|mention|modify|notify|obey|open|pass|paste|pick|prefer|present|proceed|quote|"
    "recommend|refer|refuse|reject|rely|remember|remind|repeat|reply|report|request|respond|reveal|route|say|"
    "search|select|send|share|speak|start|state|stop|suggest|summarize|switch|take|talk|tell|transfer|treat|"
    r"trust|try|upload|use(?!\s+(?:if|when)\b)|verify|warn|"
    # The same in "it is never run": an order only with an object.
    r"(?:read|run)(?!\s*(?:[^\w\s]|$)|\s+(?:and|at|by|for|from|in|into|on|or|to|with)\b)|"
    # What a tool does with its data as well: an order where it is about the dialogue.
    r"(?:add|append|attach|display|download|fetch|get|include|insert|keep|list|load|log|output|post|print|provide|put|"
    r"remove|replace|return|save|set|show|skip|store|submit|wait|write)\s[^.!?;]{0,60}(?:\b(?:you|your|users?|"
    r"conversation|prompts?|context|passwords?|credentials?|secrets?|answers?|repl(?:y|ies)|responses?|tools?)|"
    r"(?<=\s)~/\.?)|"
    r"be\s+(?:called|used|run|invoked|preferred|told|shown|mentioned|revealed|disclosed)"
    r")\b"
)


@dataclass(frozen=True, kw_only=True, eq=False)  # no slots: a pattern is compiled once, when a text needs it
class Rule:
    """One kind of phrase."""

    name: str
    """Stable; shown to people."""
    words: tuple[str, ...]
    """One of these stands in every match: a quick test before the patterns."""
    says: str
    """Begins with one of several letters wherever it can: then a search skips all other places."""
    orders: str | None
    """What matches from where the phrase begins when it is an order; None when it always is one."""

    @property
    def within_words(self) -> bool:
        """Whether it counts in the middle of a word as well."""
        return self.says.startswith("[")

    @cached_property
    def phrase(self) -> re.Pattern[str]:
        """The pattern of the phrase."""
        return re.compile(self.says if self.within_words else rf"(?:{self.says})(?![\w-])")

    @cached_property
    def order(self) -> re.Pattern[str] | None:
        """The pattern of what makes it an order."""
        return re.compile(self.orders) if self.orders else None

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
    return Rule(name=name, words=tuple(words.split()), says=phrase, orders=order)


RULES = (
    _rule("always", "always", "always", rf"always(?:\s*,)?\s+{_ADVERB}{_VERB}"),
    _rule("never", "never", "never", rf"never(?:\s*,)?\s+{_ADVERB}{_VERB}"),
    _rule(
        "ignore",
        "ignore egard",
        "ignore|disregard",
        rf"\w+\s+(?:{_SAID}|(?:(?:all|any|every)\s+(?:the\s+|of\s+the\s+)?)?(?:all|any|every|other|competing)"
        rf"(?:\s+[\w-]+){{0,2}}?\s+{_TOOL}(?:{_END}|\s+of\b)|the\s+[\w-]+(?:\s+[\w-]+)?\s+{_TOOL}{_END}|(?:the|your)\s+(?:user|human)(?:'s\s+(?:requests?|wishes|questions?|objections?)"
        r"|(?=\s*(?:[.,;!]|$)|\s+(?:and|if|when)\b))|"
        r"(?:(?:all|any|the|your)\s+)*(?:previous|prior|earlier|above|preceding)\s+(?:context|conversations?)\b)",
    ),
    _rule("forget", "forget", rf"forget\s+{_SAID}"),
    _rule(
        "instead of",
        "instead rather",
        r"instead\s+of|rather\s+than",
        rf"\w+\s+\w+\s+(?:{_CALLING}\s+)?(?:{_ANY_TOOL}|(?:any|all|every)\s+others?{_END}|"
        rf"the\s+[\w'-]+(?:\s+[\w'-]+)?\s+{_TOOL}{_END})",
    ),
    _rule(
        "do not tell",
        "not n't dont never avoid refrain",
        rf"{_DO_NOT}\s+{_ADVERB}(?:(?:tell|telling)(?:\s+{_PEOPLE})?|"
        rf"(?:mention|mentioning|reveal|revealing|disclose|disclosing)(?!\s+{_PEOPLE})|"
        rf"(?:inform|informing|warn|warning|notify|notifying|alert|alerting)\s+(?!any){_USER}|"
        rf"(?:ask|show|say|report|explain|describe|discuss|share|let)\s+(?:[\w']+\s+){{0,4}}{_USER})",
    ),
    _rule(
        "do not tell",
        "not",
        rf"(?:say|tell|mention|reveal)\s+nothing\s+(?:about|of|to)\s+(?:this|it|{_PEOPLE})",
    ),
    _rule(
        "do not use",
        "not n't dont never avoid refrain",
        rf"{_DO_NOT}\s+{_ADVERB}(?:{_CALLING}\s+(?:any|other|another|the|your|all)|"
        r"(?:trust|follow|obey)\s+\w+)",
        rf"{_DO_NOT}\s+{_ADVERB}(?:{_CALLING}|(?:trust|follow|obey)(?:\s+\w+\s+(?:from|of|by))?)\s+(?:"
        rf"{_SAID}|{_ANY_TOOL}|the\s+[\w-]+(?:\s+[\w-]+)?\s+{_TOOL}{_END}|"
        rf"the\s+user{_END})",
    ),
    _rule(
        "do not use",
        "not n't dont never avoid refrain",
        rf"{_DO_NOT}\s+{_ADVERB}(?:call|calling|invoke|invoking)\s+\w+_\w+",
    ),
    _rule(
        "do not use",
        "stop",
        r"stop\s+(?:calling|using|running|invoking)\s+(?:any|other|another|all|your)",
        rf"stop\s+\w+\s+{_ANY_TOOL}",
    ),
    _rule(
        "no other",
        "other",
        rf"(?:no\s+other\s+{_TOOLS}\s+(?:may|can|should|must|shall)|other\s+{_TOOL}\s+(?:may|should|must|shall)\s+"
        r"(?:not|never))\s+be\s+(?:called|used|run|invoked)",
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
        rf"{_MUST}\s+(?:(?:always|first|only|also|immediately)\s+)*(?:(?:call|invoke)(?=\s+{_THIS_TOOL})|obey|"
        rf"{_CALL}(?=\s+(?:this|our|the)(?:\s+[\w-]+){{0,2}}?\s+{_TOOL}\b)|"
        rf"be\s+(?:called|invoked|used|run)(?=\s+(?:first{_END}(?!\s+(?:in|on|for)\b)|{_BEFORE_OTHERS}|"
        rf"for\s+(?:all|every|any|each)\s+(?:\w+\s+)?{_REQUESTS}|at\s+the\s+(?:start|beginning)\s+of\s+(?:every|each))))",
    ),
    _rule(
        "only use",
        "only exclusively",
        r"only\s+(?:call|use|invoke)\s+(?:this|these|our)|exclusively\s+(?:call|use|invoke)\s+(?:this|these|our)",
        rf"\w+\s+\w+\s+\w+(?:\s+[\w-]+){{0,2}}?\s+{_TOOLS}\b(?!\s+(?:after|as|if|in|on|once|to|unless|when|with|"
        r"for\s+(?!all|any|each|every))\b)",
    ),
    _rule(
        "only use",
        "only exclusively",
        rf"(?:call|use|invoke)\s+(?:only\s+(?:this|our)\s+{_TOOLS}|(?:this|our)(?:\s+{_TOOLS})?\s+exclusively)",
    ),
    _rule(
        "call this first",
        "first before immediately prior ahead",
        rf"(?:{_CALL}\s+this(?:\s+{_TOOLS})?|(?:call|invoke)\s+it)\s+(?:first(?=\s*(?:[^\w\s'-]|$)|\s+(?:and|before|for|"
        rf"if|when|whenever|then|always|in\s+(?:every|each|any))\b)|immediately{_END}|{_BEFORE_OTHERS})",
    ),
    _rule(
        "call this first", "first", rf"first\s*,?\s+(?:call|use|invoke)\s+this(?:(?=\s+{_TOOLS}\b)|{_END})"
    ),
    _rule(
        "begin with this",
        "begin start",
        r"(?:begin|start)\s+(?:\w+\s+){0,3}(?:by|with)\s+(?:calling|using|running|invoking)\s+"
        rf"(?:(?:this|our)(?=\s+{_TOOLS}\b)|(?:this|it){_END})",
    ),
    _rule(
        "for every request",
        "every each",
        rf"(?:{_CALL}\s+(?:this|our)(?:\s+{_TOOLS})?|(?:call|invoke)\s+it)\s+"
        r"(?:for|on|in|with|after|before|at\s+the\s+(?:start|beginning)\s+of)\s+"
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
        r"from\s+now\s+on|you\s+are\s+now\s+(?:an?|the|my|in)",
        rf"from\s+now\s+on,?\s+(?:you|always|never|only|please|do\s+not|don't|{_VERB})\b|"
        r"you\s+are\s+now\s+\w+\s+(?:[\w-]+\s+){0,3}?(?:admin|administrator|assistant|agent|ai|bot|model|hacker|expert|"
        r"root|developer|debug|maintenance|mode)\b",
    ),
    _rule(
        "prefer this",
        "prefer over",
        rf"prefer\s+(?:this|our)(?:(?=\s+{_TOOLS}\b)|{_END}|(?=\s+over\b))|(?<!precedence\s)(?<!priority\s)(?<!wins\s)(?<!prevails\s)"
        rf"over\s+(?:(?:any|all|every)\s+others?{_END}|(?:(?:any|all|every|the)\s+)?other(?:\s+\w+)?\s+{_TOOL})",
    ),
    _rule(
        "prefer this",
        "over",
        r"(?:(?<=tool\shas\s)|(?<=tool\stakes\s)|(?<=tools\shave\s)|(?<=tools\stake\s))(?:priority|precedence)\s+over"
        r"(?:\s+(?:(?:any|all|every|the)\s+)?others?)?|"
        rf"(?:priority|precedence)\s+over\s+(?:{_SAID}|{_ANY_TOOL}|(?:what\s+)?(?:the|your)\s+user"
        rf"(?:'s|{_END}|\s+(?:says|asks|wants)))",
    ),
    _rule(
        "without telling",
        "without",
        r"without\s+(?:ever\s+)?(?:telling|asking|informing|notifying|mentioning|consulting|alerting)|"
        r"without\s+(?:the\s+)?users?(?:'s|')?\s+(?:knowledge|knowing)",
        rf"without\s+(?:ever\s+)?(?:telling\b|mentioning\s+(?:it|this|that)\b|(?!mention)\w+\s+{_USER}\b|(?:the\s+)?users?\b)",
    ),
    _rule(
        "keep secret",
        "keep hid conceal secret",
        r"keep\s+(?:(?:this|that|the|your|these)\s+)(?:\w+\s+)?(?:steps?|actions?|calls?|requests?|instructions?|tools?|"
        r"conversations?|operations?|facts?|findings?)\s+(?:secret|hidden|private|confidential)|"
        rf"keep\s+(?:\w+\s+){{1,4}}(?:secret|hidden|private|confidential)\s+from\s+{_USER}|"
        rf"(?:hide|conceal)\s+(?:this|that|it|these|your|any|everything)\s+(?:\w+\s+){{0,3}}from\s+{_PEOPLE}|"
        rf"secretly\s+{_VERB}",
    ),
    _rule(
        "user must not know",
        "user",
        r"users?\s+(?:(?:must|should|needs?|shall|may)(?:\s+not|n't)|(?:do|does)(?:\s+not|n't)\s+(?:need|have))\s+"
        rf"(?:to\s+)?(?:ever\s+)?(?:(?:know|notice|learn|find\s+out)(?:{_END}|(?=\s+(?:about|of|this|it|what)\b))|"
        rf"see\s+(?:this|it|that){_END}|be\s+(?:told|informed|aware|asked))",
    ),
    _rule(
        "override",
        "over bypass",
        rf"(?:override|bypass|overrule)\s+(?!(?:the\s+)?system\s+prompt){_SAID}",
    ),
    _rule(
        "override",
        "egard",
        r"regardless\s+of\s+(?:what|whatever)\s+(?:the\s+)?(?:users?|anyone|they)",
        r"regardless\s+of\s+\w+\s+(?:the\s+)?\w+\s+(?:says?|said|asks?|asked|wants?|wanted|tells?|told|thinks?)\b",
    ),
    _rule(
        "prompt talk",
        "prompt instruct",
        r"system\s+prompts?|(?:previous|prior|earlier|above|new|your)\s+instructions",
        r"new\s+instructions\s*(?::|are\b)|(?:your|above)\s+instructions\s+are\b",
    ),
    _rule(
        "markup for the agent",
        "< [",
        r"[<\[][\s/]{0,4}(?:important|system|instructions?|critical|secret|hidden|admin|assistant|inst)\s{0,4}[>\]]",
        r"<[\s/]{0,4}(?:important|instructions?|critical)\b|[<\[][\s/]{0,4}inst\s{0,4}[>\]]|"
        r"<\s{0,4}(?:system|assistant)\s{0,4}>\s{0,40}you\b|"
        r"<\s{0,4}(system|assistant|secret|hidden|admin)\s{0,4}>[^<]{0,2000}<\s{0,4}/\s{0,4}\1\b",
    ),
)
