"""Blank macros and conditions of C and C++ that grammars do not parse."""

from __future__ import annotations

import re

_MACRO = rb"[A-Z][A-Z0-9]*_[A-Z0-9_]*(?:\([^()\n]*\))?"
_GAP = rb"\s(?:\s|//[^\n]*\n|/\*(?:[^*/]|\*(?!/)|/(?!\*))*\*/)*"
_MACROS = (  # before a declaration, before the name of a class, before the body of a function
    re.compile(
        rb"\n[ \t]*(%s(?:\s+%s){0,4})(?=%s(?:class|enum|explicit|extern|friend|inline|namespace"
        rb"|static|struct|template|typedef|union|using|virtual)\b"
        rb"|\s(?!const\b|volatile\b)[A-Za-z_][\w:<>, ]{0,150}[*& ]{1,9}\w[\w:]*(?:<[\w:, ]*>)? ?\("
        rb"|\s~?\w+\([^;{}]{0,300}\)(?:\s*noexcept)?\s*:\s|\s~)" % (_MACRO, _MACRO, _GAP)
    ),
    re.compile(
        rb"(?:class|struct) ((?=\w*[A-Z]{2})\w+(?:\([^()\n]*\))?)(?=\s+(?!final\b)\w+(?:::\w+)*\s*"
        rb"(?:<[^{};]{0,200}>\s*)?(?:final\s*)?(?:\{|:(?!:)))"
    ),
    re.compile(rb"\)(?:\s+(?:const|final|noexcept|override))*(\s+%s)(?=\s*\{)" % _MACRO),
    re.compile(rb"\bif\s+([A-Z][A-Z0-9]*_[A-Z0-9_]*)(?=\s*\()"),
)
_DIRECTIVE = re.compile(rb"\n[ \t]*#[ \t]*(define|if|el|endif)(?:\\\r?\n|[^\n])*")
_COMMENT = re.compile(rb"/\*((?:[^*/]|\*(?!/))*)\*/")
_NO_CODE = re.compile(
    rb"//[^\n]*|/\*(?s:.*?)(?:\*/|\Z)|\n[ \t]*#(?:\\\r?\n|[^\n])*"
    rb"|\"(?:\\.|[^\"\\\n])*\"?|'(?:\\.|[^'\\\n]){1,9}'"
)
_LONGEST, _DEEPEST = 8000, 20  # maximum bytes of a condition, and conditions around it


def preprocessed(data: bytes) -> bytes:
    r"""Return a source with spaces for macros that mark a declaration, and for conditions around
    parts of statements, apart from the first branch; of ``#if 0``, the second.

    >>> preprocessed(b"\nA_API\nclass B {\n#if C\n  d(\n#else\n  e(\n#endif\n  f);").split()
    [b'class', b'B', b'{', b'd(', b'f);']
    """
    found = bytearray(data)
    opened: list[list[re.Match[bytes]]] = []
    for match in _DIRECTIVE.finditer(data):
        if match[1] == b"define":  # grammars end the definition at a comment
            found[match.start() : match.end()] = _COMMENT.sub(rb"  \1  ", match[0])
        elif match[1] == b"if":
            opened.append([match])
        elif opened:
            opened[-1].append(match)
        if match[1] == b"endif" and opened:
            marks = opened.pop()
            spans = [(a.end(), b.start()) for a, b in zip(marks, marks[1:], strict=False)]
            spans.append((match.end(), match.end()))
            begin, end = spans[marks[0][0].split()[1:2] == [b"0"]]
            is_short = match.end() - marks[0].start() < _LONGEST and len(opened) < _DEEPEST
            if is_short and any(_is_part(bytes(found[a:b])) for a, b in spans):
                _blank(found, marks[0].start(), begin)
                _blank(found, end, match.end())
    for pattern in _MACROS:
        for macro in pattern.finditer(bytes(found)):
            _blank(found, *macro.span(1))
    return bytes(found)


def _blank(data: bytearray, begin: int, end: int) -> None:
    data[begin:end] = re.sub(rb"[^\n]", b" ", data[begin:end])


def _is_part(branch: bytes) -> bool:
    """Return True if a branch begins or ends within a statement."""
    code = _NO_CODE.sub(b"", branch).strip()
    if code[-1:] not in b";:}" or code.startswith((b"else", b"&", b"|", b"?", b":", b",", b")")):
        return True
    return any(code.count(pair[:1]) != code.count(pair[1:]) for pair in (b"{}", b"()", b"[]"))
