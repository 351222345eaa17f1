"""Run migrations on the connection that the caller hands over: one transaction, behind a lock."""

from alembic import context
from sqlalchemy import Connection, text

UPGRADE_LOCK = 0x646F636C65617365  # "doclease"


def upgrade(connection: Connection) -> None:
    """Wait for the lock, then look at what is missing: the second of two upgrades finds nothing left to do."""
    with connection.begin():
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": UPGRADE_LOCK})
        context.configure(connection=connection, transactional_ddl=True)
        context.run_migrations()


upgrade(context.config.attributes["connection"])
