-- What a page is found by: its words with accents folded, and its amounts whatever their notation.
-- Both columns are generated, so pages that are stored already have them too.

DO $$
BEGIN
    IF current_setting('server_encoding') <> 'UTF8' THEN
        RAISE EXCEPTION 'the database has the encoding %, doclease needs UTF8: create it with ENCODING ''UTF8''',
            current_setting('server_encoding');
    END IF;
END $$;

-- Words as they are compared: marks above and below letters gone, ligatures and letters with a stroke written as they are
-- typed without them; ß is ss. pipeline/reports/printed.py has the same rules, a test compares the two.
CREATE FUNCTION folded(value text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE
        WHEN octet_length(value) = length(value) THEN value
        ELSE replace(replace(replace(replace(replace(replace(replace(replace(translate(
            regexp_replace(normalize(value, NFKD),
                '[\u00ad\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u200b-\u200f\u2060\ufeff]+', '', 'g'),
            'øØłŁđĐðÐıħĦς', 'oOlLdDdDihHσ'),
            'ß', 'ss'), 'ẞ', 'SS'), 'æ', 'ae'), 'Æ', 'AE'), 'œ', 'oe'), 'Œ', 'OE'), 'þ', 'th'), 'Þ', 'TH')
    END;

-- The amounts of a text without their signs: 1,234.56 and 1.234,56 and 1'234.56 and 1 234,56 are all 1234.56. An amount has
-- decimals or groups of thousands, percentages and dates are none. In "2 100.00" both 2100.00 and 100.00 are meant.
CREATE FUNCTION printed_amounts(value text) RETURNS numeric[]
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN (
        SELECT array_agg(DISTINCT
            CAST(regexp_replace(printed, '[^0-9]', '', 'g') AS numeric)
                * CASE length(substring(printed FROM '[.,]([0-9]{1,2})$')) WHEN 1 THEN 0.1 WHEN 2 THEN 0.01 ELSE 1 END)
        FROM (
            SELECT (regexp_matches(value, '([0-9][0-9.,''’]*[.,''’][0-9]+)([ \u00a0]?%)?', 'g'))[1:2] AS found
            UNION ALL
            SELECT ARRAY[(regexp_matches(value,
                '(?:^|[^0-9.,''’])([0-9]{1,3}(?:[ \u00a0\u2007\u2009\u202f][0-9]{3})+[.,][0-9]{1,2})(?![.,''’]?[0-9])',
                'g'))[1], NULL]
        ) AS runs
        CROSS JOIN LATERAL (SELECT translate(found[1], E' \u00a0\u2007\u2009\u202f', '''''''''''') AS printed) AS joined
        WHERE found[2] IS NULL
            AND length(printed) <= 24
            AND printed ~ '^([1-9][0-9]?(,[0-9]{2})+,[0-9]{3}|[1-9][0-9]{0,2}([.,''’][0-9]{3})+|[0-9]{1,15})([.,][0-9]{1,2})?$'
    );

-- A tsvector holds 1 MB; this many characters stay below it in any script, also where folding made them more.
ALTER TABLE pages
    DROP COLUMN search,
    ADD COLUMN search  tsvector GENERATED ALWAYS AS (
        to_tsvector('simple', left(folded(left(text, 100000)), 100000))) STORED,
    ADD COLUMN amounts numeric[] GENERATED ALWAYS AS (printed_amounts(left(text, 100000))) STORED;
CREATE INDEX pages_search ON pages USING gin (search);
CREATE INDEX pages_amounts ON pages USING gin (amounts);

-- Sellers by a part of their name.
CREATE INDEX current_invoices_seller_parts ON current_invoices USING gin (name_key(folded(seller_name)) gin_trgm_ops);
