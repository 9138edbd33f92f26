"""What a secret looks like, in texts read in their normal forms: by chance, by form, by name."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections import Counter
from functools import lru_cache
from math import log2

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


if TYPE_CHECKING:
    Check = Callable[[re.Match[str]], bool]


_ODD = re.compile(r"[^\x00-\x7f]|\x1b\[[\d;]{0,20}[A-Za-z]")
"""A letter that is not ASCII, or a colour of a terminal."""
_ESCAPE = re.compile(
    r"%([2-7][0-9A-Fa-f])|\\u00([2-7][0-9A-Fa-f])|\\x([2-7][0-9A-Fa-f])|&#x([2-7][0-9A-Fa-f]);"
    r"|&(amp|quot|apos|lt|gt);"
)
_NAMED = {"amp": "&", "quot": '"', "apos": "'", "lt": "<", "gt": ">"}
_LINE_END = re.compile(r"(?<=[\w+/=.-]{4})[\\=]?\r?\n[ \t]{0,80}(?=[\w+/=.-]{4})")
_QUOTES = str.maketrans("“”„«»「」‘’‚", '"""""""\'\'\'')


class View:
    """A reading of a text.

    ``_seen`` has where its stretches begin, ``_real`` where they do in the original; every other
    stretch, from the second one on, stands for something else.
    """

    __slots__ = ("_real", "_seen", "joins", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.joins: list[int] = []
        """Where lines were joined."""
        self._seen = [0]
        self._real = [0]

    def edited(self, pattern: re.Pattern[str], edit: Callable[[re.Match[str]], str]) -> View:
        """Return a view with ``edit`` of each match in its place."""
        parts: list[str] = []
        size = end = 0
        view = View("")
        for match in pattern.finditer(self.text):
            start, stop = match.span()
            new = edit(match)
            if len(new) != stop - start:
                begin = size + start - end
                view._seen += begin, begin + len(new)
                view._real += self.original(start, start)[0], self.original(start, stop)[1]
            parts += self.text[end:start], new
            size += start - end + len(new)
            end = stop
            view.joins.append(size)
        view.text = "".join(parts) + self.text[end:]
        return view

    def original(self, start: int, stop: int) -> tuple[int, int]:
        """Return the stretch of the original that a stretch of the view stands for.

        Where a part of what was edited is meant, all of it is.
        """
        at = bisect_right(self._seen, start) - 1
        first = self._real[at] + (0 if at % 2 else start - self._seen[at])
        if stop <= start:
            return first, first
        at = bisect_left(self._seen, stop) - 1
        if at % 2:
            return first, self._real[at + 1]
        return first, self._real[at] + stop - self._seen[at]


def views(text: str) -> list[View]:
    """Return the readings of a text: the plain one, and those that differ from it.

    >>> [view.text for view in views("ｐａｓｓ\\u200bword%3Da")]
    ['password%3Da', 'password=a']
    """
    plain = View(text)
    if not text.isascii() or "\x1b" in text:
        plain = plain.edited(_ODD, _plain_of)
    found = [plain]
    for _ in range(2):  # what was escaped twice, too
        if not _ESCAPE.search(found[-1].text):
            break
        found.append(found[-1].edited(_ESCAPE, _unescaped))
    return found


def joined(view: View) -> View | None:
    """Return a view whose lines are joined where a token may go on, None if there is none."""
    if "\n" not in view.text or not _LINE_END.search(view.text):
        return None
    return view.edited(_LINE_END, lambda _: "")


def fold(text: str) -> str:
    """Return a text as the plain reading has it.

    >>> fold("Contraseña：«ﬁ…»")
    'Contrasena:"fi..."'
    """
    return "".join(map(_plain, text))


def _plain_of(match: re.Match[str]) -> str:
    return _plain(match.group())


@lru_cache(4096)
def _plain(letter: str) -> str:
    if letter[0] == "\x1b":
        return ""
    return "".join(
        part
        for part in unicodedata.normalize("NFKD", letter.translate(_QUOTES))
        if unicodedata.category(part) not in ("Mn", "Me", "Cf")
    ).translate(_QUOTES)


def _unescaped(match: re.Match[str]) -> str:
    name = match.group(5)
    return _NAMED[name] if name else chr(int(match.group(match.lastindex or 0), 16))


SHORTEST = 20
_SHORTEST_OF_TWO = 28
"""Letters of a run that has no capitals, or no small letters."""
_AS_WORDS = 0.45
_ENTROPY, _ENTROPY_OF_HEX = 3.5, 3.0
_BEFORE = 60
"""Letters before a run that may say what it is."""

_COMMON = frozenset(
    "in re er es te on ti ed at st en nt ng or de le co se ra li al io ar an it ri tr ro ta ve ec "
    "ns is me ce ne et un nd ca si pe ct ic ea di pr ac el as pa fi to la ts ma ch rs ss nc ge he "
    "ll ou lo ex mp ur th na mi su om ly ab po ie il rr em am pl im no ut rt bl ad ni id ee ha ul "
    "ke ol ep da od ap ty ef oo pt ot op sc ho so ig sp qu ck ia iv us sh ai os va ue".split()
)
"""The 120 most common pairs of letters in the words of code and English."""

_RUN = re.compile(r"(?<![A-Za-z0-9+/_=-])[A-Za-z0-9+/_-]{20,}={0,2}")
_HEX = re.compile(r"(?:0x)?(?:[0-9a-f]{32,}|[0-9A-F]{32,})\Z")
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_KNOWN = re.compile(
    r"(?:toolu|srvtoolu|msg|req|call|chatcmpl|resp|run|thread|sess|session|item|evt|event|id|pr|v\d)"
    r"[_-]|0[0-7][0-9A-HJKMNP-TV-Z]{24}\Z|[\d-]+T\d"
)
"""Ids of agents and their messages, ULIDs, times."""
_SAYS = re.compile(
    r"(?P<harmless>sha\d{0,3}\b|sha\d|md5|digest|hash|checksum|integrity|commit|merge|revision|\brev\b"
    r"|\btree|parent|blob|object|\bindex|\bhead|\bref|etag|fingerprint|\bh1:|\bzh:|trace|span|request"
    r"|checkpoint|uuid|\bid\b|_id\b|image|layer|build|container|snapshot|branch|version|base64,"
    r"|\bgit\b|artifact|ssh-\w+|public)"
    r"|(?P<secret>key|secret|token|passw|pwd|salt|seed|private|credential|auth|bearer)",
    re.IGNORECASE,
)
_AFTER = re.compile(r"\.[a-z]\w{0,5}\b(?!\.\w)|[\[(]|::|  \S| \*\S")
"""Behind the name of a file, a function, or the sum of a file."""
_WORD = re.compile(r"[A-Za-z]{3,}")


def found_by_chance(whole: str) -> Iterator[tuple[int, int, str]]:
    """Yield where letters by chance stand in a text, and what they are called."""
    for match in _RUN.finditer(whole):
        start, run = match.start(), match.group()
        pieces = [(0, run)]
        if "/" in run and _is_path(run):
            begin = max(whole.rfind(" ", 0, start), whole.rfind("\n", 0, start)) + 1
            if "://" not in whole[begin:start]:
                continue
            pieces = [(part.start(), part.group()) for part in re.finditer(r"[^/]{20,}", run)]
        for at, piece in pieces:
            begin, stop = start + at, start + at + len(piece)
            if is_random(piece) and not _is_harmless(whole, begin, stop, piece):
                yield begin, stop, "high-entropy"


def is_random(run: str) -> bool:
    """Return whether letters stand together by chance.

    >>> is_random("getUserByIdAndName2OrDefault"), is_random("Zk3vQ9xT1bWm7RfLp0Ys")
    (False, True)
    """
    if _HEX.match(run):
        return entropy(run) >= _ENTROPY_OF_HEX
    if len(run) < SHORTEST or _UUID.search(run) or reads_as_words(run):
        return False
    kinds = (
        any("0" <= letter <= "9" for letter in run) + (run != run.lower()) + (run != run.upper())
    )
    if kinds < 3 and (len(run) < _SHORTEST_OF_TWO or not run.rstrip("=").isalnum()):
        return False
    return kinds > 1 and not run.isalpha() and entropy(run) >= _ENTROPY


def reads_as_words(run: str) -> bool:
    """Return whether most neighbours among the letters are those of words, or of an alphabet."""
    lower = run.lower()
    common = sum(
        one + other in _COMMON or 0 <= ord(other) - ord(one) <= 1
        for one, other in zip(lower, lower[1:], strict=False)
    )
    return common >= _AS_WORDS * (len(run) - 1)


def entropy(run: str) -> float:
    """Return Shannon's entropy of a text, in bits a letter."""
    size = len(run)
    return -sum(count / size * log2(count / size) for count in Counter(run).values())


