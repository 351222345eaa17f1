"""What people corrected on documents of an issuer, as it is stored: rows and text, handed on as plain data.

Nothing here looks into a text: that is the child's business.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Engine, text

MAX_DOCUMENTS = 5
MAX_LESSONS = 40  # a document
PAGE_CHARACTERS = 20_000
TEXT_CHARACTERS = 2_000

# Documents whose seller has one of the keys, by the latest correction of a field, and of each the pages that matter:
# the first, the last, and those that a correction names. What was accepted, or wrong, is in the result that was looked
# at.
_REMEMBERED = text(
    """
    WITH issued AS (
        SELECT document_id FROM current_invoices WHERE vat_key = ANY (CAST(:keys AS text[]))
        UNION
        SELECT document_id FROM current_invoices WHERE iban_key = ANY (CAST(:keys AS text[]))
        UNION
        SELECT document_id FROM current_invoices WHERE seller_key = ANY (CAST(:keys AS text[]))
    ),
    newest AS (
        SELECT document_id, max(correction_id) AS latest
        FROM issued
        JOIN corrections USING (document_id)
        WHERE subject = 'field'
            AND group_name = ''
            AND action <> 'skip'
        GROUP BY document_id
        ORDER BY latest DESC
        LIMIT :documents
    ),
    said AS (
        SELECT DISTINCT ON (document_id, name)
            document_id,
            correction_id,
            name,
            action,
            value,
            page,
            snippet,
            result #> ARRAY['fields', name, '0'] AS found
        FROM newest
        JOIN corrections USING (document_id)
        LEFT JOIN attempts USING (task_id, attempt_no)
        WHERE subject = 'field'
            AND group_name = ''
            AND action <> 'skip'
        ORDER BY document_id, name, correction_id DESC
    )
    SELECT
        seller_vat_id AS vat_id,
        iban,
        seller_name AS seller,
        (
            SELECT jsonb_agg(jsonb_build_object(
                'name', name,
                'action', action,
                'value', left(value, :text_characters),
                'page', page,
                'snippet', left(snippet, :text_characters),
                'found', jsonb_build_object(
                    'value', left(found ->> 'value', :text_characters),
                    'page', found -> 'page',
                    'snippet', left(found ->> 'snippet', :text_characters)
                )
            ))
            FROM (SELECT * FROM said WHERE said.document_id = newest.document_id LIMIT :lessons) AS theirs
        ) AS lessons,
        (
            SELECT jsonb_agg(
                jsonb_build_array(page_no, left(COALESCE(layout, text), :page_characters))
                ORDER BY page_no
            )
            FROM pages
            WHERE task_id = current_results.task_id
                AND page_no = ANY (
                    ARRAY(SELECT page FROM said WHERE said.document_id = newest.document_id AND page > 0 LIMIT 2)
                    || 1
                    || (SELECT max(page_no) FROM pages WHERE task_id = current_results.task_id)
                )
        ) AS pages
    FROM newest
    JOIN current_invoices USING (document_id)
    JOIN current_results USING (document_id)
    ORDER BY latest DESC
    """
)


class Memory:
    """Looks up what is remembered of issuers. Reads only."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def of(self, keys: Sequence[str]) -> list[dict[str, Any]]:
        """The documents of sellers with one of the keys that a person corrected, newest first, at most MAX_DOCUMENTS.

        One statement, bounded in all it gives.
        """
        bounds = {
            "documents": MAX_DOCUMENTS,
            "lessons": MAX_LESSONS,
            "page_characters": PAGE_CHARACTERS,
            "text_characters": TEXT_CHARACTERS,
        }
        with self._engine.connect() as connection:
            rows = connection.execute(_REMEMBERED, {"keys": list(keys), **bounds}).mappings().all()
        return [dict(row) for row in rows]
