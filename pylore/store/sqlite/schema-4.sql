-- What version 4 changes in the tables of the versions before.

-- The pieces of words are read from a table that comes with lore.
DROP TABLE words;