def _is_path(run: str) -> bool:
    return any(reads_as_words(word) for word in _WORD.findall(run)) or run.count("/") > len(run) / 8


def _is_harmless(whole: str, start: int, stop: int, run: str) -> bool:
    """Return whether a run is a commit, a sum, an id or a name, by itself or by what is beside."""
    if _KNOWN.match(run) or _AFTER.match(whole, stop):
        return True
    begin = max(start - _BEFORE, whole.rfind("\0", 0, start) + 1)
    said = [match.lastgroup for match in _SAYS.finditer(whole[begin:start])]
    if said:
        return said[-1] == "harmless"
    return len(run) == 40 and _HEX.match(run) is not None


TOKENS = {
    "age-key": "AGE-SECRET-KEY-",
    "anthropic-key": "sk-ant-",
    "atlassian-token": "ATATT3 ATCTT3",
    "aws-key-id": "AKIA ASIA ABIA ACCA",
    "crates-token": "cio",
    "databricks-token": "dapi",
    "digitalocean-token": "dop_v1_ doo_v1_ dor_v1_",
    "docker-token": "dckr_pat_ dckr_oat_",
    "doppler-token": "dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.",
    "figma-token": "figd_",
    "flyio-token": "fm1_ fm2_",
    "github-token": "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_",
    "gitlab-token": "glpat- gldt- glft- glsoat- glrt- glcbt- glimt- glptt- glagent- gloas- glffct- "
                    "GR1348941",
    "google-client-secret": "GOCSPX-",
    "google-key": "AIza",
    "google-oauth": "ya29. 1//0",
    "grafana-token": "glsa_ glc_",
    "groq-key": "gsk_",
    "heroku-key": "HRKU-",
    "huggingface-token": "hf_ api_org_",
    "linear-key": "lin_api_ lin_oauth_",
    "newrelic-key": "NRAK-",
    "notion-token": "ntn_ secret_",
    "npm-token": "npm_",
    "openai-key": "sk-",
    "perplexity-key": "pplx-",
    "planetscale-token": "pscale_tkn_ pscale_pw_ pscale_oauth_",
    "postman-key": "PMAK-",
    "pypi-token": "pypi-",
    "replicate-token": "r8_",
    "rubygems-key": "rubygems_",
    "sendgrid-key": "SG.",
    "sentry-token": "sntrys_ sntryu_",
    "shopify-token": "shpat_ shpca_ shppa_ shpss_",
    "slack-token": "xoxa- xoxb- xoxc- xoxd- xoxe- xoxe.xoxb- xoxe.xoxp- xoxp- xoxr- xoxs- xapp- "
                   "xwfp-",
    "square-token": "sq0atp- sq0csp- sq0idp- EAAA",
    "stripe-key": "sk_live_ rk_live_ pk_live_ sk_test_ rk_test_ pk_test_ whsec_",
    "supabase-key": "sbp_ sb_secret_",
    "vault-token": "hvs. hvb. hvr.",
    "xai-key": "xai-",
}  # fmt: skip
"""Beginnings of tokens: at least 16 letters follow that do not read as words."""

