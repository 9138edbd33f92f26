"""Names of methods that say nothing of the class that has them."""

from __future__ import annotations

_BUILT_IN = {
    name for kind in (str, bytes, list, dict, set, int, float, object) for name in dir(kind)
}
_LIBRARIES = (
    "add addAll all any append apply as_mut as_ref as_str assign at back begin bind borrow call"
    " catch charAt chars clear clone close cloned collect compare compareTo concat contains"
    " containsKey copy count create data debug default delete deref done drop each empty emplace"
    " end endsWith ends_with entries entrySet equals erase error every execute exists exit expect"
    " extend fields fill filter finally find findIndex finish first flush fmt forEach format from"
    " front get getClass getName group has hasNext hasOwnProperty hash hashCode head id includes"
    " indexOf info init insert into into_iter intValue invoke is_empty is_none is_some isEmpty"
    " items iter iterator join key keys keySet last len length listen load lock log main map"
    " match matches max merge message min name new next of off ok on once open or_else parse path"
    " peek pop pop_back print printf println push push_back push_str put query read readLine"
    " recv reduce release remove replace reserve reset resolve resume reverse run save seek"
    " select send set setTimeout shift show size sleep slice sort splice split start starts_with"
    " startsWith stop str stream string submit substr substring sum take tell test then throw to"
    " to_owned to_s to_string toLowerCase toString toUpperCase trim try unlock unshift unwrap"
    " unwrap_or update use valueOf value values wait warn with write"
)
COMMON = frozenset(_BUILT_IN) | frozenset(_LIBRARIES.split())
"""Methods that the languages' own types have: no name to know a receiver's class by."""
