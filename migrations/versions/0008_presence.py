"""Which session stands for which worker. The DDL is the SQL file beside it."""

from pathlib import Path

from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the table. Runs inside the transaction and behind the lock that env.py takes."""
    sql = Path(__file__).with_suffix(".sql").read_text(encoding="utf-8")
    # The driver's own cursor: a script of many statements, in which % and : are plain characters.
    op.get_bind().connection.cursor().execute(sql)


def downgrade() -> None:
    """Refuse: going back would drop documents."""
    raise NotImplementedError("doclease does not downgrade a schema; restore a backup instead")
