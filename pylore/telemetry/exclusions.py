"""What is no candidate: what was pasted, asked, planned, told of the moment, or not said at all.

A rule here names a kind of text, not a word of one project.
"""

from __future__ import annotations

import re

from .patterns import phrases

PASTED_FROM = 700
"""Characters from which a prompt was hardly typed."""

_HARNESS = re.compile(
    r"^\s*(?:<[a-z][\w-]*>|\[Request interrupted|Caveat: The messages below"
    r"|This session is being continued|Base directory for this skill|Unknown (?:skill|slash)"
    r"|Operation stopped by hook|API Error|Prompt is too long|No response requested"
    r"|Stop hook feedback|Tool loaded)"
)
_DIFF = re.compile(r"^(?:diff --git|@@ -\d|[-+]{3} [ab]/|<{7} |>{7} )", re.MULTILINE)
_TRACE = re.compile(
    r"^(?:Traceback \(|\s+at \S+\(|\s+File \"|goroutine \d+|panic: |--- FAIL|=== RUN"
    r"|\s*\w+_?\w*\.\w+:\d+: |Exit code \d|\s*\d+ \| )|\bERROR\b.*\n.*\bERROR\b",
    re.MULTILINE,
)
_REVIEW = re.compile(
    r"\b(?:high|medium|low|critical|minor) (?:severity|priority)\b|^(?:Medium|High|Low|Critical)$"
    r"|^\s*(?:P[0-3]|nit|suggestion)\b[:\s]|consider (?:adding|using|renaming|moving)"
    r"|^@\w+ commented|\*\*Issue\*\*|\(optional\)|address the (?:following|comments)"
    r"|copilot|bugbot|Additional Locations",
    re.IGNORECASE | re.MULTILINE,
)
_SHELL = re.compile(r"^(?:[❯$%➜⏺│╭>]|\w+@\w+\S* |\[\w+\] |\d{4}-\d\d-\d\dT|\s*⎿)", re.MULTILINE)
_MARKDOWN = re.compile(r"^#{1,6} \S", re.MULTILINE)


def is_harness(text: str) -> bool:
    """Whether a text was put there by the program around the model."""
    return _HARNESS.match(text) is not None


def is_pasted(prompt: str) -> bool:
    """Whether a prompt is something that was copied there: output, a diff, a trace, a review."""
    if len(prompt) > PASTED_FROM or _DIFF.search(prompt) or _TRACE.search(prompt):
        return True
    if _REVIEW.search(prompt) or _SHELL.search(prompt):
        return True
    quoted = sum(line.startswith((">", "    ", "\t")) for line in prompt.splitlines())
    return len(_MARKDOWN.findall(prompt)) > 1 or quoted > 2