_START = r"(?:(?<![A-Za-z0-9_])|(?<=\\[nrt]))"
_END = r"(?![A-Za-z0-9_])"
_QUOTE = r"\\{0,3}[\"'`]?"
"""A quotation mark, that of JSON within JSON too, or none."""
_SIGN = r"(?:\s?=\s?|:\s?|\s?:=\s?|\s=>\s)"
_QUOTED = r"(?:(?!(?P=quote))(?:\\[^\n\x00]|[^\n\x00\\]))"
"""A letter within quotes, which may be escaped."""
_PLAIN = r"(?:(?![,;&]\w{1,40}[=:])(?!\$[{(])[^\s\x00\"'`\\])"
"""A letter of a value without quotes: it ends before the next field, and before what is put in."""
_ARGUMENTS = r"(?:\s[^\n\x00|;&]{0,100}?)?"
_VALUE = r"(?![<$%{\[|&(])[^\s\x00\"'`,;\\]"
"""A letter that a value may begin with, or go on with."""

_PASSWORD = r"passw(?:or)?d|passphrase|secret|_pwd|_pass|(?<![^\s,;?&])pwd|(?<=[?&])pass"
_KEY = (
    r"(?:api|access|private|encryption|signing|account|sharedaccess)_?-?key"
    r"|(?:auth|access|refresh|id)_?-?token|credentials?|_token|_key|_auth|(?<![^\s?&])token"
    r"|(?<=[?&])(?:sig|x-amz-signature|x-goog-signature|key|code|jwt|sid)"
)
_WORDS = "|".join(
    fold(word.strip()).lower()
    for word in (
        "password | passphrase | passcode | passwort | kennwort | mot de passe | contraseña | clave"
        "| senha | palavra-passe | parola | wachtwoord | hasło | heslo | jelszó | lösenord"
        "| adgangskode | passord | salasana | şifre | пароль | κωδικός | סיסמה | كلمة المرور"
        "| كلمة السر | पासवर्ड | 密码 | 密碼 | 口令 | パスワード | 暗証番号 | 비밀번호 | 암호"
        "| mật khẩu | รหัสผ่าน | kata sandi"
    ).split("|")
)
_IS = "|".join(
    fold(word) for word in "is was to ist lautet war est es era é è jest to je är είναι это".split()
)
_IS_GLUED = "|".join(map(fold, "は が 是 为 為 은 는 이 가".split()))
_CODE = r"(?=[A-Za-z-]{0,12}\d)[A-Za-z0-9]{4,12}(?:-[A-Za-z0-9]{4,12}){0,3}"
_NO_SEED = "the and for are was were not but your you has its with from which would should when"
_SEED = rf"(?!(?:{_NO_SEED.replace(' ', '|')})\b)[a-z]{{3,8}}\b"
_NO_VALUE = re.compile(
    r"[<$\s,.;:)|&>(\[]|\{\{|\$?\{\w|%[({s]|\*{3}|[\w.:]{1,200}[(<\[]"
    r"|(?:sha|md|utf|base|aes|rsa|oauth|argon|pbkdf|ipv|v|http)-?\d[\w.-]*\Z",
    re.IGNORECASE,
)
"""What begins like a placeholder, a variable or a call, or is the name of an algorithm."""


