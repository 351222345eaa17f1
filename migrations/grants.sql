-- What each role may do, and PUBLIC may not. Applied after every upgrade, so what a later version takes away is taken away.
-- Every table, view and function stands in the first part; a test finds one that was forgotten.

REVOKE ALL ON
    alembic_version, arrivals, attachments, attempts, checks, clauses, corrections, current_contracts, current_invoices,
    current_results, documents, field_groups, fields, inbox_scans, lease_rates, pages, reasons, sweeper_state, tasks, workers,
    accepted_results, attachments_v, attempts_v, business_duplicates, checks_v, clauses_v, contract_parties, contracts,
    corrections_v, current_groups, documents_v, failures, fields_v, invoice_lines, invoice_taxes, invoices, pages_v,
    queue_status, recoveries, review_documents, review_queue, throughput
    FROM PUBLIC, "<ingest>", "<work>", "<read>", "<review>";
REVOKE ALL ON FUNCTION
    accept_result(), apply_correction(), as_amount(text), as_box(jsonb), as_confidence(jsonb), as_date(text), as_page(jsonb),
    as_period(text), check_correction(), clock_offset(), field_value(jsonb, text), folded(text),
    guard_history(), guard_task_moves(), identifier_key(text), is_a_rendition(bigint), is_amount_field(text), is_date_field(text),
    name_key(text), printed_amounts(text), queue_clock(), queue_now(), refresh_contract(bigint, jsonb), refresh_current(bigint),
    refresh_invoice(bigint, jsonb), required_fields(text, boolean), review_fields(text), review_threshold(),
    unpack_result(bigint, integer, jsonb)
    FROM PUBLIC, "<ingest>", "<work>", "<read>", "<review>";
REVOKE ALL ON SCHEMA "<schema>" FROM "<ingest>", "<work>", "<read>", "<review>";
REVOKE CREATE ON SCHEMA "<schema>" FROM PUBLIC;

-- All four: find the schema, know its version, tell the queue's time. Metrics of any process show the last sweep and scan.
GRANT USAGE ON SCHEMA "<schema>" TO "<ingest>", "<work>", "<read>", "<review>";
GRANT SELECT ON alembic_version TO "<ingest>", "<work>", "<read>", "<review>";
GRANT EXECUTE ON FUNCTION clock_offset(), queue_now(), queue_clock() TO "<ingest>", "<work>", "<read>", "<review>";

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
GRANT INSERT (task_id, page_no, attempt_no, text, layout, source, engine, error, seconds, identifiers, note, figures, places),
      UPDATE (attempt_no, text, layout, source, engine, error, seconds, identifiers, note, figures, places)
    ON pages TO "<work>";
GRANT EXECUTE ON FUNCTION folded(text), printed_amounts(text) TO "<work>";
GRANT INSERT, UPDATE (name, media_type, document_id, left_out, rendition_of) ON attachments TO "<work>";
GRANT UPDATE (last_ok_at, braked_at, graced_at, swept_by) ON sweeper_state TO "<work>";
-- A worker's own row ends with it; everybody who sweeps clears away those of the dead.
GRANT SELECT, INSERT, DELETE, UPDATE (session_pid, session_start, server_started_at, attended_at, returned_at, missing_since)
    ON workers TO "<work>";
GRANT INSERT, UPDATE (seconds_per_page, samples, calibrated_at) ON lease_rates TO "<work>";

-- What a result says becomes rows by a trigger with the owner's rights; lines and clauses, which are many, by the worker. It
-- looks up what was corrected in earlier invoices of an issuer.
GRANT INSERT ON field_groups, clauses TO "<work>";
GRANT SELECT ON corrections, current_invoices, current_results TO "<work>";

-- Read: `status`, `leases`, `search`, `export`, `sql`, and the lists and stories of `tasks` and `documents`. Writes nothing.
-- Review: all that, and corrections, which are only ever added.
GRANT SELECT ON
    arrivals, attachments, attempts, checks, clauses, corrections, current_contracts, current_invoices, current_results,
    documents, field_groups, fields, inbox_scans, lease_rates, pages, reasons, sweeper_state, tasks, workers,
    accepted_results, attachments_v, attempts_v, business_duplicates, checks_v, clauses_v, contract_parties, contracts,
    corrections_v, current_groups, documents_v, failures, fields_v, invoice_lines, invoice_taxes, invoices, pages_v,
    queue_status, recoveries, review_documents, review_queue, throughput
    TO "<read>", "<review>";
GRANT EXECUTE ON FUNCTION
    as_amount(text), as_box(jsonb), as_confidence(jsonb), as_date(text), as_page(jsonb), as_period(text),
    field_value(jsonb, text), folded(text), identifier_key(text), is_a_rendition(bigint), is_amount_field(text),
    is_date_field(text), name_key(text), printed_amounts(text), review_fields(text), review_threshold()
    TO "<read>", "<review>";
GRANT INSERT (document_id, subject, group_name, group_no, name, action, value, page, snippet, by_whom)
    ON corrections TO "<review>";
