-- What documents say, as rows: fields, checks, lines, clauses, and what people corrected.
--
-- An attempt's result is history; a correction is history too. What is in force is derived from both and stands in the
-- three tables current_*: one narrow row a document, so that views stay fast at any size. Nobody writes them but
-- refresh_current(), which the completing transaction and every correction call by a trigger.

-- What attempts found ----------------------------------------------------------------------------------------------------

CREATE TABLE fields (
    task_id    bigint NOT NULL,
    attempt_no integer NOT NULL,
    name       text NOT NULL,
    ordinal    integer NOT NULL,
    -- As docs/querying.md has it: a date as YYYY-MM-DD, an amount as a plain decimal; printed is what the page shows.
    value      text NOT NULL,
    printed    text,
    currency   text,
    confidence real,
    method     text,
    page       integer,
    box        real[],
    snippet    text,
    PRIMARY KEY (task_id, attempt_no, name, ordinal),
    FOREIGN KEY (task_id, attempt_no) REFERENCES attempts ON DELETE CASCADE
);

-- Lines, rows of the tax breakdown, parties: the cells of each by name, each cell with what a field has.
CREATE TABLE field_groups (
    task_id    bigint NOT NULL,
    attempt_no integer NOT NULL,
    name       text NOT NULL CHECK (name IN ('lines', 'taxes', 'parties')),
    number     integer NOT NULL CHECK (number >= 1),
    cells      jsonb NOT NULL CHECK (jsonb_typeof(cells) = 'object'),
    PRIMARY KEY (task_id, attempt_no, name, number),
    FOREIGN KEY (task_id, attempt_no) REFERENCES attempts ON DELETE CASCADE
);

CREATE TABLE checks (
    task_id    bigint NOT NULL,
    attempt_no integer NOT NULL,
    name       text NOT NULL,
    passed     boolean NOT NULL,
    message    text,
    PRIMARY KEY (task_id, attempt_no, name),
    FOREIGN KEY (task_id, attempt_no) REFERENCES attempts ON DELETE CASCADE
);

CREATE TABLE clauses (
    task_id    bigint NOT NULL,
    attempt_no integer NOT NULL,
    clause_no  integer NOT NULL CHECK (clause_no >= 1),
    number     text NOT NULL,
    level      integer NOT NULL,
    heading    text NOT NULL,
    -- From a character of one page, counted from 0, to that of another, which is not in it.
    page       integer NOT NULL,
    starts_at  integer NOT NULL,
    end_page   integer NOT NULL,
    ends_at    integer NOT NULL,
    tags       text[] NOT NULL,
    PRIMARY KEY (task_id, attempt_no, clause_no),
    FOREIGN KEY (task_id, attempt_no) REFERENCES attempts ON DELETE CASCADE
);
CREATE INDEX clauses_tags ON clauses USING gin (tags) WHERE tags <> '{}';

-- What people said -------------------------------------------------------------------------------------------------------

CREATE TABLE corrections (
    correction_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    document_id   bigint NOT NULL REFERENCES documents,
    -- The result that was looked at; a later one is corrected all the same.
    task_id       bigint NOT NULL REFERENCES tasks,
    attempt_no    integer NOT NULL,
    subject       text NOT NULL DEFAULT 'field' CHECK (subject IN ('field', 'check', 'document')),
    group_name    text NOT NULL DEFAULT '' CHECK (group_name IN ('', 'lines', 'taxes', 'parties')),
    group_no      integer NOT NULL DEFAULT 0,
    name          text NOT NULL DEFAULT '',
    action        text NOT NULL CHECK (action IN ('accept', 'fix', 'remove', 'skip')),
    value         text,
    page          integer,
    snippet       text,
    by_whom       text NOT NULL DEFAULT session_user,
    at            timestamptz NOT NULL DEFAULT queue_clock(),
    CONSTRAINT a_fix_says_what_is_right CHECK ((action = 'fix') = (value IS NOT NULL)),
    CONSTRAINT only_fields_are_fixed CHECK (subject = 'field' OR action IN ('accept', 'skip')),
    CONSTRAINT a_group_has_a_number CHECK ((group_name = '') = (group_no = 0)),
    CONSTRAINT a_document_is_only_put_off CHECK ((subject = 'document') = (action = 'skip'))
);
CREATE INDEX corrections_of_document
    ON corrections (document_id, subject, group_name, group_no, name, correction_id);

-- What is in force -------------------------------------------------------------------------------------------------------

CREATE TABLE current_results (
    document_id      bigint PRIMARY KEY REFERENCES documents ON DELETE CASCADE,
    task_id          bigint NOT NULL,
    attempt_no       integer NOT NULL,
    document_type    text,
    -- What makes somebody look: see review_queue.
    failed_checks    integer NOT NULL,
    missing          text[] NOT NULL,
    least_confidence real,
    corrected_at     timestamptz,
    put_off_at       timestamptz,
    -- The transaction that wrote this row. Rows of transactions that had not ended are what a snapshot tells apart.
    changed_xid      xid8 NOT NULL DEFAULT pg_current_xact_id(),
    changed_at       timestamptz NOT NULL DEFAULT queue_clock(),
    FOREIGN KEY (task_id, attempt_no) REFERENCES attempts ON DELETE CASCADE
);
CREATE INDEX current_results_attempt ON current_results (task_id, attempt_no);
CREATE INDEX current_results_changed ON current_results (changed_xid);

