-- An office's documents as rows: nine invoices of two pages to one contract of two, of 800 sellers, every third one doubtful.
-- One in 200 invoices repeats an earlier one. :documents says how many. Statements end at a line with a semicolon alone.

INSERT INTO documents (sha256, name, raw_name, media_type, byte_count, page_count)
SELECT encode(sha256(convert_to('document ' || number, 'UTF8')), 'hex'), 'document-' || number || '.pdf', 'x',
    'application/pdf', 1000, 2
FROM generate_series(1, CAST(:documents AS integer)) AS number
;
INSERT INTO tasks
    (document_id, page_count, status, reason, rank_ms, lease_seconds, deadline_seconds, attempt_no, finished_at, pages_done)
SELECT document_id, 2, 'succeeded', 'ok', 1, 1, 1, 1, now() - document_id * interval '1 minute', 2
FROM documents
;
CREATE TEMPORARY TABLE told AS
SELECT
    task_id,
    task_id % 10 = 0 AS is_contract,
    task_id - CASE WHEN task_id % 200 = 1 THEN 7 ELSE 0 END AS same,
    CASE WHEN task_id % 3 = 0 THEN 0.5 + random() * 0.5 ELSE 0.95 END AS confidence
FROM tasks
;
INSERT INTO attempts
    (task_id, attempt_no, lease_token, worker, lease_seconds, started_at, progressed_at, ended_at, outcome, result)
SELECT task_id, 1, gen_random_uuid(), 'bench', 1, now(), now(), now(), 'succeeded', jsonb_build_object(
    'document_type', CASE WHEN is_contract THEN 'contract' ELSE 'invoice' END,
    'checks', CASE WHEN is_contract THEN '{}' ELSE jsonb_build_object(
        'net_plus_tax_is_gross', task_id % 20 <> 3, 'items_add_up', true, 'taxes_add_up', true) END,
    'messages', jsonb_build_object(),
    'fields', (
        SELECT jsonb_object_agg(name, jsonb_build_array(jsonb_build_object(
            'value', value, 'printed', value, 'page', 1, 'method', 'label', 'confidence', confidence,
            'snippet', 'the line of the page with its label and ' || value, 'box', '[0.1, 0.2, 0.3, 0.25]')))
        FROM (
            VALUES
                ('title', 'Services Agreement ' || task_id, true),
                ('parties', 'Company ' || task_id % 500, true),
                ('agreement_date', '2024-03-01', true),
                ('effective_date', '2024-04-01', true),
                ('expiration_date', to_char(date '2025-01-01' + CAST(task_id % 900 AS integer), 'YYYY-MM-DD'), true),
                ('term', '3 years', true),
                ('renewal_term', '1 year', true),
                ('renewal_notice', '3 months', true),
                ('governing_law', 'Delaware', true),
                ('invoice_number', 'INV-' || same, false),
                ('issue_date', to_char(date '2023-01-01' + CAST(same % 1400 AS integer), 'YYYY-MM-DD'), false),
                ('due_date', to_char(date '2023-02-01' + CAST(task_id % 1400 AS integer), 'YYYY-MM-DD'), false),
                ('seller_name', 'Seller ' || same % 800, false),
                ('buyer_name', 'Our Company', false),
                ('currency', 'EUR', false),
                ('total_net', same % 5000 || '.00', false),
                ('total_tax', '19.00', false),
                ('total_gross', same % 5000 + 19 || '.00', false),
                ('amount_due', same % 5000 + 19 || '.00', false),
                ('seller_vat_id', 'DE' || 100000000 + same % 800, false),
                ('iban', 'DE0212030000000020' || lpad(CAST(task_id % 800 AS text), 4, '0'), false)
        ) AS given (name, value, of_contract)
        WHERE of_contract = is_contract))
FROM told
;
INSERT INTO field_groups
SELECT task_id, 1, 'lines', number, (
    SELECT jsonb_object_agg(name, jsonb_build_object('value', value, 'printed', value, 'page', 1, 'method', 'label',
        'confidence', 0.8, 'snippet', 'Article 4 2.50 10.00', 'box', '[0.1, 0.2, 0.3, 0.25]'))
    FROM (
        VALUES ('name', 'Article ' || (task_id + number) % 3000), ('quantity', '4'), ('price', '2.50'), ('net_amount', '10.00')
    ) AS given (name, value))
FROM told, generate_series(1, 6) AS number
WHERE NOT is_contract
;
INSERT INTO field_groups
SELECT task_id, 1, 'taxes', 1, '{"tax_rate": {"value": "19"}, "tax_amount": {"value": "19.00"}}'
FROM told
WHERE NOT is_contract
;
INSERT INTO field_groups
SELECT task_id, 1, 'parties', number, jsonb_build_object('name', jsonb_build_object('value', 'Company ' || task_id * number % 900))
FROM told, generate_series(1, 2) AS number
WHERE is_contract
;
INSERT INTO clauses
SELECT task_id, 1, number, CAST(number AS text), 1, 'Heading ' || number % 20, 1 + number % 2, 0, 1 + number % 2, 300,
    CASE number % 20 WHEN 3 THEN '{audit}' WHEN 4 THEN '{assignment}' ELSE CAST('{}' AS text[]) END
FROM told, generate_series(1, 40) AS number
WHERE is_contract
;
INSERT INTO pages (task_id, page_no, attempt_no, text, source, engine, seconds, identifiers)
SELECT task_id, page_no, 1, repeat('words of page ' || task_id || ' ', 20), 'text_layer', 'bench', 0.01, 'x' || task_id
FROM told, generate_series(1, 2) AS page_no
;
SELECT count(unpack_result(task_id, 1, result))
FROM attempts
;
