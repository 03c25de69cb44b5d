"""The words of which orders to the agent are made, as parts of patterns."""

CALL = r"(?:call|use|run|invoke|execute|try|prefer|choose|select|pick)"
CALLING = r"(?:call|use|run|invoke|calling|using|running|invoking)"
TOOLS = r"(?:tools?|functions?|servers?|skills?|plugins?|connectors?|agents?|apis?)"
TOOL = r"(?:tools?|skills?|plugins?|connectors?|mcp\s+servers?)"
RIVAL = (
    r"(?:assistant|bot|browser|calculator|calendar|converter|crawler|extension|fetcher|integration|reader|scraper|"
    r"search(?:\s+engine)?|translator)s?"
)
"""What another tool is called by what it does."""
USER = (
    r"(?:(?:the|your|this|any)\s+(?:end[\s-])?(?:users?|humans?|persons?|people|customers?|owners?|operators?)|"
    r"user|human|anyone|anybody|them|him|her)"
)
PEOPLE = rf"(?:{USER}|users|humans|people|customers|owners|operators)"
DO_NOT = (
    r"(?:do\s+not|must\s+not|should\s+not|shall\s+not|don't|mustn't|shouldn't|dont|never|avoid|"
    r"refrain\s+from)"
)
ADVERB = r"(?:(?:\w+ly|also|first|then|please|just|ever)\s+)?"
PRIOR_TO = r"(?:prior\s+to|ahead\s+of|in\s+preference\s+to)"
DOING = r"(?:(?:you\s+)?(?:use|using|call|calling|invoke|invoking|run|running|try|trying|do|doing)\s+)?"
MUST = (
    r"(?:must|shall|have\s+to|you(?:\s+are|'re)\s+(?:\w+ly\s+)?(?:required|instructed)\s+to|"
    r"mandatory\s+(?:to|that\s+you)|imperative\s+(?:to|that\s+you)|essential\s+(?:to|that\s+you))"
)
MUST_GO = (
    r"(?:must|should|shall|has\s+to|have\s+to)\s+(?:be\s+(?:forwarded|logged|passed|reported|routed|sent|submitted)|"
    r"go|pass)\s+(?:through|to|via)"
)
PRIVATE_FILE = (
    r"(?:~/\.?\w|/etc/(?:passwd|shadow)|\.(?:ssh|aws|env)\b|mcp\.json|"
    r"(?:user's|your)\s+(?:ssh\s+)?private\s+key)"
)
THEN_CALL = rf",\s*(?:(?:you\s+)?(?:must|should|also|always|first|please)\s+){{0,3}}{CALL}\b"
REQUESTS = (
    r"(?:requests?|questions?|messages?|tasks?|quer(?:y|ies)|prompts?|conversations?|sessions?|chats?|turns?|"
    r"responses?|repl(?:y|ies)|answers?)"
)
END = (
    r"(?=\s*(?:[^\w\s'-]|$)|\s+(?:after|again|ahead|and|as|at|because|before|by|even|every|exclusively|first|for|"
    r"from|if|immediately|in|instead|just|may|now|on|once|or|prior|since|that|to|unless|until|when|whenever|"
    r"with|you)\b)"
)
"""What a noun of its own is followed by: "any tool when", not "any tool output"."""
ANY_TOOL = (
    rf"(?:(?:(?:any|all|every|each|the|your|of)\s+)*(?:others?|another|different|alternative|competing|built-?in|"
    rf"native)(?:\s+[\w'-]+){{0,2}}?\s+{TOOLS}{END}|(?:any|all|every|each|your)(?:\s+[\w-]+){{0,2}}?\s+{TOOL}{END})"
)
THIS_TOOL = (
    rf"(?:(?:this|these|it){END}|(?:this|these|our|the)(?:\s+[\w-]+){{0,2}}?\s+(?:{TOOL}|functions?)\b|"
    r"\w+_\w+|['\"`][^'\"`]{1,64}['\"`])"
)
ANYTHING = (
    rf"(?:{DOING}(?:any|other|every|each|all|anything|everything)|"
    r"(?:you\s+)?(?:answer|reply|respond|proceed|continu)\w*)"
)
ANYTHING_ELSE = (
    rf"(?:{DOING}(?:(?:anything|everything)\s+else\b|{ANY_TOOL})|"
    r"(?:(?:you\s+)?(?:do|doing)\s+(?:anything|everything)\b)|"
    rf"(?:every|each|any|all)\s+(?:other\s+)?(?:tool\s+(?:calls?|use)|answers?|repl(?:y|ies)|conversations?)\b|"
    rf"[\w\s]{{6,60}}{THEN_CALL})"
)
BEFORE_OTHERS = (
    r"(?:before|prior\s+to|ahead\s+of)\s+(?:others?\b|anything|everything|you\b|"
    rf"(?:any|every|each|all)\s+(?:others?\b|(?:\w+\s+)?(?:{TOOL}|{REQUESTS}|actions?|steps?|tasks?)\b)|"
    r"\w*(?:search|answer|respond|reply|repli|proceed|continu|start|begin|using|calling|invoking|doing)\w*)"
)