def _is_token(match: re.Match[str]) -> bool:
    return not reads_as_words(match.group("body"))


def _is_assigned(match: re.Match[str]) -> bool:
    """Return whether what a name is given is a value, not a variable, a call, a type or prose."""
    name, value = match.group("name").lower(), match.group("quoted") or match.group("plain")
    is_key = re.fullmatch(_KEY, name) is not None or "key" in name or "token" in name
    if len(value) < (8 if is_key else 6):
        return False
    if match.group("quoted"):
        if re.match(r"[<$\s,.;:)]|\{\{|\$?\{\w|%[({s]", value):
            return False
        return re.search(r"[\d!@#%^*&$]" if is_key else r"[\d\s!@#%^*&$]", value) is not None
    if re.match(r"[<$({\[|&;,>)]|[\w.:]{0,200}[(<\[]", value):
        return False
    if is_key and re.match(r"\d+(?:\.\d+)?\b(?![\w!@#%^*])", value):
        return False
    return re.search(r"[\d!@#%^*]", value) is not None


def _is_said(match: re.Match[str]) -> bool:
    """Return whether a word behind "the password is" is one: letters, and a digit or a sign."""
    value = match.group("secret")
    return (
        not _NO_VALUE.match(value)
        and re.search(r"[\d!@#$%^&*+=]", value) is not None
        and re.search(r"[^\W\d]", value) is not None
        and not re.search(r"://|\w\(|^[\w-]{1,30}(?:/[\w.-]+)+$|^[\w/.-]+\.[a-z]{1,5}$", value)
    )


