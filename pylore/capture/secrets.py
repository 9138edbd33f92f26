"""Find secrets in a text: fixed forms, values near a word of credentials, random runs.

Every repetition is bounded, so that time is linear in the text.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .readings import fold

if TYPE_CHECKING:
    from collections.abc import Iterator

Found = tuple[int, int, str]
"""Start, end and kind of a secret."""

_PREFIXES = (
    "AGE-SECRET-KEY- sk-ant- ATATT3 ATCTT3 cio dapi dop_v1_ doo_v1_ dor_v1_"
    " dckr_pat_ dckr_oat_ dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit. figd_ fm1_ fm2_ ghp_ gho_"
    " ghu_ ghs_ ghr_ github_pat_ glpat- gldt- glft- glsoat- glrt- glcbt- glimt- glptt- glagent-"
    " gloas- glffct- GR1348941 GOCSPX- AIza ya29. 1//0 glsa_ glc_ gsk_ HRKU- hf_ api_org_ lin_api_"
    " lin_oauth_ NRAK- ntn_ secret_ npm_ sk- pplx- pscale_tkn_ pscale_pw_ pscale_oauth_ PMAK- pypi-"
    " r8_ rubygems_ SG. sntrys_ sntryu_ shpat_ shpca_ shppa_ shpss_ xoxa- xoxb- xoxc- xoxd- xoxe-"
    " xoxe.xoxb- xoxe.xoxp- xoxp- xoxr- xoxs- xapp- xwfp- sq0atp- sq0csp- sq0idp- EAAA sk_live_"
    " rk_live_ pk_live_ sk_test_ rk_test_ pk_test_ whsec_ sbp_ sb_secret_ hvs. hvb. hvr. xai- u+"
)
"""Prefixes of tokens; 16 or more characters that do not read as words follow."""
_NO_SEED = "the|and|for|are|was|were|not|but|your|you|has|its|with|from|which|would|should|when"
_PARTS = {
    "START": r"(?:(?<![A-Za-z0-9_])|(?<=\\[nrt]))",
    "PREFIXES": "|".join(map(re.escape, _PREFIXES.split())),
    "CODE": r"(?=[A-Za-z-]{0,12}\d)[A-Za-z0-9]{4,12}(?:-[A-Za-z0-9]{4,12}){0,3}",
    "SEED": rf"(?!(?:{_NO_SEED})\b)[a-z]{{3,8}}\b",
}
_UUID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"

_FORMS_TEXT = r"""
private-key -----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,20}-----(?s:.)*?
    (?:-----END [A-Z0-9 ]{0,60}-----|\Z)|PuTTY-User-Key-File-\d:(?s:.)*
token «START»(?:«PREFIXES»)(?P<body>[\w=+~-]{16,400}(?:\.[\w=+/-]{8,400}){0,4})[\w=+/.-]*
token (?i)secret_?(?:access_?)?key[^\w/+]{1,9}
    (?P<secret>(?=[a-z/+]{0,39}\d)[a-z\d/+]{40})(?![a-z\d/+])
token (?<![\w-])eyJ[\w-]{10,}\.[\w-]{10,}(?:\.[\w-]*){0,3}
token (?<![\w-])(?:[A-Za-z][\w-]{22,30}\.[\w-]{6,7}\.[\w-]{27,45}
    |pat[A-Za-z0-9]{14}\.[0-9a-f]{64}|[A-Za-z0-9]{14}\.atlasv1\.[\w-]{60,})(?![\w-])
token «START»(?:A(?:KI|SI|BI|CC)A[A-Z0-9]{16,124}|key-[0-9a-f]{32}
    |[0-9a-f]{32}-(?:[0-9a-f]{8}-[0-9a-f]{8}|us\d{1,2}))(?![A-Za-z0-9_])
webhook (?:hooks\.slack\.com/(?:services|workflows|triggers)/|/api/webhooks/(?=\d{15}))
    (?P<secret>[\w/-]{20,})
hash \$(?:2[aby]|[156y]|7|apr1|argon2\w{1,2})\$[\w./=,+$-]{22,}
hash (?:pbkdf2|scram|SCRAM|scrypt)[\w.-]{0,20}[$.:](?P<secret>[\w./=,+$:-]{30,})
token (?<![\w-])(?:A3-)?[A-Z\d]{4,6}-(?=[A-Z-]{0,30}\d)(?=[\d-]{0,30}[A-Z])[A-Z\d]{4,6}
    (?:-[A-Z\d]{4,6}){2,6}(?![\w-])