AS_THE_FIRST = (
    rf"(?=\s+(?:first{END}(?!\s+(?:in|on|for)\b)|{BEFORE_OTHERS}|"
    rf"for\s+(?:all|every|any|each)\s+(?:\w+\s+)?{REQUESTS}|at\s+the\s+(?:start|beginning)\s+of\s+(?:every|each)))"
)
"""Of a tool that is to be called ahead of everything, or for everything."""

# Whose words the agent goes by, and how an order to go by others speaks of them.
SAID = (
    r"(?:(?:(?:all|any|every|each|the|your|these|those|its|my|of|other|user|user's|system|safety|previous|prior|"
    r"earlier|above|preceding|developer|initial|conflicting)\s+){0,4}"
    r"(?:instructions?|directives?|guidelines?|safeguards?|guardrails?)\b|"
    r"(?:(?:the|of|other|its)\s+){0,2}(?:all|any|every|your|their|previous|prior|earlier|above|safety|system)\s+"
    r"(?:(?:the|your|of|these|previous|prior|earlier|above|safety|system|other)\s+){0,3}"
    r"(?:prompts?|rules|polic(?:y|ies)|restrictions?|constraints?)\b|"
    r"(?:[\w']+\s+){0,4}instructions\s+(?:from|of|by|that)\s+(?:(?:the|other|any|your)\s+)?(?:users?|system|developers?|tools?|"
    r"servers?|clients?)\b|"
    r"(?:everything|anything|all|whatever|what)\s+(?:(?:above|before|earlier)(?=\s*(?:[^\w\s]|$)|\s+and\b)|"
    r"you(?:'ve|\s+(?:were|are|have|know|knew|learn|learned|think|believe))\b|"
    r"(?:the\s+)?(?:users?|they|he|she)\s+(?:says?|said|asks?|asked|wants?|wanted|tells?|told)\b))"
)

IN_DATA = (
    r"(?:\s+(?:and|or)\s+\w+)?\s+(?:(?:that|which)\s+(?:are|is|may\s+be)\s+)?(?:returned|found|contained|embedded|"
    r"included|present|in|inside|within)\b(?!\s+(?:(?:the|your|its|this)\s+)?(?:system|prompt|conversation))"
)
"""What comes with data is no instruction of anybody's."""

# Verbs that tell the agent what to do; a third person ("always returns") has another ending.
SECRETS = r"(?:passwords?|secrets?|tokens?|credentials?|keys?|personal\s+data)\b"
VERB = (
    "(?:"
    "act|agree|allow|answer|approve|ask|assume|begin|bypass|check|choose|confirm|consult|continue|copy|"
    "disclose|discuss|do|ensure|explain|expose|finish|follow|forward|give|hide|inform|insist|install|"
    "let|look|make|mention|modify|notify|obey|open|pass|paste|pick|present|proceed|quote|"
    "recommend|refer|refuse|reject|rely|remember|remind|repeat|reply|report|request|respond|reveal|route|say|"
    "search|select|send|share|speak|start|state|stop|suggest|summarize|switch|take|talk|tell|transfer|treat|"
    r"trust|try|upload|verify|warn|"
    # A way to call is none, and a tool is.
    rf"(?:call|execute|invoke|prefer|use)(?:\s+to\s+(?:call|use))?\s+(?:this{END}|(?:this|these|our|the)(?:\s+[\w-]+){{0,2}}?\s+{TOOL}\b|"
    rf"{ANY_TOOL})|(?:call|execute|invoke|prefer\s+to\s+(?:call|use))\s+(?:it{END}|\w+_\w+)|"
    # The same in "it is never run": an order only with an object.
    r"(?:read|run)(?!\s*(?:[^\w\s]|$)|\s+(?:and|at|by|for|from|in|into|on|or|to|with)\b)|"
    # What a tool does with its data as well: an order where it is about the dialogue.
    r"(?:add|append|attach|display|download|fetch|get|include|insert|keep|leave|list|load|log|output|post|print|provide|put|"
    r"remove|replace|return|save|set|show|skip|store|submit|wait|write)\s[^.!?;]{0,60}(?:\b(?:you|your|users?|"
    r"conversation|prompts?|context|passwords?|credentials?|secrets?|answers?|repl(?:y|ies)|responses?|tools?)|"
    r"(?<=\s)~/\.?)|"
    r"be\s+(?:preferred|told|shown|mentioned|revealed|disclosed)"
    r")\b"
)
FOR_CONSENT = (
    r"(?:ask|confirm|check|consult)(?:\s+(?:with|it\s+with))?\s+(?:the|your)\s+users?\s+(?:before|first|if|whether|which|"
    r"for\s+(?:confirmation|permission|approval|consent)|to\s+(?:confirm|approve))\b"
)
"""What leaves the decision to the user."""
OF_SECRETS = (
    r"(?:commit|expose|include|log|pass|paste|print|put|save|send|share|store|write)\s+(?:[\w'-]+\s+){0,3}?"
    rf"{SECRETS}(?![^.!?;]{{0,60}}\b(?:to|from|with)\s+(?:the\s+)?users?\b)"
)
"""What only keeps secrets out of places."""