CREATE TABLE current_invoices (
    document_id        bigint PRIMARY KEY REFERENCES current_results ON DELETE CASCADE,
    invoice_number     text,
    issue_date         date,
    due_date           date,
    seller_name        text,
    buyer_name         text,
    currency           text,
    total_net          numeric,
    total_tax          numeric,
    total_gross        numeric,
    amount_due         numeric,
    seller_vat_id      text,
    iban               text,
    type_code          text,
    seller_tax_id      text,
    seller_address     text,
    buyer_vat_id       text,
    payee_name         text,
    bic                text,
    debited_iban       text,
    mandate            text,
    creditor_id        text,
    payment_means      text,
    payment_reference  text,
    payment_terms      text,
    buyer_reference    text,
    purchase_order     text,
    contract_reference text,
    preceding_invoice  text,
    delivery_date      date,
    period_start       date,
    period_end         date,
    total_lines        numeric,
    total_allowances   numeric,
    total_charges      numeric,
    prepaid            numeric,
    rounding           numeric,
    -- For comparing: letters and digits only, folded, of bounded length.
    number_key         text,
    seller_key         text,
    vat_key            text,
    iban_key           text
);
CREATE INDEX current_invoices_number ON current_invoices (number_key, total_gross);
CREATE INDEX current_invoices_seller ON current_invoices (seller_key);
CREATE INDEX current_invoices_vat ON current_invoices (vat_key);
CREATE INDEX current_invoices_iban ON current_invoices (iban_key);
CREATE INDEX current_invoices_issued ON current_invoices (issue_date);
CREATE INDEX current_invoices_due ON current_invoices (due_date);
CREATE INDEX current_invoices_gross ON current_invoices (total_gross);

CREATE TABLE current_contracts (
    document_id           bigint PRIMARY KEY REFERENCES current_results ON DELETE CASCADE,
    title                 text,
    contract_number       text,
    contract_type         text,
    parties               text,
    agreement_date        date,
    effective_date        date,
    expiration_date       date,
    expiration_method     text,
    expiration_confidence real,
    term                  text,
    renewal_term          text,
    notice_period         text,
    renewal_notice        text,
    termination_notice    text,
    notice_by             date,
    governing_law         text
);
CREATE INDEX current_contracts_agreed ON current_contracts (COALESCE(effective_date, agreement_date));
CREATE INDEX current_contracts_end ON current_contracts (expiration_date);
CREATE INDEX current_contracts_notice ON current_contracts (notice_by);

-- Words of the schema, parsed now so that their names mean this schema's ---------------------------------------------------

CREATE FUNCTION is_amount_field(name text) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN name ~ '^(total|amount)_' OR name ~ '_amount$'
        OR name IN ('prepaid', 'rounding', 'quantity', 'price', 'tax_rate');

CREATE FUNCTION is_date_field(name text) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN name ~ '_date$' OR name IN ('period_start', 'period_end');

-- "3 months", as the contract handler writes durations; NULL for anything else.
CREATE FUNCTION as_period(value text) RETURNS interval
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN value ~ '^[0-9]{1,4} (day|week|month|year)s?$' THEN CAST(value AS interval) END;

