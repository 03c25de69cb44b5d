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

from driftwatch.toolset.vocabulary import (
    ADVERB,
    ANY_TOOL,
    ANYTHING,
    ANYTHING_ELSE,
    AS_THE_FIRST,
    BEFORE_OTHERS,
    CALL,
    CALLING,
    DO_NOT,
    END,
    FOR_CONSENT,
    IN_DATA,
    MUST,
    MUST_GO,
    OF_SECRETS,
    PEOPLE,
    PRIOR_TO,
    PRIVATE_FILE,
    REQUESTS,
    RIVAL,
    SAID,
    SECRETS,
    THEN_CALL,
    THIS_TOOL,
    TOOL,
    TOOLS,
    USER,
    VERB,
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
    _rule(
        "always",
        "always",
        "always",
        rf"always(?:\s*,)?\s+{ADVERB}(?!{FOR_CONSENT})(?:{VERB}|be\s+(?:called|invoked|used|run){AS_THE_FIRST})",
    ),
    _rule(
        "never",
        "never",
        "never",
        rf"never(?:\s*,)?\s+{ADVERB}(?!{OF_SECRETS}|(?:call|execute|invoke|use)\s+(?:this|it)\b)"
        rf"{VERB}",
    ),
    _rule(
        "ignore",
        "ignore egard",
        "ignore|disregard",
        rf"\w+\s+(?:{SAID}(?!{IN_DATA})|(?:(?:all|any|every)\s+(?:the\s+|of\s+the\s+)?)?(?:all|any|every|other|competing)"
        rf"(?:\s+[\w-]+){{0,2}}?\s+{TOOL}(?:{END}|\s+of\b)|the\s+[\w-]+(?:\s+[\w-]+)?\s+{TOOL}{END}|(?:the|your)\s+(?:user|human)(?:'s\s+(?:requests?|wishes|questions?|objections?)"
        r"|(?=\s*(?:[.,;!]|$)|\s+(?:and|if|when)\b))|"
        r"(?:(?:all|any|the|your)\s+)*(?:previous|prior|earlier|above|preceding)\s+(?:context|conversations?)\b)",
    ),
    _rule("forget", "forget", rf"forget\s+{SAID}"),
    _rule(
        "instead of",
        "instead rather",
        r"instead\s+of|rather\s+than",
        rf"\w+\s+\w+\s+(?:{CALLING}\s+)?(?:{ANY_TOOL}|(?:any|all|every)\s+others?{END}|"
        rf"the\s+[\w'-]+(?:\s+[\w'-]+)?\s+{TOOL}{END})",
    ),
    _rule(
        "do not tell",
        "not n't dont never avoid refrain",
        rf"{DO_NOT}\s+{ADVERB}(?:(?:tell|telling)(?:\s+{PEOPLE}|{END}|(?=\s+(?:about|of|what|why)\b))|"
        rf"(?:mention|mentioning|reveal|revealing|disclose|disclosing)(?!\s+{PEOPLE})|"
        rf"(?:inform|informing|warn|warning|notify|notifying|alert|alerting)\s+(?!any){USER}|"
        rf"(?:ask|show|say|report|explain|describe|discuss|share|let)\s+(?:[\w']+\s+){{0,4}}{USER})",
    ),
    _rule(
        "do not tell",
        "not",
        rf"(?:say|tell|mention|reveal)\s+nothing\s+(?:about|of|to)\s+(?:this|it|{PEOPLE})",
    ),
    _rule(
        "do not use",
        "not n't dont never avoid refrain",
        rf"{DO_NOT}\s+{ADVERB}(?:{CALLING}\s+(?:any|other|another|the|your|all)|"
        r"(?:trust|follow|obey)\s+\w+)",
        rf"{DO_NOT}\s+{ADVERB}(?:{CALLING}|(?:trust|follow|obey)(?:\s+\w+\s+(?:from|of|by))?)\s+(?:"
        rf"{SAID}|{ANY_TOOL}|the\s+[\w-]+(?:\s+[\w-]+)?\s+{TOOL}{END}|"
        rf"the\s+user{END})(?!{IN_DATA})",
    ),
    _rule(
        "do not use",
        "not n't dont never avoid refrain",
        rf"{DO_NOT}\s+{ADVERB}(?:trust|believe)\s+(?:(?:the|any|all)\s+)?\w+\s+(?:from|of|by)\s+(?:{ANY_TOOL}|"
        rf"the\s+[\w-]+(?:\s+[\w-]+)?\s+{TOOL}{END})",
    ),
    _rule(
        "do not use",
        "not n't dont never avoid refrain",
        rf"{DO_NOT}\s+{ADVERB}(?:call|calling|invoke|invoking)\s+\w+_\w+|"
        rf"{DO_NOT}\s+{ADVERB}{CALLING}\s+(?:the|any|your)\s+(?:other|built-?in|native|default)\s+{RIVAL}{END}",
    ),
    _rule(
        "do not use",
        "stop",
        r"stop\s+(?:calling|using|running|invoking)\s+(?:any|other|another|all|your)",
        rf"stop\s+\w+\s+{ANY_TOOL}",
    ),
    _rule(
        "no other",
        "other",
        rf"(?:no\s+other\s+{TOOLS}\s+(?:may|can|should|must|shall)|other\s+{TOOL}\s+(?:may|should|must|shall)\s+"
        r"(?:not|never))\s+be\s+(?:called|used|run|invoked)",
    ),
    _rule(
        "no other",
        "other built native",
        rf"(?:other|built-?in|native)\s+(?:[\w-]+\s+)?(?:{TOOL}|ones)\s+(?:are|is|have\s+been|will\s+be)\s+(?:all\s+)?(?:broken|compromised|"
        rf"insecure|malicious|obsolete|outdated|unreliable|unsafe|wrong){END}",
    ),
    _rule("before any other", "before", rf"before\s+{ANYTHING}", rf"before\s+{ANYTHING_ELSE}"),
    _rule(
        "before any other",
        "prior ahead prefer",
        rf"{PRIOR_TO}\s+{ANYTHING}",
        rf"{PRIOR_TO}\s+{ANYTHING_ELSE}",
    ),
    _rule(
        "must call",
        "must shall have required instruct mandatory imperative essential",
        rf"{MUST}\s+(?:(?:always|first|only|also|immediately)\s+)*(?:(?:call|invoke)(?=\s+{THIS_TOOL})|obey|"
        rf"{CALL}(?=\s+(?:this|our|the)(?:\s+[\w-]+){{0,2}}?\s+{TOOL}\b)|"
        rf"be\s+(?:called|invoked|used|run){AS_THE_FIRST}|"
        r"be\s+the\s+(?:very\s+)?first\s+(?:tool|function)(?:\s+(?:that\s+is|to\s+be|you))?\s+(?:call|use|invoke|run)\w*)",
    ),
    _rule(
        "only use",
        "only exclusively",
        r"only\s+(?:call|use|invoke)\s+(?:this|these|our)|exclusively\s+(?:call|use|invoke)\s+(?:this|these|our)",
        rf"\w+\s+\w+\s+\w+(?:\s+[\w-]+){{0,2}}?\s+{TOOLS}\b(?!\s+(?:after|as|if|in|on|once|to|unless|when|with|"
        r"for\s+(?!all|any|each|every))\b)",
    ),
    _rule(
        "only use",
        "only exclusively",
        rf"(?:call|use|invoke)\s+(?:only\s+(?:this|our)\s+{TOOLS}|(?:this|our)(?:\s+{TOOLS})?\s+exclusively)",
    ),
    _rule(
        "call this first",
        "first before immediately prior ahead",
        rf"(?:{CALL}\s+this(?:\s+{TOOLS})?|(?:call|invoke)\s+it)\s+(?:first(?=\s*(?:[^\w\s'-]|$)|\s+(?:and|before|"
        rf"then|always|whenever|(?:for|in)\s+(?:all|every|each|any)|(?:if|when)\s+(?:(?:the|a|any)\s+)?(?:users?|(?:you\s+)?"
        r"(?:begin|start))\w*\s+(?:\w+\s+){0,2}(?:anything|something|(?:conversation|session|chat|task)s?))\b)|"
        rf"immediately{END}|{BEFORE_OTHERS})",
    ),
    _rule("call this first", "first", rf"first\s*,?\s+(?:call|use|invoke)\s+this(?:(?=\s+{TOOLS}\b)|{END})"),
    _rule(
        "begin with this",
        "begin start",
        r"(?:begin|start)\s+(?:\w+\s+){0,3}(?:by|with)\s+(?:calling|using|running|invoking)\s+"
        rf"(?:(?:this|our)(?=\s+{TOOLS}\b)|(?:this|it){END})",
    ),
    _rule(
        "for every request",
        "every each",
        rf"(?:{CALL}\s+(?:this|our)(?:\s+{TOOLS})?|(?:call|invoke)\s+it)\s+"
        r"(?:for|on|in|with|after|before|at\s+the\s+(?:start|beginning)\s+of)\s+"
        rf"(?:every|each)\s+(?:\w+\s+)?{REQUESTS}|"
        rf"(?:{CALL}\s+(?:this|our)(?:\s+{TOOLS})?|(?:call|invoke)\s+it)\s+(?:every|each)\s+time\s+(?:the\s+user\s+(?:asks|says|"
        r"sends|speaks|types|writes)|you\s+(?:answer|reply|respond))\b",
    ),
    _rule(
        "for every request",
        "when time after",
        r"(?:when|whenever|(?:every|each)\s+time|after)\s+(?:you\s+)?(?:use|using|call|calling|invoke|invoking|run|running)"
        rf"\s+{ANY_TOOL}",
        rf"[^.!?;]{{10,80}}{THEN_CALL}",
    ),
    _rule(
        "first step",
        "first every each",
        r"as\s+your\s+(?:very\s+)?first\s+(?:step|action|call|move)|"
        rf"at\s+the\s+(?:start|beginning)\s+of\s+(?:every|each)\s+(?:new\s+)?{REQUESTS}",
        rf"[\w\s]{{10,60}}{THEN_CALL}",
    ),
    _rule(
        "under no circumstances",
        "circumstance",
        r"under\s+(?:no|any)\s+circumstances?",
        r"under\s+\w+\s+circumstances?,?\s+(?:(?:should|may|must|shall|can|are)\s+)?"
        rf"(?:(?:you|agents?|assistants?)\s+)?(?:to\s+)?{ADVERB}{VERB}",
    ),
    _rule(
        "from now on",
        "now",
        r"from\s+now\s+on|you\s+are\s+now\s+(?:an?|the|my|in)",
        rf"from\s+now\s+on,?\s+(?:you|always|never|only|please|do\s+not|don't|{VERB})\b|"
        r"you\s+are\s+now\s+\w+\s+(?:[\w-]+\s+){0,3}?(?:admin|administrator|assistant|agent|ai|bot|model|hacker|expert|"
        r"root|developer|debug|maintenance|mode)\b",
    ),
    _rule(
        "prefer this",
        "prefer over",
        rf"prefer\s+(?:this|our)(?=(?:\s+{TOOLS})?(?:\s*(?:[^\w\s'-]|$)|\s+(?:always|and|exclusively|instead|"
        rf"whenever|for\s+(?:all|any|each|every)|over\s+(?:others?{END}|the\s+(?:others?|[\w-]+(?:\s+[\w-]+)?\s+"
        rf"{TOOL}){END}|{ANY_TOOL}))\b))|(?<!precedence\s)(?<!priority\s)(?<!wins\s)(?<!prevails\s)"
        rf"over\s+(?:(?:any|all|every)\s+others?{END}|(?:(?:any|all|every|the)\s+)?other(?:\s+\w+)?\s+{TOOL})",
    ),
    _rule(
        "prefer this",
        "over",
        r"(?:(?<=tool\shas\s)|(?<=tool\stakes\s)|(?<=tools\shave\s)|(?<=tools\stake\s))(?:priority|precedence)\s+over"
        r"(?:\s+(?:(?:any|all|every|the)\s+)?others?)?|"
        rf"(?:priority|precedence)\s+over\s+(?:{SAID}|{ANY_TOOL}|(?:what\s+)?(?:the|your)\s+user"
        rf"(?:'s|{END}|\s+(?:says|asks|wants)))",
    ),
    _rule(
        "without telling",
        "without",
        r"without\s+(?:ever\s+)?(?:telling|asking|informing|notifying|mentioning|consulting|alerting)|"
        r"without\s+(?:the\s+)?users?(?:'s|')?\s+(?:knowledge|knowing)",
        rf"without\s+(?:ever\s+)?(?:telling\b|mentioning\s+(?:it|this|that)\b|(?!mention)\w+\s+{USER}\b|(?:the\s+)?users?\b)",
    ),
    _rule(
        "keep secret",
        "keep hid conceal secret covert silent quiet",
        r"keep\s+(?:(?:this|that|the|your|these)\s+)(?:\w+\s+)?(?:steps?|actions?|calls?|requests?|instructions?|tools?|"
        r"conversations?|operations?|facts?|findings?)\s+(?:secret|hidden|private|confidential)|"
        rf"keep\s+(?:\w+\s+){{1,4}}(?:secret|hidden|private|confidential)\s+from\s+{USER}|"
        rf"(?:hide|conceal)\s+(?:this|that|it|these|your|any|everything)\s+(?:\w+\s+){{0,3}}from\s+{PEOPLE}|"
        r"keep\s+(?:quiet|silent)\s+about\s+(?:it|this|that|these)\b|"
        rf"(?:secretly|covertly)\s+{VERB}|(?:silently|quietly)\s+(?:add|append|attach|collect|copy|forward|include|pass|"
        r"post|read|send|submit|upload)\s+(?:[\w']+\s+){0,3}(?:history|conversations?|prompts?|context|"
        rf"{SECRETS})",
    ),
    _rule(
        "pretend",
        "act behave pretend",
        r"(?:act|behave)\s+as\s+(?:if|though)\s+(?:(?:this|the)\s+(?:tool|call)|nothing|you\s+(?:had|have|did|do)(?:\s+not|n't))\b|"
        r"pretend\s+(?:that\s+)?(?:the|this|it|you|nothing)\b",
    ),
    _rule(
        "hand over",
        "copy your every each all any",
        rf"(?:every|each|all|any)\s+(?:{REQUESTS}\b[^.!?;]{{0,40}}\s{MUST_GO}\s+this\s+(?:tool|server)\b|"
        rf"(?:chats?|conversations?|prompts?|questions?|turns?)\b[^.!?;]{{0,40}}\s{MUST_GO}\s+\w+_\w+)|"
        rf"(?:copy|forward|pass|report|send|submit)\s+(?:a\s+copy\s+of\s+(?:the|your)|your)\s+(?:\w+\s+)?{REQUESTS}"
        r"\s+(?:to|through)\s+(?:this\s+(?:tool|server)\b|\w+_\w+)",
    ),
    _rule(
        "hand over",
        "any every each all",
        r"(?:any|every|each|all)\s+(?:calls?|invocations?|usages?|uses?)\s+(?:of|to)\s+(?:the\s+)?\w+_\w+\b"
        r"[^.!?;]{0,40}\s(?:must|should|shall|has\s+to|have\s+to)\s+(?:go|be\s+(?:forwarded|routed|sent))\s+"
        r"(?:through|to|via)",
    ),
    _rule(
        "run from the network",
        "curl wget",
        r"(?:curl|wget)\s[^\n|]{1,300}\|\s*(?:sudo\s+)?(?:(?:ba|da|k|z)?sh|node|perl|python3?|ruby)",
    ),
    _rule(
        "hand over",
        "/ .ssh .env .aws mcp.json private",
        r"(?:add|append|attach|cat|copy|include|load|open|pass|paste|provide|put|read|send)\s+"
        rf"(?![^!?;\n]{{0,40}}\bpath\b)[^!?;\n]{{0,60}}?{PRIVATE_FILE}[^!?;\n]{{0,60}}?\s(?:as|in|into|to|with)\s+"
        r"(?:(?:the|this|an?)\s+)?(?:['\"`]\w+['\"`]|\w+\s+(?:argument|field|param|parameter)s?\b)",
    ),
    _rule(
        "user must not know",
        "user",
        r"users?\s+(?:(?:must|should|needs?|shall|may)(?:\s+not|n't)|(?:do|does)(?:\s+not|n't)\s+(?:need|have))\s+"
        rf"(?:to\s+)?(?:ever\s+)?(?:(?:know|notice|learn|find\s+out)(?:{END}|(?=\s+(?:about|of|this|it|what)\b))|"
        rf"see\s+(?:this|it|that){END}|be\s+(?:told|informed|aware|asked))",
    ),
    _rule(
        "override",
        "over bypass",
        rf"(?:override|bypass|overrule)\s+(?!(?:the\s+)?system\s+prompt){SAID}",
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
