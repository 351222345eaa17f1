"""Functions bound to their schema, and history that only the owner changes. The DDL is the SQL file beside this one."""

from pathlib import Path

from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Replace functions, add guards. The roles follow, after every upgrade: migrations/roles.sql and grants.sql."""
    sql = Path(__file__).with_suffix(".sql").read_text(encoding="utf-8")
    # The driver's own cursor: a script of many statements, in which % and : are plain characters.
    op.get_bind().connection.cursor().execute(sql)


def downgrade() -> None:
    """Refuse: going back would drop documents."""
    raise NotImplementedError("doclease does not downgrade a schema; restore a backup instead")