_UNFIT_OPENING = phrases(
    r"""
    let me|let's|lets|i|i'll|i've|i'm|i'd|now|perfect|great|good|nice|excellent|yes|yeah|yep|no
    |ok|okay|looking|here|here's|next|first|second|third|then|done|fixed|sorry|thanks|right|sure
    |confirmed|agree|agreed|correct|summary|plan|todo|step|phase|option|both|all|everything|same
    |still|verified|would|could|should|do|does|did|can|is|are|what|why|how|where|when you|want
    |shall|might|maybe|perhaps|this|that|it|it's|its|these|those|they|he|she|his|her|there|we
    |we're|we've|we'll|you|your|our|so|but|and|or|also|however|hmm|ah|oh|wait|actually|remaining
    |only remaining|existing|currently|previously|before|after|once done|since you|if you
    |for now|right now|finally|additionally|alternatively|otherwise|instead|the (?:lint|compile
    |type|test|tests|fix|change|changes|issue|problem|bug|error|linter|build|user|plan|branch|pr
    |diff|commit|remaining|existing|new|old|current|previous|first|second|third|other|only
    |approach|simplest|same|review|key|main|real|actual|failing|failure|following|above|rest
    |code|agent|reviewer|comment|result|output|correct|question|diagnostics|warning|file
    |function|method|concern|suggestion|observation|fact|idea|reason)|whether
    """,
    before="",
)
_SUBJECTLESS = re.compile(
    r"(?:never|always|only|not|just|also|default is|falls|flip|override|fresh|explicit)\b"
    r"|[A-Z][a-z]+(?<!s)s (?:the|a|an|back|whether|its|all|any|to|if|when|in)\b|[A-Z][a-z]+s [`\"]"
    r"|[A-Z][a-z]+ed (?:by|for|from|in|on|to|when|with)\b|\[[ x]\]|\.\.\.|…",
    re.IGNORECASE,
)
_WORK = phrases(
    r"""
    add|added|adds|change|changed|changes|update|updated|updates|fix|fixes|fixed|remove|removed
    |removes|move|moved|rename|renamed|replace|replaced|create|created|creates|use|used|uses
    |using|skip|skipped|verify|verifies|test|tests|testing|tested|write|wrote|writes|implement
    |implemented|refactor|refactored|extract|extracted|keep|kept|drop|dropped|make|makes|made
    |ensure|ensures|run|ran|running|check|checks|checked|return|returns|set|sets|call|calls
    |called|pass|passes|passed|apply|applied|convert|converted|simplify|simplified|improve
    |improved|merge|merged|restore|restored|stop|stopped|switch|switched|put|include|includes
    |included|modify|modified|show|shows|shown|find|finds|found|handle|handles|delete|deleted
    |deletes|get|gets|store|stores|stored|bump|bumped|push|pushed|revert|reverted|expand|extend
    |extended|document|documented|clean|cleaned|consolidate|reuse|introduce|introduced|clarify
    |clarified|read|reads|look|try|tries|consider|see|note that i|unreachable|dead|missing
    |unused|wrong|agent|pre-existing|new|old|current|previously|existing|unit|integration|minor
    |line|lines
    """,
    before="",
    after=r"\b(?! must| never| always)",
)
_MOMENT = phrases(
    r"""
    i'll|i've|i'm|i'd|i (?:will|can|could|would|should|think|believe|see|found|need|added|have
    |was|am|just|did|don't|didn't|used|made|saw|noticed|want)|let me|let's|we'll|we've
    |we (?:should|could|need to|can|were|had|did|added|just|now|already)|you (?:should|could|can
    |want|need|mentioned|said|asked|have|might|may|were|see|ran|run)|your|would you|should i
    |shall|right now|currently|at the moment|for now|today|yesterday|tomorrow|earlier|just now
    |so far|(?:is|are) still|already|no longer|not yet|yet|now|anymore|previously|used to
    |any more|again|latest|recently|should|in this (?:file|case)|this (?:time|session
    |conversation|pr|branch|change|commit|fix|plan|means|approach|test|is|was|would|will|one
    |line|worktree|repo|function|issue)|the (?:pr|fix|new|old|reviewer|comment|diff|plan
    |previous|existing|remaining|refactor|user wants|above|following|thread)|our (?:pr|branch
    |fix|change|changes|new|tests?|code)|pr #?\d+|pr'?s|(?:thread|option|step|phase|issue
    |finding|item|scenario|comment|case|bug|gap|test|p)\s?#?\d+|#\d+|pre-existing|pending|todo
    |tbd|wip|merge conflicts?|rebas(?:e|ing) (?:onto|on)|approach would|simplest|straightforward
    |looks (?:good|like)|seems?|probably|likely|might|maybe|perhaps|possibly|apparently|i guess
    |not sure|hopefully|unclear|could be|may have|fails? (?:at|with|because)|failing|failed
    |compiles|passes|passed|pass|verified|confirmed|all tests|lint(?:er)? (?:passes|is|clean)
    |session [a-z\d]|e\.g\. the|\d+ (?:tests?|files?|lines?|commits|issues|errors|warnings
    |sessions|checkpoints)
    """,
)
_VERDICT = phrases(
    r"""
    (?:that's|is|are|be) (?:\w+ly )?(?:fine|ok|okay|correct|right|reasonable|acceptable|safe
    |harmless|enough)|so that works|(?:no|low|lower|little|minimal) risk
    |false positive|can safely|correctly|perfectly|naturally|as expected|at minimum
    |(?:potential|possible|additional) (?:fix|improvement)\w*|suggestion|feedback
    |review comments?
    """,
)
_ADDRESSED = phrases(
    r"""
    we|our|you|your|^(?:if |when )?(?:an? |the )?users?
    """,
)
_LABELLED = re.compile(
    r"(?:`[^`]+`|[\w*/.()\"-]+)(?: (?:`[^`]+`|[\w*/.()\"-]+)){0,4}(?: [-–—] |: )"
)
_PAST = phrases(
    r"""
    was|were|had|didn't|wasn't|weren't|did|added|removed|changed|updated|replaced|fixed|moved
    |renamed|refactored|introduced|implemented|caused|got|went|came|showed|returned|used only
    |broke|made|missed
    """,
)
_HEXES = re.compile(
    r"\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}\b|→|/(?:Users|home|tmp|var)/"
)


def is_question(sentence: str) -> bool:
    """Whether a sentence asks."""
    return sentence.rstrip("*_`\"') 😅🤔").endswith("?")


def is_of_the_moment(sentence: str) -> bool:
    """Whether a sentence tells of the work at hand: what was done, is planned, or is so today."""
    return bool(is_order(sentence) or _MOMENT.search(sentence) or _HEXES.search(sentence))


def is_order(sentence: str) -> bool:
    """Whether a sentence begins with what is to be done, or was: ``add …``, ``fixed …``."""
    return _WORK.match(sentence) is not None


def is_verdict(sentence: str) -> bool:
    """Whether a sentence judges the work, talks to who reads it now, or tells a user's steps.

    >>> is_verdict("`.env` is ignored, so no risk."), is_verdict("`.env` is ignored by git.")
    (True, False)
    """
    return bool(_VERDICT.search(sentence) or _ADDRESSED.search(sentence))


def is_labelled(sentence: str) -> bool:
    """Whether a sentence is a point of a list that says something of its label.

    >>> is_labelled("`save`: takes the path"), is_labelled("`save` takes the path")
    (True, False)
    """
    return _LABELLED.match(sentence) is not None


def is_past(sentence: str) -> bool:
    """Whether a sentence tells what was, which may no longer be."""
    return _PAST.search(sentence) is not None


def stands_alone(sentence: str) -> bool:
    """Whether a sentence is one, and says by itself what it is about."""
    if is_question(sentence) or sentence.endswith((":", ",", "...", "…", "(", "-")):
        return False
    if sentence.count("`") % 2 or _SUBJECTLESS.match(sentence):
        return False
    return not _UNFIT_OPENING.match(sentence.lstrip("*_\"'`("))
