-- Fewer index entries a claim and a completion: each of them writes a new version of its rows, into every index there is.

-- A token is looked for beside the key of its attempt, and is drawn at random: 122 bits need no net.
ALTER TABLE attempts DROP CONSTRAINT attempts_lease_token_key;
