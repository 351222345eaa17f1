"""Fields, checks, lines, clauses and corrections as rows, with views. The DDL is the SQL file beside this one."""

from pathlib import Path

from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the tables and views, and fill them from the results there are."""
    sql = Path(__file__).with_suffix(".sql").read_text(encoding="utf-8")
    # The driver's own cursor: a script of many statements, in which % and : are plain characters.
    op.get_bind().connection.cursor().execute(sql)


def downgrade() -> None:
    """Refuse: going back would drop documents."""
    raise NotImplementedError("doclease does not downgrade a schema; restore a backup instead")
