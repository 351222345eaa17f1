-- The whole schema of doclease: the queue, the documents, their pages and results, and the views that are its query surface.
-- Runs on PostgreSQL 14 to 18. Statuses, fences and counters are explained in docs/how-leases-work.md.

CREATE EXTENSION IF NOT EXISTS pg_trgm;

-- Time -----------------------------------------------------------------------------------------------------------------

-- The queue's clock. Tests move it by the session setting doclease.clock_offset (an interval); elsewhere it is not set.
CREATE FUNCTION clock_offset() RETURNS interval
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$ SELECT CAST(COALESCE(NULLIF(current_setting('doclease.clock_offset', true), ''), '0') AS interval) $$;

-- Judges: the start of the statement's transaction, so a lease is never found expired too early.
CREATE FUNCTION queue_now() RETURNS timestamptz
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$ SELECT now() + clock_offset() $$;

-- Grants: the moment of the call, so a statement that waited for a lock does not hand out a lease that began in the past.
CREATE FUNCTION queue_clock() RETURNS timestamptz
    LANGUAGE sql VOLATILE PARALLEL SAFE
    AS $$ SELECT clock_timestamp() + clock_offset() $$;

-- Documents ------------------------------------------------------------------------------------------------------------

CREATE TABLE documents (
    document_id        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    sha256             text NOT NULL UNIQUE CHECK (sha256 ~ '^[0-9a-f]{64}$'),
    name               text NOT NULL,
    raw_name           bytea NOT NULL,
    media_type         text NOT NULL,
    byte_count         bigint NOT NULL CHECK (byte_count >= 0),
    page_count         integer NOT NULL CHECK (page_count >= 0),
    ocr_page_count     integer NOT NULL DEFAULT 0 CHECK (ocr_page_count BETWEEN 0 AND page_count),
    restricted         boolean NOT NULL DEFAULT false,
    parent_document_id bigint REFERENCES documents,
    batch              text,
    created_at         timestamptz NOT NULL DEFAULT queue_now()
);
CREATE INDEX documents_batch ON documents (batch) WHERE batch IS NOT NULL;
CREATE INDEX documents_parent ON documents (parent_document_id) WHERE parent_document_id IS NOT NULL;

-- The queue ------------------------------------------------------------------------------------------------------------

CREATE TABLE tasks (
    task_id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    document_id      bigint NOT NULL REFERENCES documents,
    handler          text NOT NULL DEFAULT 'auto',
    page_count       integer NOT NULL CHECK (page_count >= 0),
    ocr_page_count   integer NOT NULL DEFAULT 0 CHECK (ocr_page_count >= 0),
    status           text NOT NULL DEFAULT 'enqueued' CHECK (status IN
        ('enqueued', 'delayed', 'processing', 'succeeded', 'failed', 'quarantined', 'cancelled')),
    reason           text,
    error            text,
    priority         smallint NOT NULL DEFAULT 0 CHECK (priority BETWEEN -10 AND 10),
    rank_ms          bigint NOT NULL,
    lease_seconds    double precision NOT NULL CHECK (lease_seconds > 0),
    deadline_seconds double precision NOT NULL CHECK (deadline_seconds >= lease_seconds),
    attempt_no       integer NOT NULL DEFAULT 0 CHECK (attempt_no >= 0),
    lease_token      uuid,
    failure_count    integer NOT NULL DEFAULT 0,
    crash_count      integer NOT NULL DEFAULT 0,
    release_count    integer NOT NULL DEFAULT 0,
    lease_holder     text,
    lease_expires_at timestamptz,
    deadline_at      timestamptz,
    pages_done       integer NOT NULL DEFAULT 0 CHECK (pages_done >= 0),
    progressed_at    timestamptz,
    not_before       timestamptz,
    cancel_requested boolean NOT NULL DEFAULT false,
    enqueued_at      timestamptz NOT NULL DEFAULT queue_now(),
    finished_at      timestamptz,
    CONSTRAINT processing_has_a_lease CHECK ((status = 'processing') =
        (lease_token IS NOT NULL AND lease_holder IS NOT NULL AND lease_expires_at IS NOT NULL AND deadline_at IS NOT NULL)),
    CONSTRAINT only_processing_has_a_lease CHECK (status = 'processing' OR
        (lease_token IS NULL AND lease_holder IS NULL AND lease_expires_at IS NULL AND deadline_at IS NULL)),
    CONSTRAINT final_has_an_end CHECK (
        (status IN ('succeeded', 'failed', 'quarantined', 'cancelled')) = (finished_at IS NOT NULL)),
    CONSTRAINT final_has_a_reason CHECK (finished_at IS NULL OR reason IS NOT NULL),
    CONSTRAINT delayed_has_a_date CHECK ((status = 'delayed') = (not_before IS NOT NULL))
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000,
        autovacuum_vacuum_cost_delay = 0, autovacuum_analyze_scale_factor = 0.05);

