-- Files inside documents, and what a page's reading was decided on.

ALTER TABLE pages
    ADD COLUMN note text,
    ADD COLUMN figures jsonb;

-- The document that came in by itself, at the top of the tree; NULL for that one. Its files are one level below it.
ALTER TABLE documents
    ADD COLUMN root_document_id bigint REFERENCES documents,
    ADD COLUMN depth            integer NOT NULL DEFAULT 0 CHECK (depth >= 0),
    ADD CONSTRAINT below_a_root CHECK ((depth = 0) = (root_document_id IS NULL));
CREATE INDEX documents_root ON documents (root_document_id) WHERE root_document_id IS NOT NULL;

-- Every file inside a document, those left out included. The same bytes may be in many: they are one document, whose
-- parent_document_id is the first. Written in the transaction that completes the parent.
CREATE TABLE attachments (
    parent_document_id bigint NOT NULL REFERENCES documents,
    number             integer NOT NULL CHECK (number >= 1),
    name               text NOT NULL,
    media_type         text NOT NULL,
    document_id        bigint REFERENCES documents,
    left_out           text,
    -- The file that shows the same invoice to people; 0 is the parent itself.
    rendition_of       integer CHECK (rendition_of >= 0),
    PRIMARY KEY (parent_document_id, number),
    CONSTRAINT a_document_or_left_out CHECK ((document_id IS NULL) = (left_out IS NOT NULL))
);
CREATE INDEX attachments_of_document ON attachments (document_id) WHERE document_id IS NOT NULL;

-- An invoice's XML beside the PDF that shows it: one business document, counted once.
CREATE FUNCTION is_a_rendition(document bigint) RETURNS boolean
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
        SELECT EXISTS (
            SELECT 1
            FROM attachments
            WHERE attachments.document_id = document
                AND attachments.rendition_of IS NOT NULL
        )
    $$;

CREATE VIEW attachments_v AS
SELECT
    attachments.parent_document_id,
    parents.name AS parent_name,
    attachments.number,
    attachments.name,
    attachments.media_type,
    attachments.document_id,
    attachments.left_out,
    attachments.rendition_of,
    tasks.task_id,
    tasks.status,
    tasks.reason
FROM attachments
JOIN documents AS parents ON parents.document_id = attachments.parent_document_id
LEFT JOIN LATERAL (
    SELECT task_id, status, reason
    FROM tasks
    WHERE tasks.document_id = attachments.document_id
    ORDER BY tasks.task_id DESC
    LIMIT 1
) AS tasks ON true;

CREATE OR REPLACE VIEW documents_v AS
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
    documents.sha256,
    documents.parent_document_id,
    documents.root_document_id,
    documents.depth
FROM documents
JOIN LATERAL (
    SELECT *
    FROM tasks
    WHERE tasks.document_id = documents.document_id
    ORDER BY tasks.task_id DESC
    LIMIT 1
) AS tasks ON true
LEFT JOIN attempts AS accepted ON accepted.task_id = tasks.task_id AND accepted.outcome = 'succeeded';

CREATE OR REPLACE VIEW pages_v AS
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
    tasks.status,
    pages.note,
    pages.figures
FROM pages
JOIN tasks ON tasks.task_id = pages.task_id
JOIN documents ON documents.document_id = tasks.document_id;

CREATE OR REPLACE VIEW invoices AS
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
WHERE document_type = 'invoice'
    AND NOT is_a_rendition(document_id);