url-password (?i)\bhttps?://(?P<secret>(?=[^\s/@:]{20}|(?=[^\s/@:]{0,19}\d)[^\s/@:]{12})
    [^\s/@:"'`${}<>\[]{12,2000}(?::[^\s/@"'`]{0,400})?)@
url-password ://[^\s/@:"'`]{0,100}:(?P<secret>[^\s@/"'`${}<>][^\s/"'`{}<>]{1,2000})@
header (?i)(?:authorization["']?\s?[:=]\s?["']?(?:\w{1,20} )?|\bbearer )
    (?P<secret>[\w.~+/=-]{16,})
header (?i)(?:\bcookie\\{0,3}["'`]?\s?:\s?|curl\b[^\n;]{0,120}?\s(?:-b|--cookie)[ =])["'`]?
    (?P<secret>[^\s=;:"'`\\$<{(]{1,60}=[^\n"'`\\]{3,})
seed-phrase (?i)(?:seed\b|mnemo|phrase|frase|wallet)[^\n]{0,40}?
    (?:\s?[:=\n"']|\s(?:is|ist|lautet|est|es)\b)[^a-z]{0,9}
    (?P<secret>«SEED»(?:[ ,\n\d.]{1,6}«SEED»){11,23})
recovery-codes (?i)(?<![a-z])(?:recovery|backup|scratch|rescue|emergency|2fa|mfa) codes?\b
    [^\n]{0,20}?[:=\s](?:[^\w]|_){0,9}
    (?P<secret>«CODE»(?:[\s,;|]{1,4}(?:«CODE»|\w{4,6}-\w{4,6})){0,19})
seed-phrase (?i)pass ?(?:phrase|word)\b[^\n]{0,40}?(?:\s?[:=]\s?|\sis\s)["'`]?
    (?P<secret>[a-z]{3,12}(?:-[a-z]{3,12}){3,7}|[a-z]{4}(?: [a-z]{4}){3}
    |(?<=["'`])«SEED»(?: «SEED»){3,9}(?=["'`]))(?![\w-])
password -(?<=\s-)(?:[A-Za-z]{0,4}?u|-user|-auth)[ =]?["']?[\w.@-]{1,60}?:
    (?P<secret>(?=[^\s"']{0,60}\d)(?=[^\s"']{0,60}[A-Za-z])[^\s"'`$<{/]{4,100})(?=["'\s]|\Z)
password (?:(?<![\w$])[A-Z_]{0,40}(?:PASSW(?:OR)?D|_PASS|_PWD?|_SECRET)|--[a-z-]{0,20}password)=
    ["']?(?P<secret>(?![<$]|(?i:true|false|yes|none|null|required)\b)[^\s"'`({[]{3,200})(?=["'\s;]|\Z)
password ^[\w.+-]{1,64}@[\w-]{1,40}(?:\.[a-z]{2,8}){1,3}:
    (?P<secret>(?=[a-zA-Z]{0,60}\d)(?=\d{0,60}[a-zA-Z])[^\s:/]{6,60})$
password (?i)(?<![a-z])(?:creds|credentials|login)(?: (?:is|are|with|as)|\s?[:=])\s[\w.@-]{2,40}
    \s?/\s?(?P<secret>(?![\w-]{1,60}\.[a-z])(?=\S{0,60}\d)[^\s/]{6,60})(?![\w/])
code (?i)(?<![a-z])(?:pin|otp|(?:verification|security|one-time|sms|otp|2fa|mfa) code)
    (?:\s?[:=]|\sis\b)\s?(?P<secret>\d{4,8})(?![.\w])
card-number (?<![\w.+/=-])(?:4\d{3}|5[1-5]\d\d|2[2-7]\d\d|6[045]\d\d|35\d\d)(?:[ -]?\d{4}){3}
    (?![\w-]|\.\d)|(?<![\w.+/=-])3[47]\d\d[ -]?\d{6}[ -]?\d{5}(?![\w-]|\.\d)
"""
"""Kind and expression of each form; indented lines continue an expression."""


def _forms() -> Iterator[tuple[str, re.Pattern[str]]]:
    text = _FORMS_TEXT
    for name, part in _PARTS.items():
        text = text.replace(f"«{name}»", part)
    for form in text.strip().replace("\n    ", "").split("\n"):
        kind, expression = form.split(" ", 1)
        yield kind, re.compile(expression, re.MULTILINE)


_FORMS = [*_forms()]
"""The first match names a secret."""
_TOKEN = _FORMS[1][1]


def found_by_form(text: str) -> Iterator[Found]:
    """Yield the secrets of a fixed form."""
    for kind, expression in _FORMS:
        for match in expression.finditer(text):
            groups = match.groupdict()
            if ("body" in groups and reads_as_words(groups["body"])) or (
                kind == "header" and not any(map(str.isdigit, match.group()))
            ):
                continue
            yield (*match.span("secret" if "secret" in groups else 0), kind)


def found_tokens(text: str) -> Iterator[Found]:
    """Yield tokens with a known prefix, for texts with joined lines."""
    for match in _TOKEN.finditer(text):
        if not reads_as_words(match["body"]):
            yield (*match.span(), "token")


_LANGUAGES = "|".join(
    fold(word.strip()).lower()
    for word in (
        "passwort | kennwort | mot de passe | contraseña | clave | senha | palavra-passe | parola"
        "| wachtwoord | hasło | heslo | jelszó | lösenord | adgangskode | passord | salasana"
        "| şifre | пароль | κωδικός | סיסמה"
        "| كلمة المرور | كلمة السر | पासवर्ड"
        "| 密码 | 密碼 | 口令"
        "| パスワード | 暗証番号 | 비밀번호 | 암호"
        "| mật khẩu | รหัสผ่าน | kata sandi"
    ).split("|")
)
_LOGIN = "login|log in|logged in|anmelde|melde dich|einlogg|zugang|connect|conect|ログイン"
_KEYS = "schlussel|cle|llave|chiave|ключ|キー|密钥"
_PROGRAMS = (
    "mysql|mariadb|psql|sshpass|curl|wget|htpasswd|chpasswd|openssl|docker|podman|net use|net user"
    "|ldap|kinit|smbclient|smbmap|cifs|vault|7z|unzip|zip|gpg|sqlcmd|mc alias|rclone|keytool"
    "|jarsigner|nmcli|wpa|snmp|ipmitool|cmdkey|securestring|rabbitmq|mosquitto|mongo|redis-cli"
    "|vnc|lftp|ftp|sqlplus|schtasks|psexec|winexe|runas|cryptsetup|luks|sudo -s"
    "|getconnection|mysqli|pymysql|psycopg|paramiko|send_keys|evil-winrm|crackmapexec|xfreerdp"
    "|rdesktop|wandb|snyk|codecov|twine|cqlsh|influx|restic|borg|pgpass|radtest|impacket|svn"
)
_BARE, _GIVEN_NEXT = r"(?<![a-z])%s(?![a-z])", r"(?<![a-z])%s(?=\\{0,3}[\"']?\s?[=:])"
_PASSWORD, _KEY, _OPTIONS, _NEAR = "password", "key", "options", "near"
_CREDENTIALS = tuple(
    (word, kind, re.compile(form % re.escape(word)))
    for kind, form, words in (
        (
            _PASSWORD,
            "%s",
            "passwd|password|passphrase|passcode|assword|_pwd|_pass|storepass|secret"
            f"|keypass|{_LANGUAGES}",
        ),
        (_PASSWORD, "%s(?= [\"'])", "identified by"),
        (_PASSWORD, r"(?<!by)(?<!com)(?<!sur)(?<!tres)%s(?![a-z])", "pass|pass_phrase"),
        (_PASSWORD, _BARE, "pw|rootpw|pwd|psk|mdp"),
        (
            _KEY,
            "%s[_ -]?key",
            "api|access|private|encryption|signing|account|admin|license|product"
            "|service|master|secret|auth|app",
        ),
        (_KEY, "%s", "credential|token|_key|_auth|_salt"),
        (_KEY, _GIVEN_NEXT, "auth|authkey|jwt|apikey|appid|bearer|sig|signature|sid"),
        (_OPTIONS, "(?<![a-z])%s", f"{_PROGRAMS}|{fold(_LOGIN)}"),
        (_NEAR, "%s(?=[ (=.:])", "auth|unlock|decrypt|identify|jwt|creds|wifi|jdbc"),
        (_NEAR, r"(?<![a-z])%s(?=[ =:]{1,3}\S)", f"key|{_KEYS}"),
        (_NEAR, r"(?<= )%s", "-p"),
        (_NEAR, r"%s[\w-]{1,40}(?:\.[a-z]{2,8}){1,3}:(?=[^\s/])", "@"),
        (_NEAR, r"\b%s(?=\s?[:/]\s?\S)", "admin|root|postgres|deploy"),
    )
    for word in words.split("|")
)
"""Lower-case words of credentials, their kinds, and patterns of their surroundings."""


_QUOTE = r"\\{0,3}[\"'`]?"
_IS = "|".join(map(fold, "is was to ist lautet war est es era é è jest to je är είναι это".split()))
_IS_GLUED = "|".join(map(fold, "は が 是 为 為 은 는 이 가".split()))
_ASSIGNED = re.compile(
    rf"(?P<sign>[sS]?{_QUOTE}[*_)\]]{{0,3}}(?:\s?=>?\s?|:\s?|\s?:=\s?)"
    rf"(?:[|>][+-]?\s?\n\s{{0,20}})?|>|{_QUOTE}(?:\(|,\s?)(?=[\"'][^\s\"']{{0,60}}\d)| (?=[^\s-]))"
    r"(?:\[\[|[*_(]{0,3})\s?(?:[bruf]{0,2}(?P<quote>\"{3}|\\{0,3}[\"'`])"
    r"(?P<quoted>(?:(?!(?P=quote))(?:\\[^\n]|[^\n\\])){6,200})"
    rf"|{_QUOTE}(?P<plain>(?:(?![,;&]\w{{1,40}}[=:])(?!\$[{{(])[^\s\"'`\\<]){{6,200}}))"
)
_SAID = re.compile(
    r"(?: [\w'/@.()-]{1,24}){0,5}?"
    rf"(?:\s?[:=]|\s?(?:{_IS_GLUED})|\s(?:{_IS})\b:?)\s{{0,3}}[\"'`]?"
    r"(?P<secret>(?!\d{1,2}[^\x00-\x7f])[^\s\"'`]{5,100}[^\s\"'`.,;!?)])"
)
_IS_KEY = re.compile(r"(?=\S{8})(?:\D*\d\S*[A-Za-z]|\S*[A-Za-z]\S*\d)")
_OPTION = re.compile(
    r" -[pPaw] ?[\"']?(?P<secret>(?=[^\s]{0,40}\d)"
    r"(?=[^\s]{0,40}[A-Za-z])[^\s\"'`:/]{4,100})"
)
"""An option with a password."""
_NO_VALUE = re.compile(
    r"[<$\s,.;:)|&>(\[{/]|\$?\{\w|%[({s]|\*{3}|[\w.:>-]{1,200}[(<\[]|-+\w|\.\.\.|x{4}"
    r"|(?:sha|md|utf|base|aes|rsa|oauth|argon|pbkdf|ipv|v|http)-?\d[\w.-]*\Z"
    r"|[\^~<>=]{0,2}\d+\.\d[\w.-]*\Z",
    re.IGNORECASE,
)
"""A placeholder, variable, call, path, version or name of an algorithm."""
_AHEAD, _BEHIND = 160, 70
"""Characters after and before a word of credentials in which random words are secrets."""
_WORD = re.compile(r"[!#-&*+\-./0-:=?-Z^_a-z~]{6,200}")
"""Characters without spaces, quotes, brackets, commas and backslashes."""
_HARMLESS_WORD = re.compile(
    r"://|\A(?:[$@.~]|%[A-Za-z_(][\w%.-]*\Z)|=[$%]|@[0-9a-f]{7,40}\Z|@[~^]?\d+\.|\A--"
    r"|\Av?[\^~<>=]*\d+(?:\.\d+)+|\d{4}-\d\d-\d\d|\A\d\d:\d\d|\A\w{0,6}#\d+\Z"
    r"|%.{1,4}%|\.[a-z]{1,5}(?:[:#]L?\d+)*\Z|[&|]{2}|\$\$"
    r"|\A(?:(?:sha\d+|md5)-|h1:)|\A[A-Za-z][a-z]*[\d.]*\++[a-z]*\Z|x{4,}|\*\*|[+=-]>"
)
_VALUE_BEFORE = re.compile(r"(?:[\"'`,\t>]|\s-[A-Za-z] |<<< ?|\becho |[:/|] )\Z")
"""Text before a string, the value of a field or option, or the input of a program."""
_USER_AT_HOST = re.compile(r"\w+/([^/@]+)@[\w./]+\Z")
_USER_AND_PASSWORD = re.compile(
    r":(?<=[\w.-]:)(?=[A-Za-z]{0,40}\d)(?=[A-Z\d]{0,40}[a-z])(?=[a-z\d]{0,40}[A-Z])"
    r"([A-Za-z\d]{10,40})(?![\w/.:+-])"
)
_EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[A-Za-z]{2,})+")
_NUMBERS = frozenset("10 11 12 16 32 64 128 256 512 1024 2048 4096 509 25519".split())
"""Numbers of several digits in identifiers; others belong to passwords."""
_SIGNS = frozenset("!@#$%^&*")


def found_beside(text: str) -> Iterator[Found]:
    """Yield values of words of credentials, and random words on the same line."""
    lower = text.lower()
    if len(lower) != len(text):  # lower case changes the length
        lower = text
    spans: list[list[int]] = []
    for start, stop, kind in _credentials(lower):
        if kind in (_PASSWORD, _KEY):
            yield from _given(text, stop, is_key=kind == _KEY)
        option = _OPTION.search(text, stop, stop + _AHEAD) if kind == _OPTIONS else None
        if option and _is_value(option["secret"]):
            yield (*option.span("secret"), "password")
        begin = max(start - _BEHIND, text.rfind("\n", max(0, start - _BEHIND), start) + 1)
        end = min(len(text), stop + _AHEAD)
        end += len(re.split(r"\s", text[end : end + 200])[0])  # to the end of the word
        if spans and begin <= spans[-1][1]:
            spans[-1][1] = max(end, spans[-1][1])
        else:
            spans.append([begin, end])
    for begin, end in spans:
        for word in _WORD.finditer(text, begin, end):
            yield from _random_parts(word, is_near=True)


def _credentials(lower: str) -> list[Found]:
    """Return spans and kinds of the words of credentials, in order."""
    found = []
    for word, kind, form in _CREDENTIALS:
        at = lower.find(word)
        while at >= 0:
            if match := form.match(lower, at):
                found.append((at, match.end(), kind))
            at = lower.find(word, at + len(word))
    return sorted(found)


def found_alone(text: str) -> Iterator[Found]:
    """Yield words of 8 or more characters of all four classes, and random words behind a user."""
    for match in _WORD.finditer(text):
        word = match.group()
        if (
            len(word) > 7
            and not _SIGNS.isdisjoint(word)
            and word != word.lower()
            and word != word.upper()
            and any(map(str.isdigit, word))
            and not re.search(r"[@#]\d+(?:\.\d+)*\Z|[=:/]", word)
        ):
            yield from _random_parts(match)
    for match in _USER_AND_PASSWORD.finditer(text):
        if _as_words(match[1]) < _AS_PATH:
            yield (*match.span(1), "password")


def _given(text: str, stop: int, *, is_key: bool) -> Iterator[Found]:
    """Yield the value assigned to a name, by a sign or in words."""
    match = _ASSIGNED.match(text, stop, stop + 260)
    if match:
        group = "quoted" if match["quoted"] else "plain"
        is_argument = match["sign"].strip()[-1:] in ("(", ",")
        if not (is_argument and is_key and reads_as_words(match[group])) and _is_value(
            match[group], is_key=is_key, is_quoted=group == "quoted"
        ):
            yield (*match.span(group), "password")
            return
    said = _SAID.match(text, stop, stop + 260)
    value = said["secret"] if said else ""
    is_name = is_key and (not _IS_KEY.match(value) or reads_as_words(value))
    if said and _is_value(value, is_key=is_key) and not is_name:
        yield (*said.span("secret"), "password")


def _is_value(value: str, *, is_key: bool = False, is_quoted: bool = False) -> bool:
    """Return True unless the value is a variable, a call, a type or prose."""
    if _NO_VALUE.match(value):
        return False
    if is_quoted and re.search(r"[\d\s!@#%^*&$]", value):
        return True
    if is_quoted or (is_key and re.fullmatch(r"[\w-]+(?:[./][\w-]+)+[,;)]?", value)):
        return len(value) > 7 and _as_words(value) < _AS_PATH
    no_value = r"[\d.]+|\d[\d.]*\W.*" if is_key else r"\d{1,3}"
    return not re.fullmatch(no_value, value) and bool(re.search(r"\d|[!@%^*].", value))


def _random_parts(match: re.Match[str], *, is_near: bool = False) -> Iterator[Found]:
    word, start = match.group(), match.start()
    if _HARMLESS_WORD.search(word):
        return
    is_value = is_near and _VALUE_BEFORE.search(match.string, max(0, start - 6), start)
    for part in re.finditer(r"[^:=]+", word):
        part = _USER_AT_HOST.match(word, *part.span()) or part
        piece = part.group(part.re.groups)
        if not _EMAIL.match(piece) and is_password(
            piece.strip(".*_?-+&"), is_value=bool(is_value) and piece == word
        ):
            first, last = part.span(part.re.groups)
            yield start + first, start + last, "password"


def is_password(word: str, *, is_value: bool = False) -> bool:
    """Return True for 6 to 64 characters of three classes, unless they form a name or path.

    ``is_value``: a quoted string or the value of an option, which names nothing.

    >>> [is_password(word) for word in ("falcon52Maple", "getUserV2", "src/Auth/Login2")]
    [True, False, False]
    >>> [is_password("falconMaple2", is_value=is_value) for is_value in (True, False)]
    [True, False]
    """
    if not 6 <= len(word) <= 64:
        return False
    has_sign = not _SIGNS.isdisjoint(word)
    classes = has_sign + (word != word.lower()) + (word != word.upper())
    has_digit = any("0" <= letter <= "9" for letter in word)
    if classes + has_digit < 3 or not (has_digit or len(word) > 9):
        return False
    if has_sign and has_digit and "/" not in word:
        return True
    is_value = is_value and re.fullmatch(r"[^/.@]{8,}\d", word) is not None
    return is_value or not _is_name(word)


def _is_name(word: str) -> bool:
    """Return True for words, or an identifier of words and usual numbers."""
    letters = sum(letter.isalnum() for letter in word)
    parts = re.findall(r"[A-Z]?[a-z]+|[A-Z]+|\d+", word)
    if _as_words(word) < _AS_NAME or letters < _LETTERS_A_PART * len(parts):
        return False
    numbers = {part for part in parts if part.isdigit() and len(part) > 1}
    return numbers <= _NUMBERS or re.search(r"[./]", word) is not None


def _as_words(text: str) -> float:
    """Return the share of common bigrams; 1 without a bigram."""
    runs = re.findall(r"[a-z]+", text.lower())
    pairs = [one + other for run in runs for one, other in zip(run, run[1:], strict=False)]
    return sum(pair in _COMMON for pair in pairs) / len(pairs) if pairs else 1.0


_AS_NAME, _AS_PATH = 0.4, 0.35
_LETTERS_A_PART = 2.1
"""Minimum mean length of the parts of an identifier."""

_AS_RUN = 0.45
_BEFORE, _JUST_BEFORE = 60, 16
"""Characters before a UUID or hexadecimal number, and before other runs, that may name it."""
_COMMON = frozenset(
    "in re er es te on ti ed at st en nt ng or de le co se ra li al io ar an it ri tr ro ta ve ec "
    "ns is me ce ne et un nd ca si pe ct ic ea di pr ac el as pa fi to la ts ma ch rs ss nc ge he "
    "ll ou lo ex mp ur th na mi su om ly ab po ie il rr em am pl im no ut rt bl ad ni id ee ha ul "
    "ke ol ep da od ap ty ef oo pt ot op sc ho so ig sp qu ck ia iv us sh ai os va ue".split()
)
"""The 120 most common bigrams of code and English."""
_RUN = re.compile(r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{20,}={0,2}")
_HEX = re.compile(r"(?:0x)?(?:[0-9a-f]{32,}|[0-9A-F]{32,})\Z")
_HAS_UUID = re.compile(_UUID, re.IGNORECASE)
_PREFIXED = re.compile(
    rf"(?P<prefix>(?:\w{{1,24}}[_-]){{1,3}}?)(?:[0-9a-f]{{32,}}|{_UUID})(?:[_-][0-9a-f]{{6,}})?\Z"
)
_KNOWN = re.compile(
    r"(?:toolu|srvtoolu|msg|req|call|chatcmpl|resp|run|thread|sess|session|item|evt|event|id|pr|v\d"
    r"|img|job|tmp|log|doc|file|task|test|build|cache|hash|commit|tree|blob|rev|user|agent|trace"
    r"|span|sha\w*|md5|conv\w*|turn|step|node|page|org|team|proj\w*|image|layer|obj|ref|tag|branch|g)"
    r"[_-]|0[0-7][0-9A-HJKMNP-TV-Z]{24}\Z|[\d-]+T\d"
)
"""Ids of agents, messages and things; ULIDs; times."""
_SAYS = re.compile(
    r"(?P<harmless>sha\d{0,3}\b|sha\d|md5|digest|hash|checksum|integrity|commit|merge|revision|\brev\b"
    r"|\btree|parent|blob|object|\bindex|\bhead|\bref|etag|fingerprint|\bh1:|\bzh:|trace|span|request"
    r"|checkpoint|uuid|\bid\b|_id\b|image|layer|build|container|snapshot|branch|version|base64,"
    r"|\bgit\b|artifact|ssh-\w+|public|packages/|uses:|@\Z)"
    r"|(?P<secret>key|secret|token|passw\w{0,9}|hmac\S{0,9}|pwd|salt|seed|private|credential|auth|bearer|login"
    r"|creds?\b|\s-t\s\Z)",
    re.IGNORECASE,
)
_AFTER = re.compile(r"\.[a-z]\w{0,5}\b(?!\.\w)|[\[(]|::|  \S| \*\S|@[\w-]{1,40}\.[a-z]")
"""Text after the name of a file or function, or a checksum."""


def found_by_chance(text: str) -> Iterator[Found]:
    """Yield random runs."""
    for match in _RUN.finditer(text):
        start, run = match.start(), match.group()
        pieces = [(0, run)]
        if "/" in run and not run.endswith("=") and _as_words(run) >= _AS_PATH:
            if "://" not in re.split(r"\s", text[max(0, start - 200) : start])[-1]:
                continue
            pieces = [(part.start(), part.group()) for part in re.finditer(r"[^/]{20,}", run)]
        for at, piece in pieces:
            begin, stop = start + at, start + at + len(piece)
            has_form = is_random(piece) or _HAS_UUID.search(piece)
            if has_form and not _is_harmless(text, begin, stop, piece):
                yield begin, stop, "high-entropy"


def is_random(run: str) -> bool:
    """Return True for a random run of characters.

    >>> is_random("getUserByIdAndName2OrDefault"), is_random("Zk3vQ9xT1bWm7RfLp0Ys")
    (False, True)
    """
    if _HEX.match(run) or _PREFIXED.match(run):
        return True
    if _HAS_UUID.search(run) or reads_as_words(run):
        return False
    kinds = bool(re.search("[0-9]", run)) + (run != run.lower()) + (run != run.upper())
    last = re.split("[_-]", run.rstrip("="))[-1]
    return kinds > 2 or (kinds > 1 and not run.isalpha() and last.isalnum() and len(last) > 19)


def reads_as_words(run: str) -> bool:
    """Return True if many bigrams are common."""
    lower = run.lower()
    common = sum(one + other in _COMMON for one, other in zip(lower, lower[1:], strict=False))
    return common >= _AS_RUN * (len(run) - 1)


def _is_harmless(text: str, start: int, stop: int, run: str) -> bool:
    """Return True for a commit, checksum, id or name, by form or words before."""
    if _KNOWN.match(run) or _AFTER.match(text, stop):
        return True
    is_number = _HEX.match(run) or _HAS_UUID.fullmatch(run)
    begin = max(start - (_BEFORE if is_number else _JUST_BEFORE), 0)
    said = [match.lastgroup for match in _SAYS.finditer(text, begin, start)]
    if said:
        return said[-1] == "harmless"
    if _PREFIXED.match(run):
        return False
    return _HAS_UUID.search(run) is not None or (len(run) == 40 and _HEX.match(run) is not None)