def _is_card(match: re.Match[str]) -> bool:
    """Return whether digits are a card number: those of one of the networks, by Luhn's sum."""
    digits = [int(digit) for digit in match.group() if digit.isdigit()]
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[-2::-2]]
    return len({*digits}) > 1 and (sum(doubled) + sum(digits[-1::-2])) % 10 == 0


class Form:
    """One kind of secret."""

    __slots__ = ("_compiled", "_text", "check", "example", "folds", "marks", "name")

    def __init__(
        self, name: str, marks: str, text: str, example: str, check: Check | None = None
    ) -> None:
        self.name = name
        self.marks = tuple(marks.split("|"))
        """Where none of them is in a text, the expression is not tried; lower case where the
        expression takes both."""
        self.example = example
        self.check = check
        self.folds = text.startswith("(?i)")
        self._text = text
        self._compiled: re.Pattern[str] | None = None

    @property
    def expression(self) -> re.Pattern[str]:
        """Compiled when it is asked for: a live hook needs few of them."""
        if self._compiled is None:
            self._compiled = re.compile(self._text, re.MULTILINE)
        return self._compiled


_BEGINNINGS = sorted(" ".join(TOKENS.values()).split(), key=len, reverse=True)
_TOKEN = (
    rf"{_START}(?P<beginning>{'|'.join(map(re.escape, _BEGINNINGS))})"
    r"(?P<body>[\w=+~-]{16,}(?:\.[\w=+/-]{8,}){0,4})"
)
_NAMES = {beginning: name for name, some in TOKENS.items() for beginning in some.split()}