-- No index holds lease_expires_at: it would cost every renewal its heap-only update. The running set is small.
CREATE INDEX tasks_ready ON tasks (rank_ms, task_id) WHERE status = 'enqueued';
CREATE INDEX tasks_processing ON tasks (task_id) WHERE status = 'processing';
CREATE INDEX tasks_delayed ON tasks (not_before) WHERE status = 'delayed';
CREATE INDEX tasks_ended_badly ON tasks (finished_at) WHERE status IN ('failed', 'quarantined');
CREATE INDEX tasks_of_document ON tasks (document_id, task_id);
-- One index over all live states, so no move between them can collide.
CREATE UNIQUE INDEX tasks_one_live ON tasks (document_id) WHERE status IN ('enqueued', 'delayed', 'processing');

CREATE TABLE attempts (
    task_id        bigint NOT NULL REFERENCES tasks ON DELETE CASCADE,
    attempt_no     integer NOT NULL,
    lease_token    uuid NOT NULL UNIQUE,
    worker         text NOT NULL,
    lease_seconds  double precision NOT NULL,
    started_at     timestamptz NOT NULL,
    progressed_at  timestamptz NOT NULL,
    ended_at       timestamptz,
    outcome        text CHECK (outcome IN ('succeeded', 'failed', 'crashed', 'expired', 'released', 'cancelled')),
    reason         text,
    error          text,
    page_no        integer,
    pages_done     integer NOT NULL DEFAULT 0,
    pages_reused   integer NOT NULL DEFAULT 0,
    renewals       integer NOT NULL DEFAULT 0,
    cpu_seconds    double precision,
    peak_rss_bytes bigint,
    late_finish_at timestamptz,
    result         jsonb,
    PRIMARY KEY (task_id, attempt_no),
    CONSTRAINT ended_has_an_outcome CHECK ((ended_at IS NULL) = (outcome IS NULL)),
    CONSTRAINT only_success_has_a_result CHECK (result IS NULL OR outcome = 'succeeded')
) WITH (fillfactor = 85);
-- The net under the net: whatever a statement gets wrong, a second accepted result for a task cannot be stored.
CREATE UNIQUE INDEX attempts_one_result ON attempts (task_id) WHERE outcome = 'succeeded';
CREATE INDEX attempts_expired_of_worker ON attempts (worker, ended_at) WHERE outcome = 'expired';
CREATE INDEX attempts_lost ON attempts (ended_at) WHERE outcome IN ('crashed', 'expired');

-- Every move of tasks.status is in this list (pipeline/queue/states.py holds the same table; a test compares them).
CREATE FUNCTION guard_task_moves() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.status <> NEW.status AND (OLD.status, NEW.status) NOT IN (
        ('enqueued', 'processing'), ('enqueued', 'cancelled'),
        ('delayed', 'enqueued'), ('delayed', 'cancelled'),
        ('processing', 'succeeded'), ('processing', 'failed'), ('processing', 'quarantined'),
        ('processing', 'cancelled'), ('processing', 'delayed'), ('processing', 'enqueued'),
        ('failed', 'enqueued'), ('quarantined', 'enqueued'), ('cancelled', 'enqueued')) THEN
        RAISE EXCEPTION 'task % may not move from % to %', OLD.task_id, OLD.status, NEW.status
            USING ERRCODE = 'check_violation';
    END IF;
    IF NEW.attempt_no < OLD.attempt_no THEN
        RAISE EXCEPTION 'attempt_no of task % is never lowered', OLD.task_id USING ERRCODE = 'check_violation';
    END IF;
    IF OLD.status = 'processing' AND NEW.status = 'processing' AND OLD.lease_token <> NEW.lease_token THEN
        RAISE EXCEPTION 'the lease of task % changes hands only through the queue', OLD.task_id
            USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER tasks_guard BEFORE UPDATE ON tasks FOR EACH ROW
    WHEN (OLD.status <> NEW.status OR OLD.attempt_no <> NEW.attempt_no OR OLD.lease_token IS DISTINCT FROM NEW.lease_token)
    EXECUTE FUNCTION guard_task_moves();

