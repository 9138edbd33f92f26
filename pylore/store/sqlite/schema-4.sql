-- What version 4 changes in the tables of the versions before.

-- The pieces of words are read from a table that comes with lore.
DROP TABLE words;

-- Lists are in this order: the first of them are read without a look at the others.
CREATE INDEX nodes_updated ON nodes(updated_at DESC, id) WHERE invalidated_at IS NULL;
CREATE INDEX nodes_forgotten ON nodes(updated_at DESC, id) WHERE invalidated_at IS NOT NULL;
CREATE INDEX nodes_staged ON nodes(updated_at DESC, id) WHERE status = 'staged';

-- What is staged of a thing is looked at whenever that is read.
CREATE INDEX edges_staged_out ON graph_edges(from_id) WHERE status = 'staged';
CREATE INDEX edges_staged_in ON graph_edges(to_id) WHERE status = 'staged';