FORMS = (
    Form(
        "private-key", "PRIVATE KEY|PuTTY-User-Key",
        r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,20}-----[^\x00]*?"
        r"(?:-----END [A-Z0-9 ]{0,60}-----|(?=\x00)|\Z)|PuTTY-User-Key-File-\d:[^\x00]*",
        "-----BEGIN RSA PRIVATE KEY-----\n«<48b>»\n-----END RSA PRIVATE KEY-----",
    ),
    Form("key-material", "",
         r"^(?=[^\n\x00]*[G-Zg-z+/])(?=[^\n\x00]*\d)(?=[^\n\x00]*[A-Z])[A-Za-z0-9+/]{60,76}={0,2}$",
         "it goes on with\n«<48b>»"),
    Form("token", "", _TOKEN, "I used «ghp_<36>» for that", _is_token),
    Form("jwt", "eyJ", r"eyJ[\w-]{10,}\.[\w-]{10,}(?:\.[\w-]*)?", "as «eyJ<30>.<60>.<43u>» says"),
    Form("airtable-token", "pat", rf"{_START}pat[A-Za-z0-9]{{14}}\.[0-9a-f]{{64}}",
         "airtable has «pat<14>.<64h>»"),
    Form("aws-secret", "aws",
         rf"(?i)aws[\w.-]{{0,30}}(?:secret|session|key|token)[\w.-]{{0,20}}{_QUOTE}\s{{0,3}}[=:\s]"
         rf"\s{{0,3}}{_QUOTE}(?P<secret>[A-Za-z0-9/+=]{{38,}})", "aws_secret_access_key = «<40>»"),
    Form("azure-client-secret", "8Q~|7Q~",
         r"(?<![\w~.-])[\w~.-]{3}[78]Q~[\w~.-]{31,34}(?![\w~.-])", "the client has «<3>8Q~<34>»"),
    Form("slack-webhook", "hooks.slack.com/",
         r"hooks\.slack\.com/(?:services|workflows|triggers)/(?P<secret>[\w/]{20,})",
         "POST https://hooks.slack.com/services/«T<10U>/B<10U>/<24>»"),
    Form("discord-webhook", "/api/webhooks/", r"/api/webhooks/(?P<secret>\d{15,}/[\w-]{30,})",
         "https://discord.com/api/webhooks/«<18d>/<68u>»"),
    Form("discord-token", ".",
         r"(?<![\w-])[A-Za-z][\w-]{22,30}\.[\w-]{6,7}\.[\w-]{27,45}(?![\w-])",
         'client.login("«M<25>.<6u>.<37u>9»")'),
    Form("heroku-key", "heroku",
         r"(?i)heroku[\w .-]{0,30}(?:key|token|secret)[\w\"' ]{0,5}[=:\s]\s?[\"']?"
         r"(?P<secret>[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})",
         "HEROKU_API_KEY=«<8h>-<4h>-<4h>-<4h>-<12h>»"),
    Form("twilio-key", "AC|SK",
         rf"{_START}(?:AC|SK)[0-9a-f]{{32}}(?:[^\w\x00]{{1,8}}[0-9a-f]{{32}})?{_END}",
         'Client("«AC<32h>", "<32h>»")'),
    Form("mailgun-key", "-",
         rf"{_START}key-[0-9a-f]{{32}}{_END}|{_START}[0-9a-f]{{32}}-(?:[0-9a-f]{{8}}-[0-9a-f]{{8}}|"
         rf"us\d{{1,2}}){_END}", "mailgun «key-<32h>»"),
    Form("telegram-token", ":AA", r"(?<!\d)\d{8,10}:AA[\w-]{32,34}(?![\w-])",
         "api.telegram.org/bot«<10d>:AA<33u>»/getMe"),
    Form("terraform-token", ".atlasv1.", r"[A-Za-z0-9]{14}\.atlasv1\.[\w-]{60,}",
         "terraform takes «<14>.atlasv1.<67>»"),
    Form("crypt", "$", r"\$(?:2[aby]|[156y]|7|argon2\w{1,2})\$[\w./=,+$-]{30,}",
         "root:«$6$<16>$<86>»:19000:0"),
    Form("url-token", "://",  # all before the @, where that is no name of a person or of git
         r"(?i)\bhttps?://(?P<secret>(?=[^\s/@:\x00]{20}|(?=[^\s/@:\x00]{0,19}\d)[^\s/@:\x00]{12})"
         r"[^\s/@:\x00\"'`${}<>\[]+(?::[^\s/@\x00\"'`]*)?)@", "https://«0<16>»@git.example.org/x"),
    Form("url-password", "://",
         r"://[^\s/@:\x00\"'`]{0,100}:(?P<secret>[^\s@\x00/\"'`${}<>][^\s\x00/\"'`${}<>]{1,200})@",
         "postgresql://app:«<12>»@db.example.org/app"),
    Form("authorization",
         "authorization|bearer |x-api-key|x-auth-token|private-token|api-key:",
         r"(?i)(?:(?:proxy-)?authorization[\"']?\s?[:=]\s?[\"']?(?:\w+ )?|\bbearer "
         r"|(?:x-api-key|x-auth-token|private-token|api-key)[\"']?\s?[:=]\s?[\"']?)"
         r"(?P<secret>[A-Za-z0-9._~+/=-]{16,})", "Authorization: Bearer «<40>»"),
    Form("token-header", "-token|-key|-secret",
         rf"(?i)(?<![\w-])(?:(?:private|job|deploy)-token{_QUOTE}{_SIGN}{_QUOTE}|(?:x(?:-\w{{1,30}})"
         rf"{{0,4}}|api|auth)-(?:token|key|secret){_QUOTE}{_SIGN}{_QUOTE}(?=[^\s\x00\"'`]{{0,100}}\d))"
         rf"(?P<secret>(?:{_VALUE}){{6,}})", "curl -H 'X-Vault-Token: s1«<10>»'"),
    Form("cookie", "cookie|curl",
         rf"(?i)(?:\bcookie{_QUOTE}\s?:\s?|curl\b[^\n\x00]{{0,300}}?\s(?:-b|--cookie)[ =]){_QUOTE}"
         r"(?P<secret>[^\s=;:\x00\"'`\\$<{(]{1,100}=[^\n\x00\"'`\\]{3,})",
         "curl -s -b 'sid=«<16>»' https://x.example.org"),
    Form("netrc", "password",
         r"(?i)\b(?:login|machine)\s{1,9}\S{1,200}\s{1,9}password\s{1,9}(?P<secret>[^\s\x00]{3,})",
         "machine git.example.org login deploy password «<16>»"),
    Form("user-option", "curl|wget|http",
         r"\s(?:-u|--user|--http-password|--proxy-user)[ =][\"']?[^\s:\x00\"']{1,200}:"
         r"(?P<secret>[^\s\x00\"'$]{3,})", "curl -u admin:«<14>» https://x.example.org"),
    Form("password-option",
         "mysql|mariadb|sshpass|--pass|--token|--api-key|--secret|login|redis-cli|mongo|cqlsh"
         "|rabbitmqadmin|sqlcmd|mosquitto|zip|ldap| pass:",
         rf"(?:\b(?:sshpass -p ?|(?:mysql|mariadb)\w{{0,20}}{_ARGUMENTS}\s-p"
         rf"|(?:login|mongo\w{{0,7}}|cqlsh|rabbitmqadmin){_ARGUMENTS}\s-p[ =]?"
         rf"|redis-cli{_ARGUMENTS}\s-a[ =]?|ldap\w{{1,20}}{_ARGUMENTS}\s-w[ =]?"
         rf"|(?:sqlcmd|mosquitto_\w{{1,9}}|(?:un)?zip){_ARGUMENTS}\s-P[ =]?)"
         r"|--(?:password|passwd|passphrase|pass|token|api-key|secret)[ =]"
         r"|\s-pass(?:in|out)? pass:)"
         rf"(?![\"']?[<$\{{\[-])(?P<quote>[\"'])?"
         rf"(?P<secret>(?(quote){_QUOTED}{{3,}}|[^\s\x00\"'`]{{4,}}))",
         "docker login -u me -p «<12>» registry.example.org"),
    Form("password-command", "passwd|sudo",
         r"\b(?:echo|printf)(?: -\w{1,3})?\s{1,9}[\"']?(?:[\w.-]{1,40}:)?"
         r"(?P<secret>(?![$<])[^\s\x00\"'|]{4,})[\"']?\s{0,9}\|\s{0,9}(?:sudo )?"
         r"(?:chpasswd|passwd\b|sudo (?:-\w+ ){0,3}-\w*S)"
         r"|\bhtpasswd\s{1,9}(?:-\w{1,9}\s{1,9}){0,4}-\w{0,6}b\w{0,6}\s[^\n\x00|;&]{1,100}\s"
         r"(?P<other>(?![$<-])[^\s\x00\"'|;&]{4,})|\bchpasswd\s{0,9}<<<\s{0,9}(?P<third>[^\s\x00]{4,})",
         "echo root:«<12>» | chpasswd"),
    Form("connection-string", "pwd=|password=",
         r"(?i)[;\"'](?:pwd|password)=(?P<secret>[^;\x00\"'\s$]{3,})",
         "Server=db;User Id=sa;Password=«<14>»;Encrypt=yes"),
    Form("assigned-secret", "pass|secret|token|key|credential|pwd|auth|sig|code=|jwt|sid",
         rf"(?i)(?P<name>{_PASSWORD}|{_KEY}){_QUOTE}{_SIGN}"
         rf"(?:(?P<quote>\\{{0,3}}[\"'`])(?P<quoted>{_QUOTED}{{6,}})|{_QUOTE}(?P<plain>{_PLAIN}{{6,}}))",
         'password = "«<14>»"', _is_assigned),
    Form("said-password", _WORDS,
         rf"(?i)(?:{_WORDS})(?: [\w'/@.-]{{1,24}}){{0,5}}?"
         rf"(?:\s?[:=]|\s?(?:{_IS_GLUED})|\s(?:{_IS})\b:?)"
         r"\s{0,3}[\"'`]?(?=[^\s\x00]{0,200}[\d!@#$%^&*+=])"
         r"(?P<secret>[^\s\x00\"'`]{5,200}[^\s\x00\"'`.,;!?)])",
         "my root password on staging is «x9<10>»", _is_said),
    Form("said-token", "token|secret|api key",
         r"\b(?:token|secret|api key) (?:is|was|to)[: ]\s?[\"'`]?"
         r"(?P<secret>(?=\S{0,99}\d)(?=\S{0,99}[A-Z])(?=\S{0,99}[a-z])[\w!@#%^&*+=]{8,})(?![\w/.-])",
         "the token is «<20>»"),
    Form("seed-phrase", "seed|mnemonic|recovery phrase|wallet|secret phrase|backup phrase",
         r"(?i)\b(?:seed|mnemonic|(?:recovery|secret|backup) phrase|wallet)\b"
         r"[^\n\x00]{0,40}?(?:\s?[:=\n\"']|\sis\b)"
         rf"[^\w\x00]{{0,9}}(?P<secret>{_SEED}(?:[ ,\n]{{1,3}}{_SEED}){{11,23}})",
         'seed phrase: «<12w>»'),
    Form("recovery-codes", "code",
         r"(?i)\b(?:recovery|backup|scratch|rescue|emergency|2fa|mfa) codes?\b"
         r"[^\n\x00]{0,20}?[:=\s]"
         rf"(?:[^\w\x00]|_){{0,9}}(?P<secret>{_CODE}(?:[\s,;|]{{1,4}}{_CODE}){{0,19}})",
         "recovery codes: «4<4l>-<5l> 7<4l>-<5l>»"),
    Form("card-number", "",
         r"(?<![\w.+/=-])(?:4\d{3}|5[1-5]\d\d|2[2-7]\d\d|6[045]\d\d|35\d\d)"
         r"(?:[ -]?\d{4}){3}(?![\w-]|\.\d)"
         r"|(?<![\w.+/=-])3[47]\d\d[ -]?\d{6}[ -]?\d{5}(?![\w-]|\.\d)",
         "pay with «<16c>» please", _is_card),
)  # fmt: skip
"""The first to find a secret names it."""


