-- What version 4 changes in the tables of the versions before.

-- The pieces of words are read from a table that comes with lore.
DROP TABLE words;

-- In how many passages a word was that many have, when they were last counted. A large
-- collection is searched by its rare words first (rare_first.py); the row of '' says how
-- many passages there were. Nothing but the time that a search takes hangs on it.
CREATE TABLE common_words(
  collection TEXT NOT NULL,
  word TEXT NOT NULL,
  passages INTEGER NOT NULL,
  PRIMARY KEY (collection, word)
) WITHOUT ROWID;
