//! Whether pipelines agree with pushes and with their jobs: each push has its pipeline, whole and once, and no job is in
//! two states.

use anyhow::Result;
use diesel::{
    QueryableByName,
    sql_types::{BigInt, Text},
};
use serde_json::json;

use super::{facts::load, ledger::Ledger};
use crate::{client::Client, migrate::Connection, server::Installation};

/// What runs for each commit: two stages, jobs that wait for others, one for a person.
const TEXT: &str = "stages: [build, test]\nmake: {stage: build, script: make}\nlint: {stage: build, script: lint}\n\
                    unit: {stage: test, needs: [make], script: test}\nall: {stage: test, script: test}\n\
                    ship: {stage: test, script: ship, when: manual, resource_group: production}\n";
const JOBS: i64 = 5;

#[derive(QueryableByName)]
struct Finding {
    #[diesel(sql_type = BigInt)]
    number: i64,
    #[diesel(sql_type = Text)]
    what: String,
}

/// Gives a project the configuration.
pub(super) fn configure(client: &Client, project: i64) -> Result<()> {
    let actions = json!([{ "action": "create", "file_path": ".gitlab-ci.yml", "content": TEXT }]);
    let body = json!({ "branch": "main", "commit_message": "Run", "actions": actions });
    client.post(&format!("/projects/{project}/repository/commits"), &body)?.json()?;
    Ok(())
}

/// What holds at any moment at which nobody writes.
pub(super) fn check(installation: &Installation, ledger: &Ledger) -> Result<Vec<String>> {
    let mut connection = Connection::open(&installation.database_address())?;
    let mut found = findings(
        &mut connection,
        &[
            format!(
                "SELECT p.id AS number, 'is not whole: it has ' || COUNT(j.id) || ' jobs' AS what FROM pipelines p \
                 LEFT JOIN jobs j ON j.pipeline_id = p.id AND NOT j.retried WHERE p.source = 'push' \
                 GROUP BY p.id HAVING COUNT(j.id) <> {JOBS}"
            ),
            "SELECT pipeline_id AS number, 'has two newest jobs called ' || name AS what FROM jobs \
             WHERE NOT retried GROUP BY pipeline_id, name HAVING COUNT(*) > 1"
                .to_owned(),
            "SELECT pipeline_id AS number, 'has a job that is ' || status || ' and has ended' AS what FROM jobs \
             WHERE finished_at IS NOT NULL AND status NOT IN ('success', 'failed', 'canceled')"
                .to_owned(),
            "SELECT p.id AS number, 'is ' || p.status || ' while a job is ' || j.status AS what FROM pipelines p \
             JOIN jobs j ON j.pipeline_id = p.id AND NOT j.retried AND j.status IN ('pending', 'running') \
             WHERE p.status IN ('success', 'failed', 'canceled', 'skipped')"
                .to_owned(),
            "SELECT g.id AS number, 'is a group whose holder does not run' AS what FROM resource_groups g \
             LEFT JOIN jobs j ON j.id = g.holder_id AND j.status IN ('pending', 'running') \
             WHERE g.holder_id IS NOT NULL AND j.id IS NULL"
                .to_owned(),
        ],
    )?;
    for (project, sha) in &ledger.runs {
        let query = format!(
            "SELECT COUNT(*) AS number, 'pipelines' AS what FROM pipelines \
             WHERE project_id = {project} AND sha = '{sha}' AND source = 'push'"
        );
        let made: Vec<Finding> = load(&mut connection, &query)?;
        let made = made.first().map_or(0, |row| row.number);
        if made != 1 {
            found.push(format!(
                "project {project}: the acknowledged commit {sha} has {made} pipelines"
            ));
        }
    }
    Ok(found)
}

/// What holds when all that was promised is done: also what was pushed and not acknowledged has its pipeline.
pub(super) fn check_pushes(installation: &Installation, project: i64) -> Result<Vec<String>> {
    let mut connection = Connection::open(&installation.database_address())?;
    let query = format!(
        "SELECT e.id AS number, 'is a push of ' || e.ref_name || ' with ' || COUNT(p.id) || ' pipelines' AS what \
         FROM push_events e LEFT JOIN pipelines p ON p.project_id = e.project_id AND p.sha = e.after_sha \
         AND e.ref_name = 'refs/heads/' || p.ref_name AND p.source = 'push' \
         WHERE e.project_id = {project} AND e.after_sha IS NOT NULL \
         AND e.id > (SELECT MIN(id) FROM push_events WHERE project_id = {project}) \
         GROUP BY e.id, e.ref_name HAVING COUNT(p.id) <> 1"
    );
    findings(&mut connection, &[query])
}

fn findings(connection: &mut Connection, queries: &[String]) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for query in queries {
        let rows: Vec<Finding> = load(connection, query)?;
        found.extend(rows.iter().map(|row| format!("pipelines: {} {}", row.number, row.what)));
    }
    Ok(found)
}
