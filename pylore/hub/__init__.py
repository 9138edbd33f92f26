"""The hub: where stores meet, on PostgreSQL. All SQL that a hub is asked with is here."""

from __future__ import annotations
