"""Events: what happened in sessions, in the user's state folder, for days to weeks."""

from __future__ import annotations
