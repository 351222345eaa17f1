-- Every change of the rows that leases protect, with the session that made it. Only a trial installs this: it is the witness
-- against the statements under test, and knows nothing of them. An entry is committed exactly when its change is.
CREATE TABLE trial_audit (
    entry       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    written_at  double precision NOT NULL DEFAULT EXTRACT(EPOCH FROM clock_timestamp()),
    began_at    double precision NOT NULL DEFAULT EXTRACT(EPOCH FROM now()),
    transaction text NOT NULL DEFAULT CAST(pg_current_xact_id() AS text),
    backend     integer NOT NULL DEFAULT pg_backend_pid(),
    relation    text NOT NULL,
    task_id     bigint,
    attempt_no  integer,
    before      jsonb,
    after       jsonb
);

CREATE FUNCTION trial_task(task tasks) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object(
        'status', task.status,
        'token', task.lease_token,
        'holder', task.lease_holder,
        'attempt_no', task.attempt_no,
        'expires_at', EXTRACT(EPOCH FROM task.lease_expires_at),
        'progressed_at', EXTRACT(EPOCH FROM task.progressed_at))
$$;

-- What is closed may be marked as finished late, and changes in nothing else.
CREATE FUNCTION trial_attempt(attempt attempts) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object(
        'outcome', attempt.outcome,
        'digest', md5(CAST(
            (attempt.lease_token, attempt.worker, attempt.ended_at, attempt.outcome, attempt.reason, attempt.error,
             attempt.page_no, attempt.pages_done, attempt.renewals, attempt.result) AS text)))
$$;

CREATE FUNCTION trial_page(page pages) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object('page_no', page.page_no, 'attempt_no', page.attempt_no)
$$;

CREATE FUNCTION trial_record() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    was jsonb;
    now_is jsonb;
BEGIN
    IF TG_TABLE_NAME = 'tasks' THEN
        was := CASE WHEN TG_OP <> 'INSERT' THEN trial_task(OLD) END;
        now_is := CASE WHEN TG_OP <> 'DELETE' THEN trial_task(NEW) END;
    ELSIF TG_TABLE_NAME = 'attempts' THEN
        was := CASE WHEN TG_OP <> 'INSERT' THEN trial_attempt(OLD) END;
        now_is := CASE WHEN TG_OP <> 'DELETE' THEN trial_attempt(NEW) END;
    ELSE
        was := CASE WHEN TG_OP <> 'INSERT' THEN trial_page(OLD) END;
        now_is := CASE WHEN TG_OP <> 'DELETE' THEN trial_page(NEW) END;
    END IF;
    INSERT INTO trial_audit (relation, task_id, attempt_no, before, after)
    VALUES (TG_TABLE_NAME, COALESCE(NEW.task_id, OLD.task_id), COALESCE(NEW.attempt_no, OLD.attempt_no), was, now_is);
    RETURN NULL;
END $$;

CREATE TRIGGER trial_tasks AFTER INSERT OR UPDATE OR DELETE ON tasks FOR EACH ROW EXECUTE FUNCTION trial_record();
CREATE TRIGGER trial_attempts AFTER INSERT OR UPDATE OR DELETE ON attempts FOR EACH ROW EXECUTE FUNCTION trial_record();
CREATE TRIGGER trial_pages AFTER INSERT OR UPDATE OR DELETE ON pages FOR EACH ROW EXECUTE FUNCTION trial_record();

-- When leases were extended after an outage: their time counts from there.
CREATE FUNCTION trial_grace() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO trial_audit (relation) VALUES ('grace');
    RETURN NULL;
END $$;
CREATE TRIGGER trial_grace AFTER UPDATE ON sweeper_state FOR EACH ROW
    WHEN (OLD.graced_at IS DISTINCT FROM NEW.graced_at) EXECUTE FUNCTION trial_grace();