-- Letters and digits of any script, folded, without accents.
CREATE FUNCTION name_key(value text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN NULLIF(left(regexp_replace(lower(normalize(left(value, 300), NFKD)),
        '[\s[:punct:]\u0300-\u036f´`’‘“”«»–—]+', '', 'g'), 200), '');

-- The same as identifiers of pages are compared.
CREATE FUNCTION identifier_key(value text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN NULLIF(left(regexp_replace(lower(normalize(left(value, 300), NFKD)), '[^0-9a-z]+', '', 'g'), 200), '');

CREATE FUNCTION as_box(value jsonb) RETURNS real[]
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE
        WHEN jsonb_typeof(value) = 'array' AND jsonb_path_exists(value, 'strict $ ? (@.size() == 4)')
            AND NOT jsonb_path_exists(value, 'strict $[*] ? (@.type() != "number" || @ < 0 || @ > 1)')
        THEN ARRAY[CAST(value ->> 0 AS real), CAST(value ->> 1 AS real),
                   CAST(value ->> 2 AS real), CAST(value ->> 3 AS real)]
    END;

CREATE FUNCTION as_page(value jsonb) RETURNS integer
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE
        WHEN jsonb_typeof(value) = 'number' AND CAST(value AS numeric) BETWEEN 1 AND 1000000000
        THEN CAST(CAST(value AS numeric) AS integer)
    END;

CREATE FUNCTION as_confidence(value jsonb) RETURNS real
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE
        WHEN jsonb_typeof(value) = 'number'
        THEN CAST(round(LEAST(GREATEST(CAST(value AS numeric), 0), 1), 4) AS real)
    END;

-- What is surer than this needs no eye. `doclease` sets it from review.accept_at; psql has the same by default.
CREATE FUNCTION review_threshold() RETURNS real
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN CAST(COALESCE(NULLIF(current_setting('doclease.review_accept_at', true), ''), '0.9') AS real);

-- The fields whose doubt makes somebody look.
CREATE FUNCTION review_fields(document_type text) RETURNS text[]
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE document_type
        WHEN 'invoice' THEN ARRAY['invoice_number', 'issue_date', 'due_date', 'seller_name', 'currency', 'total_net',
            'total_tax', 'total_gross', 'amount_due', 'seller_vat_id', 'iban']
        WHEN 'contract' THEN ARRAY['agreement_date', 'effective_date', 'expiration_date', 'renewal_term',
            'renewal_notice', 'notice_period', 'termination_notice', 'governing_law']
        ELSE ARRAY[]::text[]
    END;

-- Those that must be there. A receipt from a till has no number and names no buyer.
CREATE FUNCTION required_fields(document_type text, is_addressed boolean) RETURNS text[]
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE document_type
        WHEN 'invoice' THEN ARRAY['issue_date', 'seller_name', 'currency', 'total_gross']
            || CASE WHEN is_addressed THEN ARRAY['invoice_number'] ELSE ARRAY[]::text[] END
        WHEN 'contract' THEN ARRAY['parties']
        ELSE ARRAY[]::text[]
    END;

-- Views: documented in docs/querying.md, stable ---------------------------------------------------------------------------

-- The correction in force of each field and check.
CREATE VIEW corrections_v AS
SELECT DISTINCT ON (document_id, subject, group_name, group_no, name)
    document_id,
    subject,
    group_name,
    group_no,
    name AS field,
    action,
    value,
    page,
    snippet,
    by_whom,
    at,
    correction_id,
    task_id,
    attempt_no
FROM corrections
WHERE subject <> 'document'
ORDER BY document_id, subject, group_name, group_no, name, correction_id DESC;

CREATE VIEW fields_v AS
WITH found AS (
    SELECT current_results.document_id, '' AS group_name, 0 AS group_no, fields.name AS field, fields.ordinal, fields.value,
        fields.printed, fields.currency, fields.confidence, fields.method, fields.page, fields.box, fields.snippet
    FROM current_results
    JOIN fields USING (task_id, attempt_no)
    UNION ALL
    SELECT current_results.document_id, field_groups.name, field_groups.number, cells.field, 1, cells.cell ->> 'value',
        cells.cell ->> 'printed', NULL, as_confidence(cells.cell -> 'confidence'), cells.cell ->> 'method',
        as_page(cells.cell -> 'page'), as_box(cells.cell -> 'box'), cells.cell ->> 'snippet'
    FROM current_results
    JOIN field_groups USING (task_id, attempt_no)
    CROSS JOIN LATERAL jsonb_each(field_groups.cells) AS cells (field, cell)
),
corrected AS (
    SELECT *
    FROM corrections_v
    WHERE subject = 'field'
)
SELECT
    found.document_id,
    found.group_name,
    found.group_no,
    found.field,
    found.ordinal,
    CASE WHEN corrected.action = 'fix' THEN corrected.value ELSE found.value END AS value,
    CASE WHEN corrected.action = 'fix' THEN NULL ELSE found.printed END AS printed,
    found.currency,
    CASE WHEN corrected.action IS NULL THEN found.confidence ELSE 1 END AS confidence,
    CASE WHEN corrected.action = 'fix' THEN 'human' ELSE found.method END AS method,
    CASE WHEN corrected.action = 'fix' THEN corrected.page ELSE found.page END AS page,
    CASE WHEN corrected.action = 'fix' THEN NULL ELSE found.box END AS box,
    CASE WHEN corrected.action = 'fix' THEN corrected.snippet ELSE found.snippet END AS snippet,
    found.value AS value_found,
    corrected.by_whom AS reviewed_by,
    corrected.at AS reviewed_at
FROM found
LEFT JOIN corrected
    ON corrected.document_id = found.document_id
    AND corrected.group_name = found.group_name
    AND corrected.group_no = found.group_no
    AND corrected.field = found.field
    AND (found.ordinal = 1 OR corrected.action = 'remove')
WHERE corrected.action IS DISTINCT FROM 'remove'
UNION ALL
SELECT
    corrected.document_id,
    corrected.group_name,
    corrected.group_no,
    corrected.field,
    1,
    corrected.value,
    NULL,
    NULL,
    1,
    'human',
    corrected.page,
    NULL,
    corrected.snippet,
    NULL,
    corrected.by_whom,
    corrected.at
FROM corrected
JOIN current_results ON current_results.document_id = corrected.document_id
WHERE corrected.action = 'fix'
    AND NOT EXISTS (
        SELECT
        FROM fields
        WHERE fields.task_id = current_results.task_id
            AND fields.attempt_no = current_results.attempt_no
            AND corrected.group_name = ''
            AND fields.name = corrected.field
            AND fields.ordinal = 1
    )
    AND NOT EXISTS (
        SELECT
        FROM field_groups
        WHERE field_groups.task_id = current_results.task_id
            AND field_groups.attempt_no = current_results.attempt_no
            AND field_groups.name = corrected.group_name
            AND field_groups.number = corrected.group_no
            AND field_groups.cells ? corrected.field
    );

-- A check that failed is settled when a person accepted it, or judged the field that it doubts, or when the corrected sums fit.
CREATE VIEW checks_v AS
SELECT
    current_results.document_id,
    checks.name AS "check",
    checks.passed,
    checks.message,
    CASE
        WHEN checks.passed THEN NULL
        WHEN accepted.by_whom IS NOT NULL THEN 'accepted by ' || accepted.by_whom
        WHEN judged.by_whom IS NOT NULL THEN judged.field || ' judged by ' || judged.by_whom
        WHEN checks.name = 'net_plus_tax_is_gross' AND current_results.corrected_at IS NOT NULL
            AND abs(current_invoices.total_net + current_invoices.total_tax - current_invoices.total_gross) < 0.01
        THEN 'the corrected sums fit'
    END AS settled
FROM current_results
JOIN checks USING (task_id, attempt_no)
LEFT JOIN current_invoices ON current_invoices.document_id = current_results.document_id
LEFT JOIN corrections_v AS accepted
    ON accepted.document_id = current_results.document_id
    AND accepted.subject = 'check'
    AND accepted.group_name = ''
    AND accepted.group_no = 0
    AND accepted.field = checks.name
LEFT JOIN corrections_v AS judged
    ON judged.document_id = current_results.document_id
    AND judged.subject = 'field'
    AND judged.group_name = ''
    AND judged.group_no = 0
    AND judged.field = substring(checks.name FROM '^xml_vs_print_(.+)$');

-- In force ---------------------------------------------------------------------------------------------------------------

CREATE FUNCTION refresh_invoice(document bigint, facts jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM current_invoices WHERE document_id = document;
    INSERT INTO current_invoices VALUES (
        document,
        facts ->> 'invoice_number',
        as_date(facts ->> 'issue_date'),
        as_date(facts ->> 'due_date'),
        facts ->> 'seller_name',
        facts ->> 'buyer_name',
        facts ->> 'currency',
        as_amount(facts ->> 'total_net'),
        as_amount(facts ->> 'total_tax'),
        as_amount(facts ->> 'total_gross'),
        as_amount(facts ->> 'amount_due'),
        facts ->> 'seller_vat_id',
        facts ->> 'iban',
        facts ->> 'type_code',
        facts ->> 'seller_tax_id',
        facts ->> 'seller_address',
        facts ->> 'buyer_vat_id',
        facts ->> 'payee_name',
        facts ->> 'bic',
        facts ->> 'debited_iban',
        facts ->> 'mandate',
        facts ->> 'creditor_id',
        facts ->> 'payment_means',
        facts ->> 'payment_reference',
        facts ->> 'payment_terms',
        facts ->> 'buyer_reference',
        facts ->> 'purchase_order',
        facts ->> 'contract_reference',
        facts ->> 'preceding_invoice',
        as_date(facts ->> 'delivery_date'),
        as_date(facts ->> 'period_start'),
        as_date(facts ->> 'period_end'),
        as_amount(facts ->> 'total_lines'),
        as_amount(facts ->> 'total_allowances'),
        as_amount(facts ->> 'total_charges'),
        as_amount(facts ->> 'prepaid'),
        as_amount(facts ->> 'rounding'),
        identifier_key(facts ->> 'invoice_number'),
        name_key(facts ->> 'seller_name'),
        identifier_key(facts ->> 'seller_vat_id'),
        identifier_key(facts ->> 'iban')
    );
END $$;

CREATE FUNCTION refresh_contract(document bigint, facts jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM current_contracts WHERE document_id = document;
    INSERT INTO current_contracts
    SELECT
        document,
        facts ->> 'title',
        facts ->> 'contract_number',
        facts ->> 'contract_type',
        (SELECT string_agg(value, '; ' ORDER BY ordinal)
         FROM fields_v
         WHERE document_id = document AND group_name = '' AND field = 'parties'),
        as_date(facts ->> 'agreement_date'),
        as_date(facts ->> 'effective_date'),
        as_date(facts ->> 'expiration_date'),
        expiration.method,
        expiration.confidence,
        facts ->> 'term',
        facts ->> 'renewal_term',
        facts ->> 'notice_period',
        facts ->> 'renewal_notice',
        facts ->> 'termination_notice',
        CAST(as_date(facts ->> 'expiration_date')
            - as_period(COALESCE(facts ->> 'renewal_notice', facts ->> 'notice_period')) AS date),
        facts ->> 'governing_law'
    FROM (VALUES (true)) AS once (only_row)
    LEFT JOIN LATERAL (
        SELECT method, confidence
        FROM fields_v
        WHERE document_id = document AND group_name = '' AND field = 'expiration_date' AND ordinal = 1
    ) AS expiration ON true;
END $$;

-- Derives the current rows of a document from its newest accepted result and its corrections. The owner's rights, so that no
-- role can write them in another way.
CREATE FUNCTION refresh_current(document bigint) RETURNS void LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
    accepted record;
    facts jsonb;
    judged text[];
BEGIN
    -- A correction and the completion of a reprocess may meet: one after the other, each sees what the first committed.
    PERFORM FROM current_results WHERE document_id = document FOR UPDATE;
    SELECT attempts.task_id, attempts.attempt_no, attempts.result ->> 'document_type' AS document_type
        INTO accepted
        FROM tasks
        JOIN attempts ON attempts.task_id = tasks.task_id AND attempts.outcome = 'succeeded'
        WHERE tasks.document_id = document AND tasks.status = 'succeeded'
        ORDER BY tasks.task_id DESC
        LIMIT 1;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    INSERT INTO current_results (document_id, task_id, attempt_no, document_type, failed_checks, missing)
        VALUES (document, accepted.task_id, accepted.attempt_no, accepted.document_type, 0, '{}')
        ON CONFLICT (document_id) DO UPDATE
        SET task_id = excluded.task_id, attempt_no = excluded.attempt_no, document_type = excluded.document_type,
            changed_xid = excluded.changed_xid, changed_at = excluded.changed_at;
    facts := (
        SELECT COALESCE(jsonb_object_agg(field, value), '{}')
        FROM fields_v
        WHERE document_id = document
            AND group_name = ''
            AND ordinal = 1
            AND value IS NOT NULL
    );
    DELETE FROM current_invoices WHERE document_id = document AND accepted.document_type IS DISTINCT FROM 'invoice';
    DELETE FROM current_contracts WHERE document_id = document AND accepted.document_type IS DISTINCT FROM 'contract';
    IF accepted.document_type = 'invoice' THEN
        PERFORM refresh_invoice(document, facts);
    ELSIF accepted.document_type = 'contract' THEN
        PERFORM refresh_contract(document, facts);
    END IF;
    judged := ARRAY(SELECT field FROM corrections_v
        WHERE document_id = document AND subject = 'field' AND group_name = '' AND action IN ('accept', 'remove'));
    UPDATE current_results
        SET corrected_at = (SELECT max(at) FROM corrections
                WHERE corrections.document_id = document AND subject <> 'document'),
            put_off_at = (SELECT max(at) FROM corrections
                WHERE corrections.document_id = document AND subject = 'document'),
            failed_checks = (SELECT count(*) FROM checks_v
                WHERE checks_v.document_id = document AND NOT passed AND settled IS NULL),
            missing = ARRAY(SELECT wanted
                FROM unnest(required_fields(accepted.document_type, facts ? 'buyer_name' OR facts ? 'iban')) AS wanted
                WHERE NOT facts ? wanted AND wanted <> ALL (judged)),
            least_confidence = (SELECT min(confidence) FROM fields_v
                WHERE fields_v.document_id = document AND group_name = '' AND ordinal = 1
                    AND field = ANY (review_fields(accepted.document_type)))
        WHERE document_id = document;
END $$;

-- What a child said has been checked before; still no odd value may keep a result from being accepted.
CREATE FUNCTION unpack_result(task bigint, attempt integer, result jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM fields WHERE task_id = task AND attempt_no = attempt;
    DELETE FROM checks WHERE task_id = task AND attempt_no = attempt;
    INSERT INTO fields
        (task_id, attempt_no, name, ordinal, value, printed, currency, confidence, method, page, box, snippet)
    SELECT
        task,
        attempt,
        named.name,
        found.ordinal,
        found.item ->> 'value',
        NULLIF(found.item ->> 'printed', ''),
        CASE WHEN is_amount_field(named.name) THEN left(field_value(result, 'currency'), 8) END,
        as_confidence(found.item -> 'confidence'),
        found.item ->> 'method',
        as_page(found.item -> 'page'),
        as_box(found.item -> 'box'),
        NULLIF(found.item ->> 'snippet', '')
    FROM jsonb_each(
        CASE WHEN jsonb_typeof(result -> 'fields') = 'object' THEN result -> 'fields' ELSE '{}' END) AS named (name, items)
    CROSS JOIN LATERAL jsonb_array_elements(
        CASE WHEN jsonb_typeof(named.items) = 'array' THEN named.items ELSE '[]' END)
        WITH ORDINALITY AS found (item, ordinal)
    WHERE jsonb_typeof(found.item) = 'object'
        AND found.item ->> 'value' IS NOT NULL
        AND length(named.name) <= 100
    ON CONFLICT DO NOTHING;
    INSERT INTO checks (task_id, attempt_no, name, passed, message)
    SELECT task, attempt, made.name, CAST(made.passed AS boolean), result #>> ARRAY['messages', made.name]
    FROM jsonb_each(
        CASE WHEN jsonb_typeof(result -> 'checks') = 'object' THEN result -> 'checks' ELSE '{}' END) AS made (name, passed)
    WHERE jsonb_typeof(made.passed) = 'boolean'
        AND length(made.name) <= 100
    ON CONFLICT DO NOTHING;
END $$;

-- The result becomes rows in the transaction that accepts it, whatever version of a worker brought it; again when an owner
-- mends one.
CREATE FUNCTION accept_result() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    PERFORM unpack_result(NEW.task_id, NEW.attempt_no, NEW.result);
    PERFORM refresh_current((SELECT document_id FROM tasks WHERE task_id = NEW.task_id));
    RETURN NEW;
END $$;
CREATE TRIGGER attempts_accepted AFTER UPDATE ON attempts FOR EACH ROW
    WHEN (NEW.outcome = 'succeeded' AND jsonb_typeof(NEW.result -> 'document_type') = 'string'
        AND (OLD.outcome IS NULL OR OLD.result IS DISTINCT FROM NEW.result))
    EXECUTE FUNCTION accept_result();

CREATE FUNCTION check_correction() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
    looked_at record;
BEGIN
    SELECT task_id, attempt_no INTO looked_at FROM current_results WHERE document_id = NEW.document_id;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'document % has no result to correct', NEW.document_id USING ERRCODE = 'check_violation';
    END IF;
    NEW.task_id := looked_at.task_id;
    NEW.attempt_no := looked_at.attempt_no;
    IF NEW.subject = 'field' AND NEW.name !~ '^[a-z][a-z0-9_]{0,63}$' THEN
        RAISE EXCEPTION '% is no name of a field', NEW.name USING ERRCODE = 'check_violation';
    END IF;
    IF NEW.action = 'fix' AND is_date_field(NEW.name) AND as_date(NEW.value) IS NULL THEN
        RAISE EXCEPTION '% is a date, written YYYY-MM-DD', NEW.name USING ERRCODE = 'check_violation';
    END IF;
    IF NEW.action = 'fix' AND is_amount_field(NEW.name) AND as_amount(NEW.value) IS NULL THEN
        RAISE EXCEPTION '% is a number, written like 1234.56', NEW.name USING ERRCODE = 'check_violation';
    END IF;
    IF NEW.action = 'fix' AND (btrim(NEW.value) = '' OR length(NEW.value) > 2000) THEN
        RAISE EXCEPTION 'a value has between 1 and 2000 characters' USING ERRCODE = 'check_violation';
    END IF;
    IF NEW.group_name <> '' AND NOT EXISTS (
        SELECT FROM field_groups
        WHERE task_id = NEW.task_id AND attempt_no = NEW.attempt_no AND name = NEW.group_name AND number = NEW.group_no)
    THEN
        RAISE EXCEPTION 'document % has no % of number %', NEW.document_id, NEW.group_name, NEW.group_no
            USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER corrections_checked BEFORE INSERT ON corrections FOR EACH ROW EXECUTE FUNCTION check_correction();

CREATE FUNCTION apply_correction() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    PERFORM refresh_current(NEW.document_id);
    RETURN NEW;
END $$;
CREATE TRIGGER corrections_applied AFTER INSERT ON corrections FOR EACH ROW EXECUTE FUNCTION apply_correction();

CREATE OR REPLACE FUNCTION guard_history() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT pg_has_role(current_user, (SELECT relowner FROM pg_catalog.pg_class WHERE oid = TG_RELID), 'MEMBER') THEN
        RAISE EXCEPTION '%', TG_ARGV[0] USING ERRCODE = 'insufficient_privilege';
    END IF;
    IF TG_OP = 'DELETE' THEN
        RETURN OLD;
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER corrections_history BEFORE UPDATE OR DELETE ON corrections FOR EACH ROW
    EXECUTE FUNCTION guard_history('a correction stands; what is wrong in it is corrected by another one');

-- Functions whose plans are worth keeping for a session are in PL/pgSQL, which looks names up when it is called: they bring the
-- search path. The owner's rights must not be lent to names that a caller put there.
DO $$
DECLARE
    named text;
BEGIN
    FOREACH named IN ARRAY ARRAY[
        'refresh_invoice(bigint, jsonb)', 'refresh_contract(bigint, jsonb)', 'refresh_current(bigint)',
        'unpack_result(bigint, integer, jsonb)', 'accept_result()', 'check_correction()', 'apply_correction()'] LOOP
        EXECUTE format('ALTER FUNCTION %s SET search_path = %I, pg_catalog, pg_temp', named, current_schema());
        -- All that they read is of one document. A plan from when the tables were empty would read whole tables later.
        EXECUTE format('ALTER FUNCTION %s SET enable_seqscan = off', named);
    END LOOP;
END $$;

-- What was read before this version ----------------------------------------------------------------------------------------

SELECT unpack_result(task_id, attempt_no, result) FROM attempts WHERE outcome = 'succeeded' AND result IS NOT NULL;
SELECT refresh_current(document_id) FROM (SELECT DISTINCT document_id FROM tasks WHERE status = 'succeeded') AS read;

-- Views on what is in force ------------------------------------------------------------------------------------------------

CREATE OR REPLACE VIEW accepted_results AS
SELECT
    current_results.document_id,
    documents.name,
    current_results.task_id,
    current_results.attempt_no,
    current_results.document_type,
    attempts.result,
    tasks.page_count,
    tasks.reason,
    tasks.finished_at
FROM current_results
JOIN documents ON documents.document_id = current_results.document_id
JOIN tasks ON tasks.task_id = current_results.task_id
JOIN attempts ON attempts.task_id = current_results.task_id AND attempts.attempt_no = current_results.attempt_no;

CREATE OR REPLACE VIEW invoices AS
SELECT
    current_invoices.document_id,
    documents.name,
    current_invoices.invoice_number,
    current_invoices.issue_date,
    current_invoices.due_date,
    current_invoices.seller_name,
    current_invoices.buyer_name,
    current_invoices.currency,
    current_invoices.total_net,
    current_invoices.total_tax,
    current_invoices.total_gross,
    current_invoices.amount_due,
    current_invoices.seller_vat_id,
    current_invoices.iban,
    tasks.page_count,
    tasks.reason,
    attempts.result -> 'fields' AS fields,
    attempts.result -> 'checks' AS checks,
    tasks.finished_at,
    current_invoices.type_code,
    current_invoices.seller_tax_id,
    current_invoices.seller_address,
    current_invoices.buyer_vat_id,
    current_invoices.payee_name,
    current_invoices.bic,
    current_invoices.debited_iban,
    current_invoices.mandate,
    current_invoices.creditor_id,
    current_invoices.payment_means,
    current_invoices.payment_reference,
    current_invoices.payment_terms,
    current_invoices.buyer_reference,
    current_invoices.purchase_order,
    current_invoices.contract_reference,
    current_invoices.preceding_invoice,
    current_invoices.delivery_date,
    current_invoices.period_start,
    current_invoices.period_end,
    current_invoices.total_lines,
    current_invoices.total_allowances,
    current_invoices.total_charges,
    current_invoices.prepaid,
    current_invoices.rounding,
    current_results.least_confidence,
    current_results.failed_checks,
    current_results.missing,
    current_results.corrected_at,
    current_results.changed_at
FROM current_invoices
JOIN current_results ON current_results.document_id = current_invoices.document_id
JOIN documents ON documents.document_id = current_invoices.document_id
LEFT JOIN tasks ON tasks.task_id = current_results.task_id
LEFT JOIN attempts ON attempts.task_id = current_results.task_id AND attempts.attempt_no = current_results.attempt_no
WHERE NOT is_a_rendition(current_invoices.document_id);

CREATE OR REPLACE VIEW contracts AS
SELECT
    current_contracts.document_id,
    documents.name,
    current_contracts.title,
    current_contracts.parties,
    current_contracts.agreement_date,
    current_contracts.effective_date,
    current_contracts.expiration_date,
    current_contracts.term,
    current_contracts.notice_period,
    current_contracts.governing_law,
    tasks.page_count,
    tasks.reason,
    attempts.result -> 'fields' AS fields,
    attempts.result -> 'checks' AS checks,
    tasks.finished_at,
    current_contracts.contract_number,
    current_contracts.contract_type,
    current_contracts.renewal_term,
    current_contracts.renewal_notice,
    current_contracts.termination_notice,
    current_contracts.notice_by,
    current_contracts.expiration_method,
    current_contracts.expiration_confidence,
    current_results.least_confidence,
    current_results.failed_checks,
    current_results.missing,
    current_results.corrected_at,
    current_results.changed_at
FROM current_contracts
JOIN current_results ON current_results.document_id = current_contracts.document_id
JOIN documents ON documents.document_id = current_contracts.document_id
LEFT JOIN tasks ON tasks.task_id = current_results.task_id
LEFT JOIN attempts ON attempts.task_id = current_results.task_id AND attempts.attempt_no = current_results.attempt_no;

-- Cells of lines, taxes and parties with what was corrected in them. A cell that was removed has no value.
CREATE VIEW current_groups AS
SELECT
    current_results.document_id,
    field_groups.name AS group_name,
    field_groups.number AS group_no,
    field_groups.cells || COALESCE(corrected.cells, '{}') AS cells
FROM current_results
JOIN field_groups USING (task_id, attempt_no)
LEFT JOIN (
    SELECT
        document_id,
        group_name,
        group_no,
        jsonb_object_agg(field, jsonb_build_object('value', value, 'method', 'human', 'confidence', 1)) AS cells
    FROM corrections_v
    WHERE group_no > 0
        AND action IN ('fix', 'remove')
    GROUP BY document_id, group_name, group_no
) AS corrected
    ON corrected.document_id = current_results.document_id
    AND corrected.group_name = field_groups.name
    AND corrected.group_no = field_groups.number;

CREATE VIEW invoice_lines AS
SELECT
    current_groups.document_id,
    documents.name,
    current_invoices.seller_name,
    current_invoices.invoice_number,
    current_invoices.issue_date,
    current_groups.group_no AS line_no,
    cells #>> '{number,value}' AS number,
    cells #>> '{name,value}' AS item_name,
    cells #>> '{description,value}' AS description,
    cells #>> '{item_number,value}' AS item_number,
    as_amount(cells #>> '{quantity,value}') AS quantity,
    cells #>> '{unit,value}' AS unit,
    as_amount(cells #>> '{price,value}') AS price,
    as_amount(cells #>> '{net_amount,value}') AS net_amount,
    cells #>> '{tax_category,value}' AS tax_category,
    as_amount(cells #>> '{tax_rate,value}') AS tax_rate,
    current_invoices.currency,
    as_page(cells #> '{net_amount,page}') AS page,
    as_confidence(cells #> '{net_amount,confidence}') AS confidence,
    cells #>> '{net_amount,method}' AS method
FROM current_groups
JOIN current_invoices ON current_invoices.document_id = current_groups.document_id
JOIN documents ON documents.document_id = current_groups.document_id
WHERE current_groups.group_name = 'lines'
    AND NOT is_a_rendition(current_groups.document_id);

CREATE VIEW invoice_taxes AS
SELECT
    current_groups.document_id,
    documents.name,
    current_invoices.seller_name,
    current_invoices.invoice_number,
    current_invoices.issue_date,
    current_groups.group_no AS tax_no,
    as_amount(cells #>> '{taxable_amount,value}') AS taxable_amount,
    as_amount(cells #>> '{tax_rate,value}') AS tax_rate,
    as_amount(cells #>> '{tax_amount,value}') AS tax_amount,
    cells #>> '{tax_category,value}' AS tax_category,
    cells #>> '{exemption_reason,value}' AS exemption_reason,
    cells #>> '{exemption_code,value}' AS exemption_code,
    current_invoices.currency,
    as_page(cells #> '{tax_amount,page}') AS page,
    as_confidence(cells #> '{tax_amount,confidence}') AS confidence,
    cells #>> '{tax_amount,method}' AS method
FROM current_groups
JOIN current_invoices ON current_invoices.document_id = current_groups.document_id
JOIN documents ON documents.document_id = current_groups.document_id
WHERE current_groups.group_name = 'taxes'
    AND NOT is_a_rendition(current_groups.document_id);

CREATE VIEW contract_parties AS
SELECT
    current_groups.document_id,
    documents.name,
    current_contracts.title,
    current_groups.group_no AS party_no,
    cells #>> '{name,value}' AS party,
    cells #>> '{alias,value}' AS alias,
    cells #>> '{kind,value}' AS kind,
    as_page(cells #> '{name,page}') AS page,
    as_confidence(cells #> '{name,confidence}') AS confidence
FROM current_groups
JOIN current_contracts ON current_contracts.document_id = current_groups.document_id
JOIN documents ON documents.document_id = current_groups.document_id
WHERE current_groups.group_name = 'parties';

CREATE VIEW clauses_v AS
SELECT
    current_results.document_id,
    documents.name,
    clauses.clause_no,
    clauses.number,
    clauses.level,
    clauses.heading,
    clauses.tags,
    clauses.page,
    clauses.end_page,
    (
        SELECT string_agg(
            CASE
                WHEN pages.page_no = clauses.page AND pages.page_no = clauses.end_page
                THEN substr(pages.text, clauses.starts_at + 1, GREATEST(clauses.ends_at - clauses.starts_at, 0))
                WHEN pages.page_no = clauses.page THEN substr(pages.text, clauses.starts_at + 1)
                WHEN pages.page_no = clauses.end_page THEN left(pages.text, clauses.ends_at)
                ELSE pages.text
            END, E'\n' ORDER BY pages.page_no)
        FROM pages
        WHERE pages.task_id = clauses.task_id
            AND pages.page_no BETWEEN clauses.page AND clauses.end_page
    ) AS text
FROM current_results
JOIN clauses USING (task_id, attempt_no)
JOIN documents ON documents.document_id = current_results.document_id;

-- One row a document that somebody should look at, the largest amounts first, what was put off last.
CREATE VIEW review_documents AS
SELECT
    current_results.document_id,
    documents.name,
    current_results.document_type,
    current_results.failed_checks,
    current_results.missing,
    current_results.least_confidence,
    current_invoices.seller_name,
    current_invoices.currency,
    current_invoices.total_gross,
    documents.created_at AS received_at,
    current_results.put_off_at
FROM current_results
JOIN documents ON documents.document_id = current_results.document_id
LEFT JOIN current_invoices ON current_invoices.document_id = current_results.document_id
WHERE (current_results.failed_checks > 0
        OR cardinality(current_results.missing) > 0
        OR current_results.least_confidence < review_threshold())
    AND NOT is_a_rendition(current_results.document_id)
ORDER BY current_results.put_off_at NULLS FIRST, current_invoices.total_gross DESC NULLS LAST, current_results.document_id;

-- One row a doubt: a check that failed, a field that must be there and is not, a field less sure than review_threshold().
CREATE VIEW review_queue AS
SELECT
    review_documents.document_id,
    review_documents.name,
    review_documents.document_type,
    doubts.item,
    doubts.field,
    doubts.value,
    doubts.printed,
    doubts.confidence,
    doubts.method,
    doubts.page,
    doubts.box,
    doubts.snippet,
    doubts.why,
    review_documents.seller_name,
    review_documents.currency,
    review_documents.total_gross,
    review_documents.received_at,
    review_documents.put_off_at
FROM review_documents
CROSS JOIN LATERAL (
    SELECT 1 AS place, 'check' AS item, checks_v."check" AS field, NULL AS value, NULL AS printed,
        CAST(NULL AS real) AS confidence, NULL AS method, CAST(NULL AS integer) AS page, CAST(NULL AS real[]) AS box,
        NULL AS snippet, COALESCE(checks_v.message, 'the check failed') AS why
    FROM checks_v
    WHERE checks_v.document_id = review_documents.document_id
        AND NOT checks_v.passed
        AND checks_v.settled IS NULL
    UNION ALL
    SELECT 2, 'field', missing.field, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'it was not found'
    FROM unnest(review_documents.missing) AS missing (field)
    UNION ALL
    SELECT 3, 'field', fields_v.field, fields_v.value, fields_v.printed, fields_v.confidence, fields_v.method,
        fields_v.page, fields_v.box, fields_v.snippet,
        format('found by %s with confidence %s, below %s', fields_v.method, round(CAST(fields_v.confidence AS numeric), 2),
            review_threshold())
    FROM fields_v
    WHERE fields_v.document_id = review_documents.document_id
        AND fields_v.group_name = ''
        AND fields_v.ordinal = 1
        AND fields_v.field = ANY (review_fields(review_documents.document_type))
        AND fields_v.confidence < review_threshold()
) AS doubts
ORDER BY review_documents.put_off_at NULLS FIRST, review_documents.total_gross DESC NULLS LAST,
    review_documents.document_id, doubts.place, doubts.field;

-- The same invoice twice, as documents of different bytes: a double payment if nobody looks. An XML that shows the same invoice
-- as the PDF beside it is none, and neither is a credit note with the number of its invoice.
CREATE VIEW business_duplicates AS
SELECT
    later.document_id,
    documents.name,
    earlier.document_id AS duplicate_of,
    firsts.name AS duplicate_of_name,
    later.seller_name,
    later.invoice_number,
    later.issue_date,
    later.currency,
    later.total_gross,
    CASE
        WHEN later.vat_key = earlier.vat_key THEN 'VAT id'
        WHEN later.iban_key = earlier.iban_key THEN 'IBAN'
        ELSE 'name'
    END AS matched_by,
    documents.created_at AS received_at
FROM current_invoices AS later
JOIN LATERAL (
    SELECT candidates.*
    FROM current_invoices AS candidates
    WHERE candidates.number_key = later.number_key
        AND candidates.total_gross = later.total_gross
        AND candidates.document_id < later.document_id
        AND COALESCE(candidates.currency = later.currency, true)
        AND COALESCE(candidates.type_code = later.type_code, true)
        AND (candidates.vat_key = later.vat_key OR candidates.iban_key = later.iban_key
            OR candidates.seller_key = later.seller_key)
        AND NOT is_a_rendition(candidates.document_id)
    ORDER BY candidates.document_id
    LIMIT 1
) AS earlier ON true
JOIN documents ON documents.document_id = later.document_id
JOIN documents AS firsts ON firsts.document_id = earlier.document_id
WHERE NOT is_a_rendition(later.document_id);
