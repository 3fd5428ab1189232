//! Very many vulnerabilities of one project at once, made inside the database.

use anyhow::Result;
use diesel::connection::SimpleConnection as _;

use crate::migrate::Connection;

/// How much there is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Size {
    pub(super) vulnerabilities: i64,
}

impl Size {
    /// A hundred thousand, or one part in `scale` of them.
    pub(super) fn whole(scale: i64) -> Self {
        Self { vulnerabilities: (100_000 / scale.max(1)).max(100) }
    }
}

/// Of each the columns with their values; `n.i` counts.
const COLUMNS: [(&str, &str); 18] = [
    ("uuid", "'bench-' || n.i"),
    ("report_type", "CASE n.i % 2 WHEN 0 THEN 'sast' ELSE 'container_scanning' END"),
    ("scanner_id", "'semgrep'"),
    ("scanner_name", "'Semgrep'"),
    ("title", "'Weak hash number ' || n.i"),
    (
        "description",
        "'A text, as scanners write it: line ' || n.i || ' calls a function that should not be used any more. ' || \
         'It says \"why\", over more than one line.'",
    ),
    ("message", "'=HYPERLINK(' || n.i || ')'"),
    ("severity", "CASE n.i % 3 WHEN 0 THEN 'high' WHEN 1 THEN 'low' ELSE 'critical' END"),
    ("confidence", "'unknown'"),
    ("state", "CASE n.i % 10 WHEN 0 THEN 'confirmed' ELSE 'detected' END"),
    (
        "identifiers",
        "'[{\"external_type\":\"cve\",\"external_id\":\"CVE-2022-' || n.i || '\",\"name\":\"CVE-2022-' || n.i || \
         '\",\"url\":null},{\"external_type\":\"rule\",\"external_id\":\"1\",\"name\":\"Rule 1\",\"url\":null}]'",
    ),
    (
        "location",
        "'{\"file\":\"src/file-' || n.i || '.rs\",\"start_line\":' || n.i || ',\"end_line\":' || n.i || '}'",
    ),
    ("links", "'[]'"),
    ("resolved_on_default_branch", "n.i % 7 = 0"),
    ("pipeline_id", "1"),
    ("created_at", "1700000000000000 + n.i"),
    ("updated_at", "1700000000000000 + n.i"),
    ("solution", "NULL"),
];

/// Fills a project. What people said of one in ten lies beside.
pub(super) fn fill(address: &str, project: i64, size: Size) -> Result<()> {
    let (names, values): (Vec<&str>, Vec<&str>) = COLUMNS.iter().copied().unzip();
    let script = format!(
        "BEGIN;\n\
         INSERT INTO vulnerabilities (project_id, {}) WITH RECURSIVE n(i) AS \
         (SELECT CAST(1 AS BIGINT) UNION ALL SELECT i + 1 FROM n WHERE i < {}) SELECT {project}, {} FROM n;\n\
         INSERT INTO vulnerability_changes (vulnerability_id, state, comment, created_at) \
         SELECT v.id, v.state, 'Looked at; it is so', v.created_at FROM vulnerabilities v \
         WHERE v.project_id = {project} AND v.state = 'confirmed';\n\
         COMMIT;\n",
        names.join(", "),
        size.vulnerabilities,
        values.join(", ")
    );
    match &mut Connection::open(address)? {
        Connection::Sqlite(connection) => connection.batch_execute(&script)?,
        Connection::Postgres(connection) => {
            connection.batch_execute(&script)?;
            // What autovacuum does within a minute.
            connection.batch_execute("VACUUM ANALYZE")?;
        }
    }
    Ok(())
}
