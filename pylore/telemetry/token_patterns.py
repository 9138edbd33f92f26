"""Patterns of secrets of our own: tokens that say by their form what they are.

Each has a name, what its texts have at least one of (a look that costs nothing), and an
expression; a group ``secret`` is what is taken out, else all of it. They are tried on many texts
at once, between which a NUL stands: no expression may match one.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_START = r"(?<![A-Za-z0-9_])"
_END = r"(?![A-Za-z0-9_])"

_QUOTE = r"\\{0,3}[\"'`]?"
"""A quotation mark, that of JSON within JSON too, or none."""
_SIGN = r"(?:\s?=\s?|:\s?|\s?:=\s?|\s=>\s)"
_IS = _QUOTE + _SIGN + _QUOTE
_QUOTED = r"(?:(?!(?P=quote))(?:\\[^\n\x00]|[^\n\x00\\]))"
"""A letter within quotes, which may be escaped."""
_PLAIN = r"(?:(?![,;&]\w{1,40}[=:])(?!\$[{(])[^\s\x00\"'`\\])"
"""A letter of a value without quotes: it ends before the next field, and before what is put in."""
_ARGUMENTS = r"(?:\s[^\n\x00|;&]{0,100}?)?"
_PASSWORD = r"passw(?:or)?d|passphrase|secret|_pwd|_pass|^pwd"
_KEY = (
    r"(?:api|access|private|encryption|signing|account)_?-?key|(?:auth|access)_?-?token"
    r"|credentials?|_token|_key|^token|(?<=[?&])token"
)


class Pattern:
    """One kind of secret."""

    __slots__ = ("_compiled", "_flags", "_text", "marks", "name")

    def __init__(self, name: str, marks: Sequence[str], expression: str, flags: int = 0) -> None:
        self.name = name
        self.marks = marks
        """Where none of them is in a text, the expression is not tried; lower case where the
        expression takes both."""
        self._text = expression
        self._flags = flags
        self._compiled: re.Pattern[str] | None = None

    @property
    def folds(self) -> bool:
        """Whether it takes small letters and large ones."""
        return bool(self._flags & re.IGNORECASE)

    @property
    def expression(self) -> re.Pattern[str]:
        """Compiled when it is asked for: a live hook needs few of them."""
        if self._compiled is None:
            self._compiled = re.compile(self._text, self._flags)
        return self._compiled


def _token(name: str, mark: str, rest: str, *more: str) -> Pattern:
    """A token with a beginning of its own."""
    beginnings = "|".join(map(re.escape, (mark, *more)))
    return Pattern(name, (mark, *more), rf"{_START}(?:{beginnings}){rest}")


def _assigned(expression: str) -> Pattern:
    marks = ("pass", "secret", "token", "key", "credential", "pwd", "auth")
    return Pattern("assigned-secret", marks, expression, re.IGNORECASE | re.MULTILINE)


def _quoted(names: str, least: int, sign: str) -> Pattern:
    """What a name is given in quotes: so many letters, and one of these signs among them."""
    return _assigned(
        rf"(?:{names}){_QUOTE}{_SIGN}(?P<quote>\\{{0,3}}[\"'`])(?![<$\s,.;:)]|\{{\{{|\$?\{{\w|%[({{s])"
        rf"(?={_QUOTED}{{{least}}})(?={_QUOTED}{{0,200}}?{sign})(?P<secret>{_QUOTED}+)"
    )


def _plain(names: str, least: int, without: str) -> Pattern:
    """What a name is given without quotes: a digit or a sign is in it; no call, type, variable."""
    return _assigned(
        rf"(?:{names}){_IS}{without}(?={_PLAIN}{{{least}}})"
        r"(?P<secret>(?=[^\s\x00\"'`,;()\[\]{}]{0,200}[\d!@#%^*])(?![\w.:]{0,200}[(<\[])"
        rf"(?![<$({{\[|&;,>)]){_PLAIN}*(?<![,;|)}}\]>]))"
    )


PATTERNS = (
    Pattern(
        "private-key",
        ("PRIVATE KEY", "PuTTY-User-Key"),
        r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY[A-Z ]*-----[^\x00]*?"
        r"(?:-----END [A-Z0-9 ]*-----|(?=\x00)|\Z)"
        r"|PuTTY-User-Key-File-\d:[^\x00]*",
    ),
    Pattern("age-key", ("AGE-SECRET-KEY-",), r"AGE-SECRET-KEY-(?:PQ-)?1[0-9A-Z]{20,}"),
    _token("aws-key-id", "AKIA", r"[0-9A-Z]{16}" + _END, "ASIA", "ABIA", "ACCA"),
    Pattern(
        "aws-secret",
        ("aws",),
        r"aws[\w.-]{0,30}(?:secret|session|key|token)[\w.-]{0,20}[\"'`]?\s{0,3}(?:=|:|\s)\s{0,3}[\"'`]?"
        r"(?P<secret>[A-Za-z0-9/+=]{38,})",
        re.IGNORECASE,
    ),
    _token("google-key", "AIza", r"[\w-]{35}"),
    _token("google-oauth", "ya29.", r"[\w.-]{20,}"),
    _token("google-client-secret", "GOCSPX-", r"[\w-]{20,}"),
    Pattern(
        "azure-key",
        ("AccountKey=", "SharedAccessKey="),
        r"(?:AccountKey|SharedAccessKey)=(?P<secret>[A-Za-z0-9+/=]{40,})",
    ),
    Pattern("azure-sas", ("sig=",), r"[?&;\s\"']sig=(?P<secret>[A-Za-z0-9%+/=]{30,})"),
    Pattern(
        "azure-client-secret",
        ("8Q~", "7Q~"),
        r"(?<![\w~.-])[\w~.-]{3}[78]Q~[\w~.-]{31,34}(?![\w~.-])",
    ),
    _token("github-token", "ghp_", r"[A-Za-z0-9]{30,}", "gho_", "ghu_", "ghs_", "ghr_"),
    _token("github-token", "github_pat_", r"\w{40,}"),
    _token(
        "gitlab-token",
        "glpat-",
        r"[\w.-]{20,}",
        "gldt-",
        "glft-",
        "glsoat-",
        "glrt-",
        "glcbt-",
        "glimt-",
        "glptt-",
        "glagent-",
        "gloas-",
        "glffct-",
        "GR1348941",
    ),
    Pattern(
        "slack-token",
        ("xox", "xapp-", "xwfp-"),
        r"(?:xox[a-z](?:\.xox[a-z])?|xapp|xwfp)-[A-Za-z0-9-]{10,}",
    ),
    Pattern(
        "slack-webhook",
        ("hooks.slack.com/",),
        r"hooks\.slack\.com/(?:services|workflows|triggers)/(?P<secret>[\w/]{20,})",
    ),
    Pattern(
        "discord-webhook", ("/api/webhooks/",), r"/api/webhooks/(?P<secret>\d{15,}/[\w-]{30,})"
    ),
    Pattern(
        "discord-token", (".",), r"(?<![\w-])[MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,40}(?![\w-])"
    ),
    Pattern(
        "stripe-key",
        ("k_live_", "k_test_", "whsec_"),
        r"(?:[srp]k_(?:live|test)_|whsec_)[A-Za-z0-9+/=]{16,}",
    ),
    Pattern("square-token", ("sq0", "EAAA"), r"sq0[a-z]{3}-[\w-]{22,}|EAAA[\w-]{60}"),
    _token("anthropic-key", "sk-ant-", r"[\w-]{20,}"),
    Pattern(
        "openai-key",
        ("sk-",),
        rf"{_START}sk-(?:proj-|svcacct-|admin-|or-v1-|None-)?[\w-]*[A-Za-z0-9]{{20,}}[\w-]*",
    ),
    _token("huggingface-token", "hf_", r"[A-Za-z]{30,}", "api_org_"),
    _token("replicate-token", "r8_", r"[A-Za-z0-9]{30,}"),
    _token("groq-key", "gsk_", r"[A-Za-z0-9]{40,}", "xai-"),
    _token("perplexity-key", "pplx-", r"[A-Za-z0-9]{32,}"),
    _token("npm-token", "npm_", r"[A-Za-z0-9]{30,}"),
    Pattern(
        "npm-token",
        ("_authToken", "_auth", "_password"),
        r"_(?:authToken|auth|password)\s?=\s?(?P<secret>[^\s\x00$]{8,})",
    ),
    _token("pypi-token", "pypi-", r"[\w-]{40,}"),
    _token("rubygems-key", "rubygems_", r"[0-9a-f]{40,}"),
    _token("crates-token", "cio", r"[A-Za-z0-9]{32}" + _END),
    _token("docker-token", "dckr_pat_", r"[\w-]{20,}", "dckr_oat_"),
    _token("digitalocean-token", "dop_v1_", r"[0-9a-f]{40,}", "doo_v1_", "dor_v1_"),
    _token("databricks-token", "dapi", r"[0-9a-f]{32}(?:-\d)?" + _END),
    Pattern(
        "heroku-key",
        ("heroku", "HRKU-"),
        r"HRKU-[\w-]{30,}|heroku[\w .-]{0,30}(?:key|token|secret)[\w\"' ]{0,5}[=:\s]\s?[\"']?"
        r"(?P<secret>[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})",
        re.IGNORECASE,
    ),
    Pattern("twilio-key", ("AC", "SK"), rf"{_START}(?:AC|SK)[0-9a-f]{{32}}{_END}"),
    Pattern("sendgrid-key", ("SG.",), r"SG\.[\w-]{16,}\.[\w-]{16,}"),
    Pattern(
        "mailgun-key",
        ("key-", "-"),
        rf"{_START}key-[0-9a-f]{{32}}{_END}|{_START}[0-9a-f]{{32}}-[0-9a-f]{{8}}-[0-9a-f]{{8}}{_END}",
    ),
    Pattern("mailchimp-key", ("-us",), rf"{_START}[0-9a-f]{{32}}-us\d{{1,2}}{_END}"),
    Pattern("telegram-token", (":AA",), r"(?<!\d)\d{8,10}:AA[\w-]{32,34}(?![\w-])"),
    _token("shopify-token", "shp", r"(?:at|ca|pa|ss)_[0-9a-fA-F]{32}"),
    _token("linear-key", "lin_api_", r"[A-Za-z0-9]{30,}", "lin_oauth_"),
    _token("notion-token", "ntn_", r"[A-Za-z0-9]{40,}", "secret_"),
    _token("figma-token", "figd_", r"[\w-]{30,}"),
    _token("vault-token", "hvs.", r"[\w-]{20,}", "hvb.", "hvr."),
    Pattern("terraform-token", (".atlasv1.",), r"[A-Za-z0-9]{14}\.atlasv1\.[\w-]{60,}"),
    _token("doppler-token", "dp.", r"(?:pt|st|ct|sa|scim|audit)\.[\w.-]{40,}"),
    _token("grafana-token", "glsa_", r"[A-Za-z0-9]{32}_[0-9a-f]{8}", "glc_"),
    _token("newrelic-key", "NRAK-", r"[A-Z0-9]{27}"),
    Pattern("sentry-token", ("sntrys_", "sntryu_"), r"sntry[su]_[\w+/=-]{40,}"),
    _token("supabase-key", "sbp_", r"[0-9a-f]{40}", "sb_secret_"),
    _token("planetscale-token", "pscale_", r"(?:tkn|pw|oauth)_[\w.-]{30,}"),
    _token("atlassian-token", "ATATT3", r"[\w=-]{60,}", "ATCTT3"),
    _token("airtable-token", "pat", r"[A-Za-z0-9]{14}\.[0-9a-f]{64}"),
    _token("postman-key", "PMAK-", r"[0-9a-f]{24}-[0-9a-f]{34}"),
    _token("flyio-token", "FlyV1 ", r"fm\d_[\w+/=,-]{40,}"),
    Pattern("jwt", ("eyJ",), r"eyJ[\w-]{10,}\.[\w-]{10,}(?:\.[\w-]*)?"),
    Pattern(
        "url-token",  # all before the @, where that is no name of a person or of git
        ("://",),
        r"\bhttps?://(?P<secret>(?=[^\s/@:\x00]{20}|(?=[^\s/@:\x00]{0,19}\d)[^\s/@:\x00]{12})"
        r"[^\s/@:\x00\"'`${}<>\[]+(?::[^\s/@\x00\"'`]*)?)@",
        re.IGNORECASE,
    ),
    Pattern(
        "url-password",
        ("://",),
        r"://[^\s/@:\x00\"'`]{0,100}:(?P<secret>[^\s@\x00/\"'`${}<>]{2,200})@",
    ),
    Pattern(
        "authorization",
        ("authorization", "bearer ", "x-api-key", "x-auth-token", "private-token", "api-key:"),
        r"(?:(?:proxy-)?authorization[\"']?\s?[:=]\s?[\"']?(?:\w+ )?|\bbearer "
        r"|(?:x-api-key|x-auth-token|private-token|api-key)[\"']?\s?[:=]\s?[\"']?)"
        r"(?P<secret>[A-Za-z0-9._~+/=-]{16,})",
        re.IGNORECASE,
    ),
    Pattern(
        "token-header",
        ("-token", "-key", "-secret"),
        rf"(?<![\w-])(?:(?:private|job|deploy)-token{_IS}|(?:x(?:-\w{{1,30}}){{0,4}}|api|auth)-"
        rf"(?:token|key|secret){_IS}(?=[^\s\x00\"'`]{{0,100}}\d))"
        r"(?P<secret>(?![<$%{\[])[^\s\x00\"'`,;\\]{6,})",
        re.IGNORECASE,
    ),
    Pattern(
        "cookie",
        ("cookie", "curl"),
        rf"(?:\bcookie{_QUOTE}\s?:\s?|curl\b[^\n\x00]{{0,300}}?\s(?:-b|--cookie)[ =]){_QUOTE}"
        r"(?P<secret>[^\s=;:\x00\"'`\\$<{(]{1,100}=[^\n\x00\"'`\\]{3,})",
        re.IGNORECASE,
    ),
    Pattern(
        "netrc",
        ("password",),
        r"\b(?:login|machine)\s+\S+\s+password\s+(?P<secret>[^\s\x00]{3,})",
        re.IGNORECASE,
    ),
    Pattern(
        "user-option",
        ("curl", "wget", "http"),
        r"\s(?:-u|--user|--http-password|--proxy-user)[ =][\"']?[^\s:\x00\"']+:"
        r"(?P<secret>[^\s\x00\"'$]{3,})",
    ),
    Pattern(
        "password-option",
        (
            "mysql",
            "mariadb",
            "sshpass",
            "--pass",
            "--token",
            "--api-key",
            "--secret",
            "login",
            "redis-cli",
            "mongo",
            "cqlsh",
            "rabbitmqadmin",
            "sqlcmd",
            "mosquitto",
            "zip",
            "ldap",
            " pass:",
        ),  # fmt: skip
        rf"(?:\b(?:sshpass -p ?|(?:mysql|mariadb)\w{{0,20}}{_ARGUMENTS}\s-p"
        rf"|(?:login|mongo\w{{0,7}}|cqlsh|rabbitmqadmin){_ARGUMENTS}\s-p[ =]?"
        rf"|redis-cli{_ARGUMENTS}\s-a[ =]?|ldap\w+{_ARGUMENTS}\s-w[ =]?"
        rf"|(?:sqlcmd|mosquitto_\w+|(?:un)?zip){_ARGUMENTS}\s-P[ =]?)"
        r"|--(?:password|passwd|passphrase|pass|token|api-key|secret)[ =]|\s-pass(?:in|out)? pass:)"
        rf"(?![\"']?[<$\{{\[-])(?P<quote>[\"'])?"
        rf"(?P<secret>(?(quote){_QUOTED}{{3,}}|[^\s\x00\"'`]{{4,}}))",
    ),
    Pattern(
        "connection-string",
        ("pwd=", "password="),
        r"[;\"'](?:pwd|password)=(?P<secret>[^;\x00\"'\s$]{3,})",
        re.IGNORECASE,
    ),
    _quoted(_PASSWORD, 6, r"[\d\s!@#%^*&$]"),
    _quoted(_KEY, 8, r"[\d!@#%^*&$]"),
    _plain(_PASSWORD, 6, ""),
    _plain(_KEY, 8, r"(?!\d+(?:\.\d+)?\b(?![\w!@#%^*]))"),  # no number
    Pattern(
        "said-password",
        ("password", "passphrase", "token", "secret"),
        r"\b(?:password|passphrase|token|secret|api key) (?:is|was|to)[: ]\s?[\"'`]?"
        r"(?P<secret>(?=\S*\d)(?=\S*[A-Z])(?=\S*[a-z])[\w!@#%^&*+=]{8,})(?![\w/.-])",
    ),
    Pattern(
        "key-material",
        ("\n", ""),
        r"^(?=[^\n\x00]*[G-Zg-z+/])(?=[^\n\x00]*\d)(?=[^\n\x00]*[A-Z])[A-Za-z0-9+/]{60,76}={0,2}$",
        re.MULTILINE,
    ),
)
"""In the order they are tried; what one has taken out, the next does not see."""
