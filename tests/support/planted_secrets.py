"""Secrets in the context of sessions, and texts without secrets, generated at each run.

Each pattern has an example in the code; this module adds surroundings and gaps between patterns.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

from made_secrets import Maker

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

TOKENS_OF = {
    f"token {beginning}": f"I used «{beginning}<40>» for that, it works now"
    for beginning in (
        "AGE-SECRET-KEY- sk-ant- ATATT3 AKIA cio dapi dop_v1_ dckr_pat_ dp.pt. figd_ fm1_ "
        "ghp_ glpat- GOCSPX- AIza ya29. glsa_ gsk_ HRKU- hf_ lin_api_ NRAK- ntn_ npm_ sk- "
        "pplx- pscale_tkn_ PMAK- pypi- r8_ rubygems_ SG. sntrys_ shpat_ xoxa- sq0atp- "
        "sk_live_ sbp_ hvs. xai- "
    ).split()
}
"""A token for each service."""

FORMS = {
    "form private-key": "-----BEGIN RSA PRIVATE KEY-----\n«<48b>»\n-----END RSA PRIVATE KEY-----",
    "form key-material": "it goes on with\n«<48b>»",
    "form token": "I used «ghp_<36>» for that",
    "form jwt": "as «eyJ<30>.<60>.<43u>» says",
    "form airtable-token": "airtable has «pat<14>.<64h>»",
    "form aws-secret": "aws_secret_access_key = «<40>»",
    "form azure-client-secret": "the client has «<3>8Q~<34>»",
    "form slack-webhook": "POST https://hooks.slack.com/services/«T<10U>/B<10U>/<24>»",
    "form discord-webhook": "https://discord.com/api/webhooks/«<18d>/<68u>»",
    "form discord-token": 'client.login("«M<25>.<6u>.<37u>9»")',
    "form heroku-key": "HEROKU_API_KEY=«<8h>-<4h>-<4h>-<4h>-<12h>»",
    "form twilio-key": 'Client("«AC<32h>", "<32h>»")',
    "form mailgun-key": "mailgun «key-<32h>»",
    "form telegram-token": "api.telegram.org/bot«<10d>:AA<33u>»/getMe",
    "form terraform-token": "terraform takes «<14>.atlasv1.<67>»",
    "form crypt": "root:«$6$<16>$<86>»:19000:0",
    "form url-token": "https://«0<16>»@git.example.org/x",
    "form url-password": "postgresql://app:«<12>»@db.example.org/app",
    "form authorization": "Authorization: Bearer «<40>»",
    "form token-header": "curl -H 'X-Vault-Token: s1«<10>»'",
    "form cookie": "curl -s -b 'sid=«<16>»' https://x.example.org",
    "form netrc": "machine git.example.org login deploy password «<16>»",
    "form user-option": "curl -u admin:«<14>» https://x.example.org",
    "form password-option": "docker login -u me -p «<12>» registry.example.org",
    "form password-command": "echo root:«<12>» | chpasswd",
    "form connection-string": "Server=db;User Id=sa;Password=«<14>»;Encrypt=yes",
    "form assigned-secret": 'password = "«<14>»"',
    "form said-password": "my root password on staging is «x9<10>»",
    "form said-token": "the token is «<20>»",
    "form seed-phrase": "seed phrase: «<12w>»",
    "form recovery-codes": "recovery codes: «4<4l>-<5l> 7<4l>-<5l>»",
    "form card-number": "pay with «<16c>» please",
    "form code": "the verification code is «<8d>»",
    "form passphrase": "its passphrase is «<6a>-<6a>-<6a>-<6a>-<6a>»",
    "form word and year": "please use «Winter<4d>?» as the password",
}
"""A secret for each fixed form."""

IN_TEXTS = {
    "azure storage key": "DefaultEndpointsProtocol=https;AccountName=x;"
    "AccountKey=«<64b>»;Suffix=core",
    "azure sas": "https://x.blob.core.windows.net/c?sv=2022&sig=«<43>»%3D&se=1",
    "sig of a page": "https://x.example.org/a?exp=17&amp;sig=«<27u>»&amp;v=1",
    "signature in a query": "GET /b?X-Goog-Signature=«<64h>»&v=1",
    "key in a query": "https://maps.example.org/api?key=«<28>»",
    "github fine-grained": "use «github_pat_<22>_<59>» for it",
    "slack bot": "SLACK=«xoxb-<12d>-<12d>-<24>»",
    "huggingface": "hf auth login, then paste «hf_<34a>»",
    "google refresh token": "refresh with «1//0<2d><60u>»",
    "discord bot of another letter": "bot.run('«N<23>.G<5>.<38>»')",
    "twilio's token": 'Client("AC<32h>", "«<32h>»")',
    "twilio's token in curl": "curl https://api.twilio.com -u AC<32h>:«<32h>»",
    "npmrc": "//registry.example.org/:_authToken=«<36>»",
    "npmrc in base64": "_auth=«<30b>»",
    "openai of old": "OPENAI_API_KEY=«sk-<20>T3BlbkFJ<20>»",
    "mongodb url": "mongodb+srv://root:«<14>»@c0.mongodb.net/x",
    "redis url": "REDIS_URL=redis://:«<20>»@cache:6379/0",
    "url with an @ in its password": "postgres://app:«<6>@<6>»@db/app",
    "url with an escaped password": "postgres://app:«<6>%40<6>»@db/app",
    "basic header": "curl -H 'Authorization: Basic «<18b>»' https://api.example.org",
    "api key header": "curl -H 'X-Api-Key: «<32>»' https://x.example.org",
    "set-cookie header": "< Set-Cookie: sid=«<16>»; Path=/; HttpOnly",
    "cookie header": "curl -H 'Cookie: a=b; sid=«<16>»' https://x.example.org",
    "sshpass": "sshpass -p «<12>» ssh root@10.0.0.1",
    "redis-cli": "redis-cli -h cache -a «<8>» ping",
    "mysqldump -p": "mysqldump -u root -p'my «<6>»' shop >x.sql",
    "mongosh -p": "mongosh -u root -p «<8>» shop",
    "--password": "deploy --password='my long «<6>»' --env prod",
    "--token": "deploy --token «<32>» --env prod",
    "password in yaml": "db:\n  password: «<14>»",
    "secret in json": '{"client_secret": "«<32>»"}',
    "env secret": "export SESSION_SECRET=«<32>»",
    "env token": "DEPLOY_TOKEN=«<32>» make deploy",
    "password with &": "password: Tr0ub4dor&«<6>»",
    "password with $": "SECRET_KEY='django-insecure-abc#def$ghi%«<6>»'",
    "password of words": "PASSWORD='my long pass «<6>»'",
    "password with quotes": 'password = "it\'s \\" (a) «<6>»"',
    "JSON within JSON": '{\\"password\\": \\"x1 «<6>»\\", \\"a\\": 1}',
    "short password": "password=hunt2«<2>»",
    "PGPASSWORD": "PGPASSWORD=«a1<6>» psql -h db",
    "token in a query": "GET https://x.example.org/a?token=«0<10>»&page=2",
    "escaped =": "token%3D«<32>»",
    "escaped query": "https://x.example.org/cb?next=%2Fa%3Ftoken%3D«<32>»%26v%3D1",
    "escaped JSON": "body=%7B%22password%22%3A%22«x9<10>»%22%7D",
    "= of JSON": "password\\u003d«x9<10>»",
    "hexadecimal =": "password\\x3d«x9<10>»",
    "fullwidth colon": "password：«x9<10>»",
    "fullwidth =": "api_key＝«<32>»",
    "curly quotes": "password: “«x9 <10>»”",
    "colours": "password=\x1b[01;31m«x9<10>»\x1b[0m",
    "password in prose": "log in as admin, the password is «<12>»",
    "password with a sign": "btw the password for the db is «<4a>!<4a>»",
    "chpasswd with sudo": 'echo "deploy:«x9<10>»" | sudo chpasswd',
    "htpasswd -bc": "htpasswd -bc /etc/nginx/.htpasswd admin «x9<10>»",
    "passwd --stdin": "echo «x9<10>» | passwd --stdin root",
    "sudo -S": "echo '«x9<10>»' | sudo -S apt update",
    "german in a sentence": "das Passwort für staging ist «x9<10>»",
    "french in a sentence": "le mot de passe de la base est «x9<10>»",
    "spanish in two letters": "contrasen\u0303a: «x9<10>»",
    "spanish in a sentence": "la contraseña de root es «x9<10>»",
    "portuguese in a sentence": "a senha do servidor é «x9<10>»",
    "italian": "la password di prod è «x9<10>»",
    "dutch": "wachtwoord: «x9<10>»",
    "turkish": "şifre: «x9<10>»",
    "russian with a dash": "пароль от базы - это «x9<10>»",
    "chinese in a sentence": "密码是«x9<10>»",
    "japanese in a sentence": "パスワードは«x9<10>»です",
    "japanese of half width": "ﾊﾟｽﾜｰﾄﾞ: «x9<10>»",
    "bcrypt": "me:«$2y$10$<53>»",
    "recovery codes": "recovery codes:\n«1<3l>-<4l>\n2<3l>-<4l>\n3<3l>-<4l>»",
    "backup codes": "backup codes: «<8d> <8d> <8d>»",
    "seed phrase of 24": 'my recovery phrase is "«<24w>»"',
    "mnemonic": 'MNEMONIC="«<12w>»"',
    "seed phrase in lines": "wallet seed:\n«<12w>»",
    "amex": "amex: «<15c>»",
    "bare hex key": "the key is «<32h>», do not lose it",
    "hex key of 40": "the api key is «<40h>»",
    "bare base64 key": "use «<44>» as the salt",
    "bare base64 of bytes": "it starts with «<32b>»",
    "bare token of an unknown kind": "send «<24>» along",
    "pulumi": "pulumi login with «pul-<40h>»",
    "tailscale": "tailscale up --authkey «tskey-auth-<12>CNTRL-<32>»",
    "resend": "mail goes out with «re_<8>_<24>»",
    "hubspot": "hubspot takes «pat-na1-<8h>-<4h>-<4h>-<4h>-<12h>»",
    "dropbox": "the app gave me «sl.<130u>»",
    "mapbox": "mapboxgl uses «sk.eyJ<60>.<22u>»",
    "prefect": "prefect cloud login -k «pnu_<36>»",
    "okta": "-H 'Authorization: SSWS «00<40u>»'",
    "cloudflare": "CF_API_TOKEN=«<40u>» wrangler deploy",
    "datadog": "env:\n  DD_API_KEY: «<32h>»",
    "algolia": "algolia admin key «<32h>»",
    "pagerduty": "pagerduty takes «u+<18u>»",
    "firebase messaging": "server: «AAAA<7u>:APA91b<134u>»",
    "aws session": "export AWS_SESSION_TOKEN=«<240b>»",
    "pinecone": "Api-Key: «pcsk_<6>_<60>»",
    "xml": "<server><password>«x9<10>»</password></server>",
    "pgpass": "~/.pgpass has db.example.org:5432:shop:app:«<14>»",
    "docker config": '{"auths": {"x.example.org": {"auth": "«<30b>»"}}}',
    "identified by": "CREATE USER app IDENTIFIED BY '«x9<10>»';",
    "with password": "ALTER ROLE app WITH LOGIN PASSWORD '«x9<10>»';",
    "secure string": 'ConvertTo-SecureString "«x9<10>»" -AsPlainText -Force',
    "otpauth": "otpauth://totp/shop:me?secret=«<32t>»&issuer=shop",
    "expect": 'expect "assword:"; send "«x9<10>»\\r"',
    "jdbc": "jdbc:mysql://db/shop?user=app&password=«<12>»&ssl=true",
    "storepass": "keytool -list -keystore a.jks -storepass «x9<10>»",
    "php": "define('DB_PASSWORD', '«x9<10>»');",
    "dockerfile": "ENV MYSQL_ROOT_PASSWORD «x9<10>»",
    "ethereum": "deployed from 0x«<64h>»",
    "bitcoin": "sweep «5K<49>» into the wallet",
    "wifi": "the WPA key of the office is «x9<10>»",
    "polish, too": "hasło do bazy to «x9<10>»",
    "korean, too": "비밀번호는 «x9<10>» 입니다",
    "italian, too": "la parola d'ordine di prod è «x9<10>»",
    "gpg": "gpg --batch --pinentry-mode loopback --passphrase «x9<10>» -d x.gpg",
    "a name and a password": "log in as admin / «x9<10>»",
    "a pair": "use admin:«x9<10>» on staging",
    "encoded twice": "https://x.example.org/cb?next=%2Fa%3Ftoken%253D«<32>»",
    "html": '<input type="password" name="pw" value="«x9<10>»">',
    "markdown table": "| admin | password | «x9<10>» |",
    "bold": "**Password:** «x9<10>»",
    "numbered words": "recovery phrase: «1. <1w> 2. <1w> 3. <1w> 4. <1w> 5. <1w> 6. <1w> 7. "
    "<1w> 8. <1w> 9. <1w> 10. <1w> 11. <1w> 12. <1w>»",
    "helm": "helm upgrade shop . --set auth.rootPassword=«x9<10>»",
    "smbclient": "smbclient //nas/share -U me%«x9<10>»",
    "hexadecimal of a token": "xxd -p says «67<78h>»",
    "token in a path": "curl https://api.example.org/hooks/«<40>»/run",
}
"""Return the name of a template's case."""


