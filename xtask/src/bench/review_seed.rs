//! Very many issues and merge requests at once: one of each is made through the API, then copied inside the database
//! over a thousand projects.

use anyhow::{Context as _, Result};
use diesel::connection::SimpleConnection as _;

use super::seed::{self, Copies};
use crate::{
    migrate::Connection,
    schema::{self, Table},
};

/// How much there is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Size {
    pub(super) projects: i64,
    pub(super) issues: i64,
    pub(super) merge_requests: i64,
    /// In the one project that has many.
    pub(super) large_issues: i64,
    pub(super) large_merge_requests: i64,
    pub(super) notes: i64,
    /// On the merge request of very many commits.
    pub(super) threads: i64,
}

impl Size {
    /// A million issues, or one part in `scale` of them; the large project stays as large.
    pub(super) fn whole(scale: i64) -> Self {
        let scale = scale.max(1);
        Self {
            projects: 1_000,
            issues: 1_000_000 / scale,
            merge_requests: (50_000 / scale).max(5_000),
            large_issues: 7_000,
            large_merge_requests: 3_600,
            notes: 200_000 / scale,
            threads: 200,
        }
    }
}

/// What was made through the API and is copied.
#[derive(Clone, Copy, Debug)]
pub(super) struct Templates {
    /// An empty project, and the one that has many of everything and in which the templates are.
    pub(super) project: i64,
    pub(super) large: i64,
    pub(super) issue: i64,
    pub(super) merge_request: i64,
    pub(super) note: i64,
    pub(super) label: i64,
    pub(super) milestone: i64,
    /// The merge request of very many commits.
    pub(super) long: i64,
    pub(super) people: [i64; 2],
}

/// The first ids of what was made, less one.
#[derive(Clone, Copy, Debug)]
pub(super) struct SeedIds {
    pub(super) projects: i64,
    pub(super) issues: i64,
}

/// Labels a project has.
const LABELS: i64 = 5;
/// Numbers of copies begin behind those that were made through the API.
const NUMBERS: i64 = 100;

pub(super) fn review(address: &str, from: Templates, size: Size) -> Result<SeedIds> {
    let mut connection = Connection::open(address)?;
    let mut last = |table: &str| {
        let query = format!("SELECT max(id) AS number FROM {table}");
        seed::number(&mut connection, &query)?.with_context(|| format!("{table} is empty"))
    };
    let made = SeedIds { projects: last("projects")?, issues: last("issues")? };
    let [labels, milestones, merge_requests] =
        [last("labels")?, last("milestones")?, last("merge_requests")?];
    let tables = schema::tables(&mut connection)?;
    let seeded = Seed { tables: &tables, from, made, size, labels, milestones, merge_requests };
    let script = seeded.script()?;
    match &mut connection {
        Connection::Sqlite(connection) => connection.batch_execute(&script)?,
        Connection::Postgres(connection) => {
            connection.batch_execute(&script)?;
            for table in ["projects", "labels", "milestones", "issues", "merge_requests", "notes"] {
                let next = format!(
                    "SELECT setval(pg_get_serial_sequence('{table}', 'id'), (SELECT max(id) FROM {table}));"
                );
                connection.batch_execute(&next)?;
            }
            // What autovacuum does within a minute.
            connection.batch_execute("VACUUM ANALYZE")?;
        }
    }
    Ok(made)
}

struct Seed<'a> {
    tables: &'a [Table],
    from: Templates,
    made: SeedIds,
    size: Size,
    labels: i64,
    milestones: i64,
    merge_requests: i64,
}

