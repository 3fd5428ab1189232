//! Every list of deployments is walked in the order of an index, whatever it is filtered by.

use db::{listing, testing::TestDatabase};
use diesel::{QueryableByName, sql_types::Text};
use forgeway_deployments::deployment::{
    DeploymentFilter, DeploymentListStore as _, DeploymentOrder, DeploymentStatus,
};
use kernel::{
    Result, TextEnum as _, Ts,
    ids::{EnvironmentId, ProjectId},
    page::PageRequest,
};

#[derive(QueryableByName)]
struct PlanRow {
    #[diesel(sql_type = Text)]
    detail: String,
}

/// How SQLite finds the page of a list; nothing on PostgreSQL.
fn plan(database: &TestDatabase, filter: &DeploymentFilter) -> Result<Vec<String>> {
    database.statements();
    let own = filter.clone();
    database
        .db
        .write_blocking(move |tx| tx.deployments(ProjectId(1), &own, PageRequest::default()))?;
    let asked = database.statements().into_iter().find(|sql| sql.contains("FROM deployments d"));
    let Some(sql) = asked else { return Ok(Vec::new()) };
    let sql = sql.split(" -- binds").next().unwrap_or_default().to_owned();
    let explained = format!("EXPLAIN QUERY PLAN {sql}");
    let found: Vec<PlanRow> =
        database.db.write_blocking(move |tx| listing::rows(tx, &explained, &[]))?;
    Ok(found.into_iter().map(|row| row.detail).collect())
}

fn filters() -> Vec<DeploymentFilter> {
    let mut all = Vec::new();
    for environment in [None, Some(EnvironmentId(1))] {
        for status in [None, Some(DeploymentStatus::Running)] {
            for (order, updated_after) in DeploymentOrder::ALL
                .iter()
                .map(|order| (*order, None))
                .chain([(DeploymentOrder::UpdatedAt, Some(Ts(1)))])
            {
                let updated_before = None;
                all.push(DeploymentFilter {
                    environment,
                    statuses: Vec::from_iter(status),
                    updated_before,
                    updated_after,
                    order,
                    descending: true,
                });
            }
        }
    }
    all
}

#[test]
fn no_list_is_gathered_and_sorted() {
    let database = TestDatabase::new();
    for filter in filters() {
        let plan = plan(&database, &filter).unwrap();
        let is_bad =
            |step: &String| step.starts_with("SCAN") || step.ends_with("TEMP B-TREE FOR ORDER BY");
        assert!(!plan.iter().any(is_bad), "{filter:?}: {plan:?}");
    }
}
