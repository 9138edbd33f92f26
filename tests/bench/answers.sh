#!/usr/bin/env bash
# Usage: tests/bench/answers.sh CLONES --set FOLDER [--only SECTION,…] [--misses] [--json | --text]
# Summary: measure answers to all kinds of questions, and compare them with their goals
#
# CLONES has a clone of each repository by its name: click, flask, pytest, requests and sqlfluff;
# a repository without one is left out. Sections:
#
#   pages       questions that a page of documentation answers: FOLDER/pages/questions.tsv
#   questions   questions about code, and the files that answer: FOLDER/questions/*.jsonl
#   records     tests/bench/answers/records.jsonl among code and pages
#   weak        tests/bench/answers/nonsense.tsv: questions without an answer
#   contexts    symbols, reasons and nonsense in contexts
#
#   --set FOLDER           the sets; LORE_SETS unless set
#   --only SECTION,…       these sections alone
#   --misses               print on stderr which questions are not answered
#
# Stores are made once in .bench/answers. After a change of the index, delete it.

. "${BASH_SOURCE[0]%/*}/start.sh"
start "${BASH_SOURCE[0]}" answers.py "$@"