_LEAST_MARK = 3
_ALL_MARKS = {mark.lower() for form in FORMS for mark in form.marks if len(mark) >= _LEAST_MARK}
_MARK = re.compile("|".join(
    re.escape(mark) for mark in sorted(_ALL_MARKS)
    if not any(other in mark for other in _ALL_MARKS - {mark})
))  # fmt: skip
_FORMS_RUN = re.compile(
    r"(?<![\w/+=.~-])(?=[A-Za-z/_+=.~-]{0,80}\d)[\w/+=.~-]{16,}|\w{30,}|\d{4}[ -]?\d{4}"
    r"|[\xad\xc0-\u1fff\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2c00-\uffff\U0001d400-\U0001d7ff]"
)
_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?:toolu|msg)_[0-9A-Za-z]{24}")


def may_hold(text: str) -> bool:
    """Return whether a text is to be looked at closely.

    It has a mark of a form, a run of letters that could be a token, or letters that are not read
    as they stand. A path without a digit is none of it, nor is an id, as half of the texts are.
    """
    if _MARK.search(text.lower()):
        return True
    return _FORMS_RUN.search(text) is not None and not _ID.fullmatch(text)


def found_by_form(whole: str) -> Iterator[tuple[int, int, str]]:
    """Yield where the forms find a secret in a text, and what it is called."""
    lower = whole.lower()
    for form in FORMS:
        text = lower if form.folds else whole
        if any(mark in text for mark in form.marks):
            for match in form.expression.finditer(whole):
                if form.check is None or form.check(match):
                    yield (*_span(match), _name(form, match))


def found_tokens(whole: str) -> Iterator[tuple[int, int, str]]:
    """Yield where a text has tokens that are known by their beginnings."""
    for form in FORMS:
        if form.name in ("token", "jwt"):
            for match in form.expression.finditer(whole):
                if form.check is None or form.check(match):
                    yield (*match.span(), _name(form, match))


def _name(form: Form, match: re.Match[str]) -> str:
    return _NAMES[match.group("beginning")] if form.name == "token" else form.name


def _span(match: re.Match[str]) -> tuple[int, int]:
    """Return where the secret of a match is."""
    groups = match.groupdict()
    for name in ("secret", "quoted", "plain", "other", "third"):
        if groups.get(name):
            return match.span(name)
    return match.span()