-- One row: when leases were last judged. From it come the outage grace and the brake.
CREATE TABLE sweeper_state (
    only_row   boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    last_ok_at timestamptz NOT NULL,
    braked_at  timestamptz,
    graced_at  timestamptz,
    swept_by   text
);
INSERT INTO sweeper_state (last_ok_at) VALUES (now());

-- What calibrate learned: seconds a page takes, by handler and kind of page.
CREATE TABLE lease_rates (
    handler          text NOT NULL,
    source           text NOT NULL CHECK (source IN ('text', 'ocr')),
    seconds_per_page double precision NOT NULL CHECK (seconds_per_page > 0),
    samples          integer NOT NULL,
    calibrated_at    timestamptz NOT NULL,
    PRIMARY KEY (handler, source)
);

-- Pages ----------------------------------------------------------------------------------------------------------------

CREATE TABLE pages (
    task_id     bigint NOT NULL REFERENCES tasks ON DELETE CASCADE,
    page_no     integer NOT NULL CHECK (page_no >= 1),
    attempt_no  integer NOT NULL,
    text        text NOT NULL,
    layout      text,
    source      text NOT NULL CHECK (source IN ('text_layer', 'ocr', 'native', 'xml', 'none')),
    engine      text NOT NULL,
    error       text,
    seconds     double precision NOT NULL,
    identifiers text NOT NULL,
    -- A tsvector holds 1 MB; this many characters stay below it in any script, so a page can always be stored.
    search      tsvector GENERATED ALWAYS AS (to_tsvector('simple', left(text, 100000))) STORED,
    PRIMARY KEY (task_id, page_no),
    FOREIGN KEY (task_id, attempt_no) REFERENCES attempts,
    CONSTRAINT a_gap_names_its_error CHECK ((source = 'none') = (error IS NOT NULL))
);
CREATE INDEX pages_search ON pages USING gin (search);
CREATE INDEX pages_identifiers ON pages USING gin (identifiers gin_trgm_ops);

-- Arrivals: every time a file came, also when its bytes were already here -------------------------------------------------

CREATE TABLE arrivals (
    arrival_id  bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    token       uuid NOT NULL UNIQUE,
    document_id bigint NOT NULL REFERENCES documents,
    task_id     bigint NOT NULL REFERENCES tasks,
    origin      text NOT NULL CHECK (origin IN ('inbox', 'command')),
    name        text NOT NULL,
    raw_path    bytea NOT NULL,
    device      numeric(20) NOT NULL,
    inode       numeric(20) NOT NULL,
    byte_count  bigint NOT NULL,
    mtime_ns    bigint NOT NULL,
    duplicate   boolean NOT NULL DEFAULT false,
    arrived_at  timestamptz NOT NULL DEFAULT queue_now(),
    -- NULL until the file has its last place; a file that is left where it is has one at once.
    placed_at   timestamptz,
    placed_path bytea
);
CREATE INDEX arrivals_unplaced ON arrivals (arrival_id) WHERE placed_at IS NULL;
CREATE INDEX arrivals_of_document ON arrivals (document_id);
CREATE INDEX arrivals_of_file ON arrivals (device, inode);

-- One row an inbox: when it was last scanned, so that a blind watcher shows.
CREATE TABLE inbox_scans (
    inbox         text PRIMARY KEY,
    scanned_at    timestamptz NOT NULL,
    waiting_files integer NOT NULL,
    note          text
);

-- The reasons a document can end with; filled from pipeline/reasons.py at every upgrade --------------------------------

CREATE TABLE reasons (
    reason text PRIMARY KEY,
    retry  text NOT NULL,
    owner  text NOT NULL,
    help   text NOT NULL
);

-- Views: documented in docs/querying.md, stable ---------------------------------------------------------------------------

