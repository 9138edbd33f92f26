-- What version 4 changes in the tables of the versions before.

-- The pieces of words are read from a table that comes with lore.
DROP TABLE words;

-- What a file says is compressed: it is read by `lore index` alone.
ALTER TABLE code_files RENAME TO code_files_3;
CREATE TABLE code_files(
  path TEXT PRIMARY KEY,                   -- relative to the project
  hash TEXT NOT NULL,
  stamp TEXT NOT NULL,                     -- size and time, so that unchanged files cost a stat
  language TEXT NOT NULL DEFAULT '',
  facts BLOB NOT NULL                      -- JSON by zlib; plain JSON where it is from before
) WITHOUT ROWID;
INSERT INTO code_files SELECT path, hash, stamp, language, facts FROM code_files_3;
DROP TABLE code_files_3;

-- What the names in each file came to, so that after a change only those are resolved
-- again that hang on it. An owner is a file, or a package or a folder that has no answers.
-- Without a row for all files everything is resolved again.
CREATE TABLE code_answers(
  key INTEGER PRIMARY KEY,
  owner TEXT NOT NULL UNIQUE,
  outline TEXT NOT NULL DEFAULT '',        -- what imports of other files may name of it
  reads BLOB NOT NULL,                     -- what was looked up for what: marks of 32 bits
  answers BLOB NOT NULL                    -- JSON by zlib
);

-- The files that define, inherit from, or pass something for what has a mark.
CREATE TABLE code_marks(
  mark INTEGER NOT NULL,
  owner INTEGER NOT NULL,                  -- a key of code_answers
  PRIMARY KEY (mark, owner)
) WITHOUT ROWID;
