"""Test definitions in languages without a grammar."""

from __future__ import annotations

import time

import pytest

from pylore.anchors.definitions import looks

TEXTS = {
    "a.kt": (
        "enum class Color { RED; fun hex() = 1 }\ndata class Login(val name: String) {\n"
        "    companion object { val MAX = 3 }\n    override suspend fun <T> check(\n"
        "        token: T,\n    ): Boolean {\n        val seen = setOf<T>()\n        if (x) {\n"
        "        }\n        return true\n    }\n    fun one() = '{'\n"
        "    val label: String\n        get() = name\n}\nfun <T : A> List<T>?.shout() = x()\n",
        "Color 1-1, Color.hex 1-1, Login 2-15, Login.check 4-11, Login.one 12-12,"
        " Login.label 13-14, List.shout 16-16",
    ),
    "a.cs": (
        "global using A.B;\nnamespace App\n{\n    [Serializable]\n    public class Login\n    {\n"
        "        private const int Max = 3;\n        public int Count { get; set; }\n"
        "        public async Task<bool> Check<T>(Token token)\n        {\n#if DEBUG\n"
        "            Log(token);\n#endif\n            return Has(token);\n        }\n"
        "        public int Twice(int x) => x * 2;\n    }\n}\n",
        "App 2-18, App.Login 5-17, App.Login.Max 7-7, App.Login.Count 8-8, App.Login.Check 9-15,"
        " App.Login.Twice 16-16",
    ),
    "a.php": (
        "<?php\nclass Login extends Base {\n    const MAX = 3;\n    function &check($token) {\n"
        "        $x = <<<EOT\nhello\nEOT;\n        return $x;\n    }\n    private ?A $n = 1;\n}\n",
        "Login 2-11, Login.MAX 3-3, Login.check 4-9, Login.n 10-10",
    ),
    "a.swift": (
        "extension L {\n static let s = L()\n init?(_ t: K) {\n }\n func g() { let a = 1 }\n}\n",
        "L 1-6, L.s 2-2, L.init 3-4, L.g 5-5",
    ),
    "a.lua": (
        "local M = {}\nfunction M.check(x)\n  local y = 1\n  return y\nend\n-- why\nM.limit = 4\n",
        "M 1-1, M.check 2-5, M.limit 7-7",
    ),
    "a.scala": ("object A {\n def b =\n  x\n\n val y = 3\n}\n", "A 1-6, A.b 2-3, A.y 5-5"),
    "a.py": ("x = {\n 'a': 1,\n}\nf(a=1)\nclass A:\n b: int = 1\n", "x 1-3, A 5-6, A.b 6-6"),
    "a.dart": ("class A {\n factory A.of(int x) => A(x);\n}\n", "A 1-3, A.A.of 2-2"),
    "a.sql": ("CREATE TABLE IF NOT EXISTS a.b (\n  c int\n);\nSELECT 1;\n", "a.b 1-3"),
    "b.sql": (
        "CREATE FUNCTION f()\nRETURNS A AS $$\nDECLARE b A;\nCREATE TABLE c(d);\n b;\nEND;\n$$;\n",
        "f 1-6",
    ),
}


@pytest.mark.parametrize("path", TEXTS)
def test_definitions_by_keywords_and_indentation(path: str) -> None:
    text, expected = TEXTS[path]
    found = [f"{name} {first}-{last}" for name, first, last, *_ in looks(path, text)]
    assert ", ".join(found) == expected


@pytest.mark.parametrize(
    "text",
    [
        "class A {\n" * 90_000,
        ("a " * 240 + "\n") * 2000,
        ("@a(b" * 120 + "\n") * 2000,
        "".join(f"{' ' * n}class A\n" for n in range(1300)),
        ("fun <" * 90 + "\n") * 2000,
        'x = "' + '\\"' * 400_000,
    ],
)
@pytest.mark.parametrize("path", ["a.cs", "a.kt"])
def test_any_text_is_read_in_bounded_time(path: str, text: str) -> None:
    begin = time.process_time()
    assert len([*looks(path, text)]) <= 20
    assert time.process_time() - begin < 2