-- The first value of a field in a result; NULL when the handler did not find it.
CREATE FUNCTION field_value(result jsonb, field text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$ SELECT result #>> ARRAY['fields', field, '0', 'value'] $$;

-- Values are checked before they are stored. These two make sure that one odd row never breaks a view for all the others:
-- what is no date or no amount is NULL.
CREATE FUNCTION as_date(value text) RETURNS date
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
        SELECT CASE
            WHEN value ~ '^[12][0-9]{3}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$' THEN
                CASE
                    WHEN CAST(right(value, 2) AS integer) <= EXTRACT(DAY FROM
                        CAST(CAST(left(value, 8) || '01' AS date) AS timestamp) + INTERVAL '1 month' - INTERVAL '1 day')
                    THEN CAST(value AS date)
                END
        END
    $$;

CREATE FUNCTION as_amount(value text) RETURNS numeric
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$ SELECT CASE WHEN value ~ '^-?[0-9]{1,15}([.][0-9]{1,6})?$' THEN CAST(value AS numeric) END $$;

CREATE VIEW documents_v AS
SELECT
    documents.document_id,
    documents.name,
    documents.media_type,
    documents.page_count,
    documents.byte_count,
    documents.batch,
    tasks.task_id,
    tasks.status,
    tasks.reason,
    COALESCE(accepted.result ->> 'document_type', NULLIF(tasks.handler, 'auto')) AS document_type,
    tasks.priority,
    tasks.pages_done,
    tasks.attempt_no AS attempts,
    documents.created_at AS received_at,
    tasks.finished_at,
    documents.sha256
FROM documents
JOIN LATERAL (
    SELECT *
    FROM tasks
    WHERE tasks.document_id = documents.document_id
    ORDER BY tasks.task_id DESC
    LIMIT 1
) AS tasks ON true
LEFT JOIN attempts AS accepted ON accepted.task_id = tasks.task_id AND accepted.outcome = 'succeeded';

-- The result in force of each document: that of its newest succeeded task.
CREATE VIEW accepted_results AS
SELECT DISTINCT ON (tasks.document_id)
    tasks.document_id,
    documents.name,
    tasks.task_id,
    attempts.attempt_no,
    attempts.result ->> 'document_type' AS document_type,
    attempts.result,
    tasks.page_count,
    tasks.reason,
    tasks.finished_at
FROM tasks
JOIN attempts ON attempts.task_id = tasks.task_id AND attempts.outcome = 'succeeded'
JOIN documents ON documents.document_id = tasks.document_id
WHERE tasks.status = 'succeeded'
ORDER BY tasks.document_id, tasks.task_id DESC;

CREATE VIEW invoices AS
SELECT
    document_id,
    name,
    field_value(result, 'invoice_number') AS invoice_number,
    as_date(field_value(result, 'issue_date')) AS issue_date,
    as_date(field_value(result, 'due_date')) AS due_date,
    field_value(result, 'seller_name') AS seller_name,
    field_value(result, 'buyer_name') AS buyer_name,
    field_value(result, 'currency') AS currency,
    as_amount(field_value(result, 'total_net')) AS total_net,
    as_amount(field_value(result, 'total_tax')) AS total_tax,
    as_amount(field_value(result, 'total_gross')) AS total_gross,
    as_amount(field_value(result, 'amount_due')) AS amount_due,
    field_value(result, 'seller_vat_id') AS seller_vat_id,
    field_value(result, 'iban') AS iban,
    page_count,
    reason,
    result -> 'fields' AS fields,
    result -> 'checks' AS checks,
    finished_at
FROM accepted_results
WHERE document_type = 'invoice';

CREATE VIEW contracts AS
SELECT
    document_id,
    name,
    field_value(result, 'title') AS title,
    (SELECT string_agg(party ->> 'value', '; ')
     FROM jsonb_array_elements(
        CASE WHEN jsonb_typeof(result #> '{fields,parties}') = 'array' THEN result #> '{fields,parties}' END) AS party) AS parties,
    as_date(field_value(result, 'agreement_date')) AS agreement_date,
    as_date(field_value(result, 'effective_date')) AS effective_date,
    as_date(field_value(result, 'expiration_date')) AS expiration_date,
    field_value(result, 'term') AS term,
    field_value(result, 'notice_period') AS notice_period,
    field_value(result, 'governing_law') AS governing_law,
    page_count,
    reason,
    result -> 'fields' AS fields,
    result -> 'checks' AS checks,
    finished_at
FROM accepted_results
WHERE document_type = 'contract';

CREATE VIEW pages_v AS
SELECT
    documents.document_id,
    documents.name,
    pages.page_no,
    pages.text,
    pages.source,
    pages.engine,
    pages.error,
    pages.seconds,
    pages.task_id,
    pages.attempt_no,
    tasks.status
FROM pages
JOIN tasks ON tasks.task_id = pages.task_id
JOIN documents ON documents.document_id = tasks.document_id;

CREATE VIEW queue_status AS
SELECT
    states.status,
    COALESCE(counted.tasks, 0) AS tasks,
    COALESCE(counted.pages_left, 0) AS pages_left,
    counted.oldest_enqueued_at,
    counted.next_at
FROM (VALUES (1, 'enqueued'), (2, 'delayed'), (3, 'processing'), (4, 'succeeded'), (5, 'failed'), (6, 'quarantined'),
             (7, 'cancelled')) AS states (place, status)
LEFT JOIN (
    SELECT
        status,
        count(*) AS tasks,
        sum(page_count - LEAST(pages_done, page_count)) FILTER (WHERE finished_at IS NULL) AS pages_left,
        min(enqueued_at) FILTER (WHERE finished_at IS NULL) AS oldest_enqueued_at,
        min(COALESCE(not_before, lease_expires_at)) AS next_at
    FROM tasks
    GROUP BY status
) AS counted ON counted.status = states.status
ORDER BY states.place;

CREATE VIEW attempts_v AS
SELECT
    attempts.task_id,
    attempts.attempt_no,
    tasks.document_id,
    documents.name,
    attempts.worker,
    attempts.outcome,
    attempts.reason,
    attempts.error,
    attempts.page_no,
    attempts.pages_done,
    attempts.pages_reused,
    attempts.renewals,
    attempts.lease_seconds,
    attempts.started_at,
    attempts.ended_at,
    round(CAST(EXTRACT(EPOCH FROM attempts.ended_at - attempts.started_at) AS numeric), 3) AS seconds,
    attempts.cpu_seconds,
    attempts.peak_rss_bytes,
    attempts.late_finish_at
FROM attempts
JOIN tasks ON tasks.task_id = attempts.task_id
JOIN documents ON documents.document_id = tasks.document_id;

-- Each attempt that was lost, what happened since, and how long it took from its last sign of progress.
CREATE VIEW recoveries AS
SELECT
    lost.task_id,
    tasks.document_id,
    documents.name,
    lost.attempt_no,
    lost.worker AS lost_worker,
    lost.outcome,
    lost.reason,
    lost.pages_done AS lost_at_page,
    lost.progressed_at AS last_progress_at,
    lost.ended_at AS taken_back_at,
    round(CAST(EXTRACT(EPOCH FROM lost.ended_at - lost.progressed_at) AS numeric), 3) AS seconds_to_take_back,
    round(CAST(EXTRACT(EPOCH FROM next.started_at - lost.ended_at) AS numeric), 3) AS seconds_to_resume,
    next.attempt_no AS resumed_by_attempt,
    next.worker AS resumed_by_worker,
    next.pages_reused + 1 AS resumed_at_page,
    next.outcome AS resumed_outcome,
    lost.late_finish_at
FROM attempts AS lost
JOIN tasks ON tasks.task_id = lost.task_id
JOIN documents ON documents.document_id = tasks.document_id
LEFT JOIN attempts AS next ON next.task_id = lost.task_id AND next.attempt_no = lost.attempt_no + 1
WHERE lost.outcome IN ('crashed', 'expired');

CREATE VIEW failures AS
SELECT
    documents.document_id,
    tasks.task_id,
    documents.name,
    tasks.status,
    tasks.reason,
    tasks.error,
    last_attempt.page_no,
    reasons.help,
    reasons.owner,
    tasks.attempt_no AS attempts,
    tasks.failure_count,
    tasks.crash_count,
    tasks.finished_at
FROM tasks
JOIN documents ON documents.document_id = tasks.document_id
LEFT JOIN reasons ON reasons.reason = tasks.reason
LEFT JOIN attempts AS last_attempt ON last_attempt.task_id = tasks.task_id AND last_attempt.attempt_no = tasks.attempt_no
WHERE tasks.status IN ('failed', 'quarantined');

CREATE VIEW throughput AS
SELECT
    date_trunc('hour', finished_at) AS hour,
    count(*) FILTER (WHERE status = 'succeeded') AS documents,
    sum(pages_done) FILTER (WHERE status = 'succeeded') AS pages,
    count(*) FILTER (WHERE status IN ('failed', 'quarantined')) AS failed
FROM tasks
WHERE finished_at IS NOT NULL
GROUP BY 1;
