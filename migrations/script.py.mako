"""${message}"""

from pathlib import Path

from alembic import op

revision = ${repr(up_revision)}
down_revision = ${repr(down_revision)}
branch_labels = ${repr(branch_labels)}
depends_on = ${repr(depends_on)}


def upgrade() -> None:
    """Run the SQL file beside this one."""
    sql = Path(__file__).with_suffix(".sql").read_text(encoding="utf-8")
    # The driver's own cursor: a script of many statements, in which % and : are plain characters.
    op.get_bind().connection.cursor().execute(sql)