impl Seed<'_> {
    fn script(&self) -> Result<String> {
        Ok(["BEGIN;\n".to_owned(), self.projects()?, self.labels()?, self.milestones()?]
            .into_iter()
            .chain([self.issues()?, self.merge_requests()?, self.notes()?, self.sequences()])
            .chain(["COMMIT;\n".to_owned()])
            .collect())
    }

    fn table(&self, name: &str) -> Result<&Table> {
        let found = self.tables.iter().find(|table| table.name == name);
        found.with_context(|| format!("there is no table {name}"))
    }

    /// The project of the copy `n.i`, of which the first `large` belong to the large one.
    fn project_of(&self, large: i64) -> String {
        let Self { from, made, size, .. } = self;
        format!(
            "CASE WHEN n.i <= {large} THEN {} ELSE {} + n.i % {} END",
            from.large,
            made.projects + 1,
            size.projects
        )
    }

    /// A number that no other copy has in the same project.
    fn iid(&self, large: i64) -> String {
        let each = self.size.projects;
        format!("{NUMBERS} + CASE WHEN n.i <= {large} THEN n.i ELSE n.i / {each} END")
    }

    fn projects(&self) -> Result<String> {
        let before = self.made.projects;
        let copies = Copies {
            source: self.from.project,
            with: numbers(self.size.projects),
            rows: "n",
            value: &|column| match column {
                "id" => Some(format!("{before} + n.i")),
                "name" => Some("'Project ' || n.i".to_owned()),
                "path" => Some("'project-' || n.i".to_owned()),
                "full_path" | "path_key" => Some("'work/project-' || n.i".to_owned()),
                "full_name" => Some("'Work / Project ' || n.i".to_owned()),
                _ => None,
            },
        };
        let mut script = copies.text(self.table("projects")?, "id");
        let of_project = |table: &&Table| {
            let named = |name: &str| table.columns.iter().any(|column| column.name == name);
            named("project_id") && !named("item_id") && !named("iid")
        };
        for table in self.tables.iter().filter(of_project) {
            script.push_str(&seed::copies_of_rows(table, self.from.project, before));
        }
        Ok(script)
    }

    fn labels(&self) -> Result<String> {
        let Self { made, labels, size, .. } = self;
        let copies = Copies {
            source: self.from.label,
            with: numbers(size.projects * LABELS),
            rows: "n",
            value: &|column| match column {
                "id" => Some(format!("{labels} + n.i")),
                "project_id" => Some(format!("{} + (n.i - 1) / {LABELS}", made.projects + 1)),
                "name" => Some(format!("'label-' || ((n.i - 1) % {LABELS})")),
                _ => None,
            },
        };
        Ok(copies.text(self.table("labels")?, "id"))
    }

    fn milestones(&self) -> Result<String> {
        let Self { made, milestones, size, .. } = self;
        let copies = Copies {
            source: self.from.milestone,
            with: numbers(size.projects),
            rows: "n",
            value: &|column| match column {
                "id" => Some(format!("{milestones} + n.i")),
                "project_id" => Some(format!("{} + n.i", made.projects)),
                _ => None,
            },
        };
        Ok(copies.text(self.table("milestones")?, "id"))
    }

    fn issues(&self) -> Result<String> {
        let (large, first) = (self.size.large_issues, self.made.issues);
        let [one, other] = self.from.people;
        let copies = Copies {
            source: self.from.issue,
            with: numbers(self.size.issues),
            rows: "n",
            value: &|column| match column {
                "id" => Some(format!("{first} + n.i")),
                "project_id" => Some(self.project_of(large)),
                "iid" => Some(self.iid(large)),
                "title" => {
                    Some("'Issue number ' || n.i || ' about topic-' || n.i % 5000".to_owned())
                }
                "description" => Some("'What happens in case ' || n.i || ', and why'".to_owned()),
                "author_id" => Some(format!("CASE WHEN n.i % 100 = 0 THEN {other} ELSE {one} END")),
                "milestone_id" => Some(self.milestone_of(large)),
                "state" => Some("CASE WHEN n.i % 4 = 0 THEN 'closed' ELSE 'opened' END".to_owned()),
                "created_at" | "updated_at" => Some(format!("t.{column} - n.i * 100000")),
                "relative_position" => Some("n.i * 500".to_owned()),
                _ => None,
            },
        };
        Ok(copies.text(self.table("issues")?, "id")
            + &self.labelled("Issue", "issues", first)
            + &self.assigned("Issue", "issues", first))
    }

    fn merge_requests(&self) -> Result<String> {
        let (large, first) = (self.size.large_merge_requests, self.merge_requests);
        let [one, other] = self.from.people;
        let copies = Copies {
            source: self.from.merge_request,
            with: numbers(self.size.merge_requests),
            rows: "n",
            value: &|column| match column {
                "id" => Some(format!("{first} + n.i")),
                "project_id" | "source_project_id" => Some(self.project_of(large)),
                "iid" => Some(self.iid(large)),
                "title" => Some("'Change number ' || n.i || ' for topic-' || n.i % 500".to_owned()),
                "source_branch" => Some("'branch-' || n.i".to_owned()),
                "author_id" => Some(format!("CASE WHEN n.i % 100 = 0 THEN {other} ELSE {one} END")),
                "milestone_id" => Some(self.milestone_of(large)),
                "state" => Some("CASE WHEN n.i % 5 = 0 THEN 'opened' ELSE 'merged' END".to_owned()),
                "created_at" | "updated_at" => Some(format!("t.{column} - n.i * 2000000")),
                _ => None,
            },
        };
        Ok(copies.text(self.table("merge_requests")?, "id")
            + &self.labelled("MergeRequest", "merge_requests", first)
            + &self.assigned("MergeRequest", "merge_requests", first))
    }

    /// The milestone of every third in the many projects; the large project has its own.
    fn milestone_of(&self, large: i64) -> String {
        format!(
            "CASE WHEN n.i % 3 <> 0 THEN NULL WHEN n.i <= {large} THEN {} ELSE {} + n.i % {} END",
            self.from.milestone,
            self.milestones + 1,
            self.size.projects
        )
    }

    /// A label for every second.
    fn labelled(&self, kind: &str, table: &str, first: i64) -> String {
        let Self { from, made, labels, .. } = self;
        format!(
            "INSERT INTO item_labels (item_kind, item_id, project_id, label_id) SELECT '{kind}', i.id, i.project_id, \
             CASE WHEN i.project_id = {large} THEN {label} \
             ELSE {labels} + (i.project_id - {projects} - 1) * {LABELS} + i.id % {LABELS} + 1 END \
             FROM {table} i WHERE i.id > {first} AND i.id % 2 = 0;\n",
            large = from.large,
            label = from.label,
            projects = made.projects,
        )
    }

    /// An assignee for every third.
    fn assigned(&self, kind: &str, table: &str, first: i64) -> String {
        let [one, other] = self.from.people;
        format!(
            "INSERT INTO item_assignees (item_kind, item_id, project_id, user_id) SELECT '{kind}', i.id, i.project_id, \
             CASE WHEN i.id % 99 = 0 THEN {other} ELSE {one} END \
             FROM {table} i WHERE i.id > {first} AND i.id % 3 = 0;\n"
        )
    }

    /// Comments on issues everywhere, and threads on the merge request of very many commits.
    fn notes(&self) -> Result<String> {
        let Self { from, made, size, .. } = self;
        let table = self.table("notes")?;
        // Forty digits, of which the first says of what it is.
        let discussion = |mark: &str, number: &str| {
            format!("'{mark}' || substr('{:039}' || {number}, length('' || {number}) + 1)", 0)
        };
        let on_issues = Copies {
            source: from.note,
            with: format!(
                "{}, i(i, id, project) AS (SELECT n.i, s.id, s.project_id FROM n JOIN issues s ON s.id = {} + n.i * 3 % {} + 1)",
                numbers(size.notes),
                made.issues,
                size.issues
            ),
            rows: "i n",
            value: &|column| match column {
                "item_id" => Some("n.id".to_owned()),
                "project_id" => Some("n.project".to_owned()),
                "discussion" => Some(discussion("a", "n.i")),
                "body" => Some("'A word on case ' || n.i".to_owned()),
                _ => None,
            },
        };
        let on_long = Copies {
            source: from.note,
            with: numbers(size.threads * 2),
            rows: "n",
            value: &|column| match column {
                "item_kind" => Some("'MergeRequest'".to_owned()),
                "item_id" => Some(from.long.to_string()),
                "note_type" => Some("'DiscussionNote'".to_owned()),
                "discussion" => Some(discussion("b", &format!("(n.i % {})", size.threads))),
                "body" => Some("'A thought on line ' || n.i".to_owned()),
                _ => None,
            },
        };
        Ok(keyed(&on_issues, table) + &keyed(&on_long, table))
    }

    /// The next one made through the API gets the next number.
    fn sequences(&self) -> String {
        [("issue", "issues"), ("merge_request", "merge_requests")]
            .map(|(kind, table)| {
                format!(
                    "INSERT INTO sequences (home, home_id, kind, last) \
                     SELECT 'project', project_id, '{kind}', max(iid) FROM {table} WHERE TRUE GROUP BY project_id \
                     ON CONFLICT (home, home_id, kind) DO UPDATE SET last = excluded.last;\n"
                )
            })
            .concat()
    }
}

/// Copies whose ids the database gives.
fn keyed(copies: &Copies<'_>, table: &Table) -> String {
    let text = copies.text(table, "id");
    text.replacen("(id, ", "(", 1).replacen("SELECT t.id, ", "SELECT ", 1)
}

/// Numbers from 1 to `count`, as rows of `n`.
fn numbers(count: i64) -> String {
    format!("n(i) AS (SELECT CAST(1 AS BIGINT) UNION ALL SELECT i + 1 FROM n WHERE i < {count})")
}
