"""Secrets of many kinds, made anew at each run: none stands in a file that a scanner reads."""

from __future__ import annotations

import base64
import random
import string
from collections.abc import Callable, Iterator

LETTERS = string.ascii_letters + string.digits
UPPER = string.ascii_uppercase + string.digits
HEX = "0123456789abcdef"
URL = LETTERS + "-_"


class Maker:
    """Letters by chance, the same for the same seed."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def some(self, number: int, letters: str = LETTERS) -> str:
        """So many letters, with a digit and a capital among them where there are such."""
        found = [self._random.choice(letters) for _ in range(number)]
        for kind in (string.digits, string.ascii_uppercase, string.ascii_lowercase):
            fit = [letter for letter in kind if letter in letters]
            if fit and number >= 8:
                found[self._random.randrange(number)] = self._random.choice(fit)
        return "".join(found)

    def encoded(self, number: int) -> str:
        """So many bytes in base64."""
        return base64.b64encode(self._random.randbytes(number)).decode()

    def uuid(self) -> str:
        """One of chance."""
        return "-".join(self.some(size, HEX) for size in (8, 4, 4, 4, 12))


Secret = tuple[str, str]
"""A text, and what in it must not be written."""


def _whole(beginning: str, size: int, letters: str = LETTERS) -> Callable[[Maker], Secret]:
    """A token that stands in a sentence."""

    def make(maker: Maker) -> Secret:
        token = beginning + maker.some(size, letters)
        return f"I used {token} for that, it works now", token

    return make


def _within(text: str, size: int, letters: str = LETTERS) -> Callable[[Maker], Secret]:
    """Letters by chance where ``{}`` stands in a text."""

    def make(maker: Maker) -> Secret:
        token = maker.some(size, letters)
        return text.format(token), token

    return make


def _ending(text: str, size: int = 6) -> Callable[[Maker], Secret]:
    """The same, of which the end alone is looked for: what is taken out by half is not."""

    def make(maker: Maker) -> Secret:
        tail = maker.some(size)
        return text.replace("{}", tail), tail

    return make


def _key(kind: str) -> Callable[[Maker], Secret]:
    def make(maker: Maker) -> Secret:
        line = maker.encoded(48)
        dashes = "-" * 5
        return (f"{dashes}BEGIN {kind}{dashes}\n{line}\n{maker.encoded(48)}\n"
                f"{dashes}END {kind}{dashes}", line)  # fmt: skip

    return make


def _jwt(maker: Maker) -> Secret:
    head = base64.urlsafe_b64encode(b'{"alg":"HS256","typ":"JWT"}').decode().rstrip("=")
    body = base64.urlsafe_b64encode(b'{"sub":"1234567890","n":"x"}').decode().rstrip("=")
    token = f"{head}.{body}.{maker.some(43, URL)}"
    return f"token is {token}", token


def _openai_old(maker: Maker) -> Secret:
    token = "sk-" + maker.some(20) + "T3Blbk" + "FJ" + maker.some(20)
    return f"OPENAI_API_KEY={token}", token


def _azure(maker: Maker) -> Secret:
    key = maker.encoded(64)
    return f"DefaultEndpointsProtocol=https;AccountName=x;AccountKey={key};Suffix=core", key


def _telegram(maker: Maker) -> Secret:
    token = maker.some(10, "123456789") + ":" + "AA" + maker.some(33, URL)
    return f"curl https://api.telegram.org/bot{token}/getMe", token


def _discord(maker: Maker) -> Secret:
    token = "M" + maker.some(25, URL) + "." + maker.some(6, URL) + "." + maker.some(38, URL)
    return f'client.login("{token}")', token


def _basic(maker: Maker) -> Secret:
    token = maker.encoded(18)
    return f"curl -H 'Authorization: Basic {token}' https://api.example.org", token


def _heroku(maker: Maker) -> Secret:
    token = maker.uuid()
    return f"HEROKU_API_KEY={token}", token


def _sendgrid(maker: Maker) -> Secret:
    token = "SG." + maker.some(22, URL) + "." + maker.some(43, URL)
    return f"sendgrid: {token}", token


def _terraform(maker: Maker) -> Secret:
    token = maker.some(14) + ".atlasv1." + maker.some(67, URL)
    return f'credentials "app.terraform.io" {{ token = "{token}" }}', token


def _slack_hook(maker: Maker) -> Secret:
    rest = f"T{maker.some(10, UPPER)}/B{maker.some(10, UPPER)}/{maker.some(24)}"
    return f"POST https://hooks.slack.com/services/{rest}", rest


def _discord_hook(maker: Maker) -> Secret:
    rest = f"{maker.some(18, '123456789')}/{maker.some(68, URL)}"
    return f"https://discord.com/api/webhooks/{rest}", rest


def _slack(kind: str) -> Callable[[Maker], Secret]:
    def make(maker: Maker) -> Secret:
        numbers = f"{maker.some(12, '123456789')}-{maker.some(12, '123456789')}"
        token = f"{kind}-{numbers}-{maker.some(24)}"
        return f"SLACK={token}", token

    return make


def _mailchimp(maker: Maker) -> Secret:
    token = maker.some(32, HEX) + "-us19"
    return f"mailchimp {token}", token


def _azure_secret(maker: Maker) -> Secret:
    token = maker.some(3) + "8Q~" + maker.some(34)
    return f"the client secret is {token}", token


PLANTED: dict[str, Callable[[Maker], Secret]] = {
    "aws key id": _whole("AK" + "IA", 16, UPPER),
    "aws secret key": _within("AWS_SECRET_ACCESS_KEY={}", 40, LETTERS + "/+"),
    "aws secret in ini": _within("aws_secret_access_key = {}", 40, LETTERS + "/+"),
    "gcp api key": _whole("AI" + "za", 35, URL),
    "gcp oauth token": _whole("ya" + "29.", 60, URL),
    "gcp client secret": _whole("GOC" + "SPX-", 28, URL),
    "gcp service account": _key("PRIVATE KEY"),
    "azure storage key": _azure,
    "azure sas": _within("https://x.blob.core.windows.net/c?sv=2022&sig={}%3D&se=1", 43),
    "azure client secret": _azure_secret,
    "github classic": _whole("gh" + "p_", 36),
    "github oauth": _whole("gh" + "o_", 36),
    "github fine-grained": _whole("github_" + "pat_", 82, LETTERS + "_"),
    "gitlab": _whole("gl" + "pat-", 20, URL),
    "slack bot": _slack("xo" + "xb"),
    "slack user": _slack("xo" + "xp"),
    "slack app": _whole("xa" + "pp-1-A0123-", 60),
    "slack webhook": _slack_hook,
    "stripe live": _whole("sk_" + "live_", 24),
    "stripe restricted": _whole("rk_" + "live_", 24),
    "stripe webhook": _whole("wh" + "sec_", 32),
    "openai": _openai_old,
    "openai project": _whole("sk-" + "proj-", 120, URL),
    "anthropic": _whole("sk-" + "ant-api03-", 95, URL),
    "huggingface": _whole("hf" + "_", 34, string.ascii_letters),
    "groq": _whole("gs" + "k_", 52),
    "npm": _whole("np" + "m_", 36),
    "npmrc": _within("//registry.example.org/:_authToken={}", 36),
    "pypi": _whole("py" + "pi-AgEIcHlwaS5vcmc", 150, URL),
    "rubygems": _whole("ruby" + "gems_", 48, HEX),
    "docker hub": _whole("dckr_" + "pat_", 27, URL),
    "jwt": _jwt,
    "rsa key": _key("RSA PRIVATE KEY"),
    "ec key": _key("EC PRIVATE KEY"),
    "openssh key": _key("OPENSSH PRIVATE KEY"),
    "pgp key": _key("PGP PRIVATE KEY BLOCK"),
    "age key": _whole("AGE-SECRET-" + "KEY-1", 58, UPPER),
    "password in a url": _within("git clone https://deploy:{}@git.example.org/x.git", 16),
    "postgres url": _within("postgresql://app:{}@db.example.org:5432/app", 12),
    "mongodb url": _within("mongodb+srv://root:{}@c0.mongodb.net/x", 14),
    "redis url": _within("REDIS_URL=redis://:{}@cache:6379/0", 20),
    "connection string": _within("Server=db;Database=x;User Id=sa;Password={};Encrypt=yes", 14),
    "bearer header": _within("Authorization: Bearer {}", 40),
    "basic header": _basic,
    "api key header": _within("curl -H 'X-Api-Key: {}' https://x.example.org", 32),
    "netrc": _within("machine git.example.org login deploy password {}", 16),
    "curl -u": _within("curl -u admin:{} https://x.example.org", 14),
    "sshpass": _within("sshpass -p {} ssh root@10.0.0.1", 12),
    "password=": _within("password={}", 14),
    "password: in yaml": _within("db:\n  password: {}", 14),
    'password = "" in code': _within('password = "{}"', 14),
    "secret in json": _within('{{"client_secret": "{}"}}'.replace("{{", "{{"), 32),
    "env secret": _within("export SESSION_SECRET={}", 32),
    "env token": _within("DEPLOY_TOKEN={} make deploy", 32),
    "--token option": _within("deploy --token {} --env prod", 32),
    "twilio": _within("TWILIO: S" + "K{}", 32, HEX),
    "sendgrid": _sendgrid,
    "mailgun": _within("mailgun ke" + "y-{}", 32, HEX),
    "mailchimp": _mailchimp,
    "telegram": _telegram,
    "discord bot": _discord,
    "discord webhook": _discord_hook,
    "digitalocean": _whole("dop_" + "v1_", 64, HEX),
    "heroku": _heroku,
    "databricks": _whole("da" + "pi", 32, HEX),
    "vault": _whole("hv" + "s.", 90, URL),
    "terraform cloud": _terraform,
    "linear": _whole("lin_" + "api_", 40),
    "notion": _whole("nt" + "n_", 46),
    "shopify": _whole("shp" + "at_", 32, HEX),
    "square": _whole("sq0" + "csp-", 43, URL),
    "supabase": _whole("sb" + "p_", 40, HEX),
    "new relic": _whole("NR" + "AK-", 27, UPPER),
    "grafana": _within("gl" + "sa_{}_0a1b2c3d", 32),
    "atlassian": _whole("ATA" + "TT3", 180, URL),
    "doppler": _whole("dp" + ".pt.", 43),
    "password with &": _ending("password: Tr0ub4dor&{}"),
    "password with $ in quotes": _ending("SECRET_KEY='django-insecure-abc#def$ghi%{}'"),
    "password of words": _ending("PASSWORD='my long pass {}'"),
    "password with quotes": _ending('password = "it\'s \\" (a) {}"'),
    "JSON within JSON": _ending('{\\"password\\": \\"x1 {}\\", \\"a\\": 1}'),
    "a short password": _within("password=hunt2{}", 2),
    "PGPASSWORD": _within("PGPASSWORD=a1{} psql -h db", 6),
    "private-token header": _within("curl -H 'PRIVATE-TOKEN: {}' https://git.example.org", 10),
    "x-…-token header": _within("X-Vault-Token: s1{}", 10),
    "cookie header": _ending("curl -H 'Cookie: a=b; sid={}' https://x.example.org"),
    "set-cookie header": _ending("< Set-Cookie: sid={}; Path=/; HttpOnly"),
    "curl -b": _ending("curl -s -b 'sid={}' https://x.example.org"),
    "token in a url": _within("git clone https://0{}@git.example.org/x.git", 16),
    "token in a url, with a name": _within("https://0{}:x-oauth-basic@git.example.org/x", 16),
    "token in a query": _within("GET https://x.example.org/a?token=0{}&page=2", 10),
    "docker login -p": _within("docker login -u me -p {} registry.example.org", 8),
    "redis-cli -a": _within("redis-cli -h cache -a {} ping", 8),
    "mysqldump -p''": _ending("mysqldump -u root -p'my {}' shop >x.sql"),
    "mongosh -p": _within("mongosh -u root -p {} shop", 8),
    "--password ''": _ending("deploy --password='my long {}' --env prod"),
    "a bare hex key": _within("the key is {}, do not lose it", 32, HEX),
    "a bare base64 key": _within("use {} as the salt", 44),
    "a password in prose": _within("log in as admin, the password is {}", 12),
}
"""What it is called to what makes it. The last three say by no form and no name what they are."""


def planted(seed: int = 0) -> Iterator[tuple[str, str, str]]:
    """Name, text and secret of one of each kind."""
    for number, (name, make) in enumerate(PLANTED.items()):
        yield (name, *make(Maker(seed * 1000 + number)))


def ordinary(seed: int = 0, number: int = 40) -> Iterator[tuple[str, str]]:
    """Kind and text of what sessions are full of and what must stay as it is."""
    for at in range(number):
        maker = Maker(1_000_000 + seed * 1000 + at)
        commit, uuid = maker.some(40, HEX), maker.uuid()
        yield "commit", f"commit {commit}\nmerged {commit[:8]} into main"
        yield "quoted commit", f'git show "{commit}" --stat'
        yield "uuid", f"session {uuid} was resumed, see '{uuid}'"
        yield "sha256", f"sha256:{maker.some(64, HEX)}  image.tar"
        name = maker.some(6, string.ascii_lowercase)
        yield "path", f"cmd/{name}/internal/store_{name}_manual-commit_2.go:120:14: error"
        yield "long path", f"'/Users/me/src/{name}/.worktrees/2/cmd/{name}/cli/strategy/a_test.go'"
        yield (
            "url",
            f"https://github.com/{name}/cli/pull/137#issuecomment-{maker.some(10, '123456789')}",
        )
        yield "test name", f"--- PASS: TestFormatCheckpointOutputWithLongName{name.title()} (0.01s)"
        yield "code", f'token := os.Getenv("{name.upper()}_TOKEN"); if token == "" {{ return err }}'
        yield (
            "code with key",
            f"key: cfg.Keys[{at}], password: req.Password, secret = load_secret()",
        )
        yield (
            "prose",
            f"The secret is to keep the key of {name} short: tokens expire after 15 days.",
        )
        yield "image", f"FROM python:3.12.{at}-slim@sha256:{maker.some(64, HEX)}"
        yield (
            "types",
            (
                f"def {name}(password: str, api_key: Optional[str] = None, token2: int = {at})"
                f" -> dict[str, list[int]]: secret_key: [u8; 32], auth_token: Vec<u8>"
            ),
        )
        yield (
            "variables",
            (
                f'PASSWORD="$DB_PASSWORD_{at}" --token "${{{{ secrets.T{at} }}}}" '
                f"API_KEY=${{K{at}}} curl -H 'X-Api-Key: $KEY{at}' -b \"$JAR\"; "
                f"password = get_password({at})"
            ),
        )
        yield (
            "limits",
            f"max_tokens={at}096, access_token: None, cache_key: int, n_key = {at}1234567890",
        )
        yield (
            "options",
            f"mkdir -p {name}{at} && git checkout -b {name}-{at} && cp -a {name}{at} /tmp/{at}",
        )
        yield (
            "user in url",
            f"https://git@example.org/{name}/{at} ssh://{name}{at}@host https://{name}@x.org",
        )
        yield "integrity", f"go.sum h1:{maker.encoded(32)}"
