-- What each role may do, and PUBLIC may not. Applied after every upgrade, so what a later version takes away is taken away.
-- Every table, view and function stands in the first part; a test finds one that was forgotten.

REVOKE ALL ON
    alembic_version, arrivals, attachments, attempts, documents, inbox_scans, lease_rates, pages, reasons, sweeper_state, tasks,
    accepted_results, attachments_v, attempts_v, contracts, documents_v, failures, invoices, pages_v, queue_status, recoveries,
    throughput
    FROM PUBLIC, "<ingest>", "<work>", "<read>";
REVOKE ALL ON FUNCTION
    as_amount(text), as_date(text), clock_offset(), field_value(jsonb, text), guard_history(), guard_task_moves(),
    is_a_rendition(bigint), queue_clock(), queue_now()
    FROM PUBLIC, "<ingest>", "<work>", "<read>";
REVOKE ALL ON SCHEMA "<schema>" FROM "<ingest>", "<work>", "<read>";
REVOKE CREATE ON SCHEMA "<schema>" FROM PUBLIC;

-- All three: find the schema, know its version, tell the queue's time. Metrics of any process show the last sweep and scan.
GRANT USAGE ON SCHEMA "<schema>" TO "<ingest>", "<work>", "<read>";
GRANT SELECT ON alembic_version TO "<ingest>", "<work>", "<read>";
GRANT EXECUTE ON FUNCTION clock_offset(), queue_now(), queue_clock() TO "<ingest>", "<work>", "<read>";

-- Ingest: `ingest`, `watch`, and what an operator asks of tasks and documents (`tasks retry`, `tasks cancel`,
-- `documents reprocess`, `documents unlock`). Writes no lease, so it can neither take a task nor end one that is in work; sees
-- no page and no result.
GRANT SELECT ON documents, tasks, arrivals, attachments, inbox_scans, lease_rates, sweeper_state TO "<ingest>";
GRANT INSERT (sha256, name, raw_name, media_type, byte_count, page_count, ocr_page_count, restricted, batch,
              parent_document_id, root_document_id, depth)
    ON documents TO "<ingest>", "<work>";
GRANT UPDATE (media_type, page_count, ocr_page_count, restricted) ON documents TO "<ingest>", "<work>";
GRANT INSERT (document_id, handler, page_count, ocr_page_count, status, reason, error, priority, rank_ms, lease_seconds,
              deadline_seconds, failure_count, finished_at)
    ON tasks TO "<ingest>", "<work>";
GRANT UPDATE (status, reason, error, failure_count, crash_count, release_count, cancel_requested, not_before, finished_at)
    ON tasks TO "<ingest>", "<work>";
GRANT INSERT (token, document_id, task_id, origin, name, raw_path, device, inode, byte_count, mtime_ns, duplicate, placed_at,
              placed_path)
    ON arrivals TO "<ingest>";
GRANT UPDATE (placed_at, placed_path) ON arrivals TO "<ingest>";
GRANT INSERT, UPDATE (scanned_at, waiting_files, note) ON inbox_scans TO "<ingest>";

-- Work: `work`, `sweep`. It shares with ingest what it needs to take in the files inside a document.
GRANT SELECT ON documents, tasks, attempts, pages, attachments, sweeper_state, lease_rates, inbox_scans TO "<work>";
GRANT UPDATE (attempt_no, lease_token, lease_holder, lease_expires_at, deadline_at, pages_done, progressed_at)
    ON tasks TO "<work>";
GRANT INSERT (task_id, attempt_no, lease_token, worker, lease_seconds, started_at, progressed_at, pages_done, pages_reused)
    ON attempts TO "<work>";
GRANT UPDATE (outcome, reason, error, page_no, ended_at, progressed_at, pages_done, renewals, cpu_seconds, peak_rss_bytes,
              late_finish_at, result)
    ON attempts TO "<work>";
GRANT INSERT (task_id, page_no, attempt_no, text, layout, source, engine, error, seconds, identifiers, note, figures),
      UPDATE (attempt_no, text, layout, source, engine, error, seconds, identifiers, note, figures)
    ON pages TO "<work>";
GRANT INSERT, UPDATE (name, media_type, document_id, left_out, rendition_of) ON attachments TO "<work>";
GRANT UPDATE (last_ok_at, braked_at, graced_at, swept_by) ON sweeper_state TO "<work>";
GRANT INSERT, UPDATE (seconds_per_page, samples, calibrated_at) ON lease_rates TO "<work>";

-- Read: `status`, `leases`, `search`, `export`, `sql`, and the lists and stories of `tasks` and `documents`. Writes nothing.
GRANT SELECT ON
    arrivals, attachments, attempts, documents, inbox_scans, lease_rates, pages, reasons, sweeper_state, tasks,
    accepted_results, attachments_v, attempts_v, contracts, documents_v, failures, invoices, pages_v, queue_status, recoveries,
    throughput
    TO "<read>";
GRANT EXECUTE ON FUNCTION as_amount(text), as_date(text), field_value(jsonb, text), is_a_rendition(bigint) TO "<read>";
