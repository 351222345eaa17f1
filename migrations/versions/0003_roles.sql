-- Several installations in one database, and roles that may do only their part.

-- Bodies that are parsed now, not at every call: the names in them mean this schema's, whatever the search path of a
-- session says, and statements may still inline them. A SET clause would pin the names as well, and stop the inlining.

CREATE OR REPLACE FUNCTION clock_offset() RETURNS interval
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN CAST(COALESCE(NULLIF(current_setting('doclease.clock_offset', true), ''), '0') AS interval);

CREATE OR REPLACE FUNCTION queue_now() RETURNS timestamptz
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN now() + clock_offset();

CREATE OR REPLACE FUNCTION queue_clock() RETURNS timestamptz
    LANGUAGE sql VOLATILE PARALLEL SAFE
    RETURN clock_timestamp() + clock_offset();

CREATE OR REPLACE FUNCTION is_a_rendition(document bigint) RETURNS boolean
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN EXISTS (
        SELECT 1
        FROM attachments
        WHERE attachments.document_id = document
            AND attachments.rendition_of IS NOT NULL
    );

CREATE OR REPLACE FUNCTION field_value(result jsonb, field text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN result #>> ARRAY['fields', field, '0', 'value'];

CREATE OR REPLACE FUNCTION as_date(value text) RETURNS date
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN CASE
        WHEN value ~ '^[12][0-9]{3}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$' THEN
            CASE
                WHEN CAST(right(value, 2) AS integer) <= EXTRACT(DAY FROM
                    CAST(CAST(left(value, 8) || '01' AS date) AS timestamp) + INTERVAL '1 month' - INTERVAL '1 day')
                THEN CAST(value AS date)
            END
    END;

CREATE OR REPLACE FUNCTION as_amount(value text) RETURNS numeric
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN value ~ '^-?[0-9]{1,15}([.][0-9]{1,6})?$' THEN CAST(value AS numeric) END;

-- Column rights cannot tell a task in work from one that has ended, so two guards do. They bind everybody but the owner of
-- the tables, who may have to mend something.

CREATE FUNCTION guard_history() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT pg_has_role(current_user, (SELECT relowner FROM pg_catalog.pg_class WHERE oid = TG_RELID), 'MEMBER') THEN
        RAISE EXCEPTION '%', TG_ARGV[0] USING ERRCODE = 'insufficient_privilege';
    END IF;
    RETURN NEW;
END $$;

-- A task begins in line, or ended before any attempt: never with a result that no attempt brought.
CREATE TRIGGER tasks_beginnings BEFORE INSERT ON tasks FOR EACH ROW
    WHEN (NEW.status NOT IN ('enqueued', 'failed', 'quarantined') OR NEW.attempt_no <> 0)
    EXECUTE FUNCTION guard_history('a task begins in line, or is refused at the door');

-- What an attempt came to stands. Only late_finish_at may still be written.
CREATE TRIGGER attempts_history BEFORE UPDATE ON attempts FOR EACH ROW
    WHEN (OLD.outcome IS NOT NULL AND (
        (OLD.task_id, OLD.attempt_no, OLD.lease_token, OLD.worker, OLD.started_at, OLD.ended_at, OLD.outcome)
            IS DISTINCT FROM
        (NEW.task_id, NEW.attempt_no, NEW.lease_token, NEW.worker, NEW.started_at, NEW.ended_at, NEW.outcome)
        OR (OLD.reason, OLD.error, OLD.page_no, OLD.pages_done, OLD.result)
            IS DISTINCT FROM (NEW.reason, NEW.error, NEW.page_no, NEW.pages_done, NEW.result)))
    EXECUTE FUNCTION guard_history('an attempt that has ended is history');
