//! Filters of merge requests by their deployments.

use db::listing::{Bind, value};
use kernel::{
    Ts,
    ids::{DeploymentId, ProjectId},
};

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

impl LinkFilter {
    /// Their ids, as `item_id`.
    pub fn set(&self) -> LinkSql {
        let (rest, binds) = self.conditions();
        let sql = format!(
            "SELECT dm.merge_request_id AS item_id FROM deployed_merge_requests dm WHERE {rest}"
        );
        LinkSql { sql, binds }
    }

    /// Whether the one whose id is in this column is among them.
    pub fn check(&self, column: &str) -> LinkSql {
        // A merge request is brought to environments of its own project, so the list of these need not be gathered.
        let project = self.project.filter(|_| self.environment.is_some());
        let (rest, binds) = Self { project, ..self.clone() }.conditions();
        let sql = format!(
            "EXISTS (SELECT 1 FROM deployed_merge_requests dm WHERE dm.merge_request_id = {column} AND {rest})"
        );
        LinkSql { sql, binds }
    }

    fn conditions(&self) -> (String, Vec<Bind>) {
        let mut all = vec!["1 = 1".to_owned()];
        let mut binds = Vec::new();
        if let Some(deployment) = self.deployment {
            all.push(format!("dm.deployment_id = {}", value(deployment)));
        }
        if let Some(after) = self.after {
            all.push(format!("dm.deployed_at >= {}", value(after.0)));
        }
        if let Some(before) = self.before {
            all.push(format!("dm.deployed_at <= {}", value(before.0)));
        }
        let mut of_environment = Vec::new();
        if let Some(project) = self.project {
            of_environment.push(format!("e.project_id = {}", value(project)));
        }
        if let Some(name) = &self.environment {
            of_environment.push("e.name = {}".to_owned());
            binds.push(Bind::Word(name.clone()));
        }
        if !of_environment.is_empty() {
            let wanted = of_environment.join(" AND ");
            all.push(format!(
                "dm.environment_id IN (SELECT e.id FROM environments e WHERE {wanted})"
            ));
        }
        (all.join(" AND "), binds)
    }
}

#[cfg(test)]
mod tests {
    use kernel::{
        Ts,
        ids::{DeploymentId, ProjectId},
    };

    use super::LinkFilter;

    #[test]
    fn all_that_is_said_must_hold_of_one_deployment() {
        let filter = LinkFilter {
            after: Some(Ts(5)),
            environment: Some("production".to_owned()),
            deployment: Some(DeploymentId(7)),
            before: None,
            project: None,
        };

        let check = filter.check("i.id");

        assert_eq!(
            check.sql,
            "EXISTS (SELECT 1 FROM deployed_merge_requests dm WHERE dm.merge_request_id = i.id AND 1 = 1 AND \
             dm.deployment_id = $(7) AND dm.deployed_at >= $(5) AND \
             dm.environment_id IN (SELECT e.id FROM environments e WHERE e.name = {}))"
        );
        assert_eq!(check.binds.len(), 1);
    }
    #[test]
    fn in_a_project_only_its_own_environments_count() {
        let environment = Some("production".to_owned());
        let filter =
            LinkFilter { environment, project: Some(ProjectId(3)), ..LinkFilter::default() };

        let wanted = "(SELECT e.id FROM environments e WHERE e.project_id = $(3) AND e.name = {})";
        assert!(filter.set().sql.ends_with(wanted), "{}", filter.set().sql);
        let all = LinkFilter { environment: None, ..filter };
        assert!(!all.check("i.id").sql.contains("environments"));
    }
}