def _fullwidth(text: str) -> str:
    return "".join(chr(ord(letter) + 0xFEE0) if "!" <= letter <= "~" else letter for letter in text)


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def _cut(between: str, at: int) -> Callable[[str], str]:
    return lambda secret: secret[:at] + between + secret[at:]


CHANGED: dict[str, tuple[str, Callable[[str], str]]] = {
    "zero width within": ("I used «ghp_<36>» there", _cut("\u200b", 12)),
    "zero width within a password": ("password=«x9<12>»", _cut("\u2060", 6)),
    "zero width within its beginning": ("I used «glpat-<20>» there", _cut("\u200d", 3)),
    "soft hyphen within": ("I used «sk-ant-<95>» there", _cut("\xad", 40)),
    "line end within": ("I used «ghp_<36>»\nthere", _cut("\n", 20)),
    "line end and indent within": ("  export T=«glpat-<20>»\n", _cut("\n    ", 16)),
    "line end behind a backslash": ("I used «sk-ant-<95>» there", _cut("\\\n", 60)),
    "line end, early": ("I used «github_pat_<60>» there", _cut("\n", 15)),
    "base64 of a token": ("x: «ghp_<36>»", _base64),
    "base64 of a password": ("it decodes: «admin:x9<20>»", _base64),
    "fullwidth": ("I used «ghp_<36>» there", _fullwidth),
}
"""Return the name of a template's case and of the change to the secret."""


