-- Fewer index entries a claim and a completion: each of them writes a new version of its rows, into every index there is.

-- A token is looked for beside the key of its attempt, and is drawn at random: 122 bits need no net.
ALTER TABLE attempts DROP CONSTRAINT attempts_lease_token_key;

-- One index for two: the tasks of a document, and no two of them live. A live one stands at 0, one that has ended at its id.
DROP INDEX tasks_of_document;
DROP INDEX tasks_one_live;
CREATE UNIQUE INDEX tasks_one_live ON tasks
    (document_id, (CASE WHEN status IN ('enqueued', 'delayed', 'processing') THEN 0 ELSE task_id END));
