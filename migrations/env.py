"""Run migrations on the connection that the caller hands over: all that an upgrade does is one transaction.

`prepare` takes the lock first, so that the second of two upgrades looks at what is missing when the first has ended.
"""

from collections.abc import Callable

from alembic import context
from sqlalchemy import Connection


def upgrade(
    connection: Connection,
    schema: str,
    prepare: Callable[[Connection], None],
    finish: Callable[[Connection], None],
) -> None:
    """Bring the schema up to date; the table of versions is in it, so another installation's is not taken for it."""
    with connection.begin():
        prepare(connection)
        context.configure(connection=connection, transactional_ddl=True, version_table_schema=schema)
        context.run_migrations()
        finish(connection)


upgrade(**context.config.attributes)