def planted(seed: int = 0, more: dict[str, str] | None = None) -> Iterator[tuple[str, str, str]]:
    """Yield name, text and secret of an example of each kind, or of each kind in ``more``."""
    plain = [*(more or {**TOKENS_OF, **FORMS, **IN_TEXTS}).items()]
    number = 0
    for number, (name, template) in enumerate(plain):
        yield (name, *Maker(seed * 1000 + number).made(template))
    for name, (template, change) in () if more else CHANGED.items():
        number += 1
        yield (name, *Maker(seed * 1000 + number).made(template, change))


ORDINARY = (
    "commit <40h>\nmerged <8h> into main",
    'git show "<40h>" --stat',
    "session <8h>-<4h>-<4h>-<4h>-<12h> was resumed, see '<8h>-<4h>-<4h>-<4h>-<12h>'",
    "sha256:<64h>  image.tar",
    "cmd/words/internal/store_<6a>_manual-commit_2.go:120:14: error",
    "'/Users/me/src/<6a>/.worktrees/2/cmd/words/cli/strategy/a_test.go'",
    "https://github.com/words/cli/pull/137#issuecomment-<10d>",
    "--- PASS: TestFormatCheckpointOutputWithLongNameWords (0.01s)",
    'token := os.Getenv("WORDS_TOKEN"); if token == "" { return err }',
    "key: cfg.Keys[@], password: req.Password, secret = load_secret()",
    "The secret is to keep the key of words short: tokens expire after 15 days.",
    "FROM python:3.12.@-slim@sha256:<64h>",
    "def f(password: str, api_key: Optional[str] = None, token2: int = @) -> dict[str, list[int]]:",
    "secret_key: [u8; 32], auth_token: Vec<u8>, access_token: None, cache_key: int",
    'PASSWORD="$DB_PASSWORD_@" --token "${{ secrets.T@ }}" API_KEY=${K@} password = get_pw(@)',
    "curl -H 'X-Api-Key: $KEY@' -b \"$JAR\"",
    "max_tokens=@096, n_key = @1234567890",
    "mkdir -p words@ && git checkout -b words-@ && cp -a words@ /tmp/@",
    "https://git@example.org/words ssh://words@host https://words@x.org",
    "go.sum h1:<32b>",
)
"""Templates of common contents of sessions; ``@`` is a number."""


def ordinary(seed: int = 0, number: int = 40) -> Iterator[str]:
    """Yield common contents of sessions that must not change."""
    for at in range(number):
        maker = Maker(1_000_000 + seed * 1000 + at)
        yield from (maker.made(text.replace("@", str(at)))[0] for text in ORDINARY)
