//! Filters of merge requests by their deployments.

use db::{
    Tx,
    listing::{self, Bind, list_of, value},
};
use kernel::{
    Result, Ts,
    ids::{DeploymentId, ProjectId},
};

/// At most this many environments are listed in a statement.
const LISTED: usize = 2_000;

/// Which merge requests are meant; all that is said must hold of one deployment.
#[derive(Clone, Debug, Default)]
pub struct LinkFilter {
    /// Moments, both included.
    pub after: Option<Ts>,
    pub before: Option<Ts>,
    /// Name of an environment.
    pub environment: Option<String>,
    pub deployment: Option<DeploymentId>,
    /// The environments of this project alone.
    pub project: Option<ProjectId>,
}

/// SQL in which `{}` stands for each value, in this order.
#[derive(Clone, Debug)]
pub struct LinkSql {
    pub sql: String,
    pub binds: Vec<Bind>,
}

/// A filter in the two forms that a list needs.
#[derive(Clone, Debug)]
pub struct LinkFilterSql {
    /// The ids of the merge requests, as `item_id`.
    pub set: LinkSql,
    /// Whether the merge request with the id in the column is among them.
    pub check: LinkSql,
    /// Whether the set can contain a merge request twice.
    pub repeats: bool,
}

/// The column of the set that names the project of the merge request.
pub const PROJECT_COLUMN: &str = "dm.project_id";

impl LinkFilter {
    /// The filter for the merge request whose id is in `column`. Environments are looked up first: both databases plan a
    /// search by their ids better than one by their name.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn sql(&self, tx: &mut Tx<'_>, column: &str) -> Result<LinkFilterSql> {
        let environments = self.environments(tx)?;
        Ok(self.sql_among(environments.as_ref(), column))
    }

    /// The condition on the environment; none without a name.
    fn environments(&self, tx: &mut Tx<'_>) -> Result<Option<LinkSql>> {
        let Some(name) = &self.environment else { return Ok(None) };
        let mut named = "SELECT e.id FROM environments e WHERE e.name = {}".to_owned();
        if let Some(project) = self.project {
            named.push_str(&format!(" AND e.project_id = {}", value(project)));
        }
        let binds = vec![Bind::Word(name.clone())];
        let sql = format!("{} LIMIT {}", named.replace("{}", "$1"), LISTED + 1);
        let found = listing::ids(tx, &sql, &binds)?;
        Ok(Some(match found.as_slice() {
            [only] => LinkSql { sql: format!("= {}", value(only)), binds: Vec::new() },
            [..] if found.len() <= LISTED => {
                LinkSql { sql: format!("IN ({})", list_of(&found)), binds: Vec::new() }
            }
            [..] => LinkSql { sql: format!("IN ({named})"), binds },
        }))
    }

    fn sql_among(&self, environments: Option<&LinkSql>, column: &str) -> LinkFilterSql {
        let among = |rest: String, project, time| {
            let (conditions, binds) = self.conditions(environments, project, time);
            LinkSql { sql: rest.replace("{conditions}", &conditions), binds }
        };
        let from = "FROM deployed_merge_requests dm WHERE";
        let set = format!("SELECT dm.merge_request_id AS item_id {from} {{conditions}}");
        // The offset keeps PostgreSQL from joining everything first.
        let check = format!(
            "EXISTS (SELECT 1 {from} dm.merge_request_id = {column} AND {{conditions}} LIMIT 1 OFFSET 0)"
        );
        LinkFilterSql {
            set: among(set, self.project, "dm.deployed_at"),
            // A merge request is brought to environments of its own project. With the condition on it SQLite would look
            // through all of the project.
            // PostgreSQL would look through all deployments of the time for each merge request; the sum is in no index.
            check: among(check, None, "dm.deployed_at + 0"),
            // A merge request is in an environment once, and in one of its project alone, where names are unique.
            repeats: self.deployment.is_none() && environments.is_none(),
        }
    }

    fn conditions(
        &self,
        environments: Option<&LinkSql>,
        project: Option<ProjectId>,
        time: &str,
    ) -> (String, Vec<Bind>) {
        let mut all = Vec::new();
        let mut binds = Vec::new();
        if let Some(deployment) = self.deployment {
            all.push(format!("dm.deployment_id = {}", value(deployment)));
        }
        match (environments, project) {
            (Some(environments), _) => {
                all.push(format!("dm.environment_id {}", environments.sql));
                binds.extend(environments.binds.iter().cloned());
            }
            (None, Some(project)) => all.push(format!("{PROJECT_COLUMN} = {}", value(project))),
            (None, None) => {}
        }
        if let Some(after) = self.after {
            all.push(format!("{time} >= {}", value(after.0)));
        }
        if let Some(before) = self.before {
            all.push(format!("{time} <= {}", value(before.end_of_shown().0)));
        }
        if all.is_empty() {
            all.push("1 = 1".to_owned());
        }
        (all.join(" AND "), binds)
    }
}

#[cfg(test)]
mod tests {
    use db::listing::Bind;
    use kernel::{
        Ts,
        ids::{DeploymentId, ProjectId},
    };

    use super::{LinkFilter, LinkSql};

    #[test]
    fn all_that_is_said_must_hold_of_one_deployment() {
        let filter = LinkFilter {
            after: Some(Ts(5)),
            deployment: Some(DeploymentId(7)),
            ..LinkFilter::default()
        };
        let binds = vec![Bind::Word("production".to_owned())];
        let environments = LinkSql { sql: "IN ({})".to_owned(), binds };

        let sql = filter.sql_among(Some(&environments), "i.id");

        assert_eq!(
            sql.check.sql,
            "EXISTS (SELECT 1 FROM deployed_merge_requests dm WHERE dm.merge_request_id = i.id AND \
             dm.deployment_id = $(7) AND dm.environment_id IN ({}) AND dm.deployed_at + 0 >= $(5) LIMIT 1 OFFSET 0)"
        );
        assert_eq!(sql.check.binds.len(), 1);
        assert!(!sql.repeats, "a merge request comes with a deployment once");
    }

    #[test]
    fn in_a_project_only_its_own_deployments_count() {
        let filter = LinkFilter { project: Some(ProjectId(3)), ..LinkFilter::default() };

        let sql = filter.sql_among(None, "i.id");

        assert!(sql.set.sql.ends_with("dm.project_id = $(3)"), "{}", sql.set.sql);
        assert!(!sql.check.sql.contains("project_id"), "{}", sql.check.sql);
        assert!(sql.repeats, "one merge request may be in many environments");
    }
}
