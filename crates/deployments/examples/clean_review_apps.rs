//! Schedules stopped review apps for removal: `cargo run -p forgeway-deployments --example clean_review_apps`.
//!
//! A tool for a real installation opens its database with `Database::open`; this one makes a project with three environments first.
#![expect(clippy::print_stdout, reason = "it is what the program is for")]

use std::sync::Arc;

use db::{
    Tx,
    testing::{TestDatabase, rows},
};
use forgeway_deployments::{
    environment::{
        EnvironmentStep,
        actions::{create, step},
        cleanup::{ReviewAppFilter, schedule_removal},
    },
    policy::{ChangeEnvironments, RemoveReviewApps},
    ports::Members,
};
use kernel::{
    Ability, AccessLevel, Actor, Grant, Result, Standing, Visibility,
    access::{Features, Project, ProjectFacts},
    ids::{NamespaceId, ProjectId, UserId},
};
use time::Duration;

/// Review apps that are removed at once.
const MOST: i64 = 100;

fn main() -> Result<()> {
    let scratch = TestDatabase::new();
    let removed = scratch.db.write_blocking(|tx| {
        let developer = make_project(tx)?;
        developer.make_environments(tx)?;
        let tomorrow = tx.now.plus(Duration::days(1));
        let filter = ReviewAppFilter { before: Some(tomorrow), limit: MOST };
        schedule_removal(tx, &developer.may::<RemoveReviewApps>()?, &NoGroups, filter)
    })?;
    let names: Vec<&str> =
        removed.scheduled.iter().map(|environment| environment.name.as_str()).collect();
    println!("removed in a week: {}", names.join(", "));
    assert_eq!(names, ["review/old-idea"]);
    Ok(())
}

/// Somebody who develops in a project.
struct Developer {
    user: UserId,
    project: ProjectId,
    group: NamespaceId,
}

fn make_project(tx: &mut Tx<'_>) -> Result<Developer> {
    let user = rows::user(tx, "ada")?;
    let group = rows::group(tx, "company")?;
    Ok(Developer { user, project: rows::project(tx, group, user, "shop")?, group })
}

impl Developer {
    /// Production, a review app that is in use, and one that was stopped.
    fn make_environments(&self, tx: &mut Tx<'_>) -> Result<()> {
        let grant = self.may::<ChangeEnvironments>()?;
        for name in ["production", "review/new-idea"] {
            create(tx, &grant, name.to_owned(), None, None)?;
        }
        let old = create(tx, &grant, "review/old-idea".to_owned(), None, None)?;
        step(tx, old, EnvironmentStep::StopComplete)?;
        Ok(())
    }

    /// Proof that the developer may do something in the project.
    fn may<A: Ability<Scope = Project>>(&self) -> Result<Grant<A>> {
        let actor = Actor { id: Some(self.user), ..Actor::ANONYMOUS };
        let facts = ProjectFacts {
            id: self.project,
            namespace_id: self.group,
            name: "shop".to_owned(),
            full_path: "company/shop".to_owned(),
            default_branch: Some("main".to_owned()),
            first_push: AccessLevel::Maintainer,
            visibility: Visibility::Public,
            archived: false,
            features: Features::ALL_ENABLED,
        };
        let standing = Standing::in_project(actor, AccessLevel::Developer, &facts);
        Grant::check(&standing, Project(Arc::new(facts)))
    }
}

/// An installation in which nobody is in a group; a tool for a real one asks its members.
struct NoGroups;

impl Members for NoGroups {
    fn groups_above(&self, _: &mut Tx<'_>, _: ProjectId) -> Result<Vec<NamespaceId>> {
        Ok(Vec::new())
    }

    fn is_in_group(&self, _: &mut Tx<'_>, _: UserId, _: NamespaceId, _: bool) -> Result<bool> {
        Ok(false)
    }

    fn is_in_project(&self, _: &mut Tx<'_>, _: UserId, _: ProjectId) -> Result<bool> {
        Ok(false)
    }

    fn is_group_of(&self, _: &mut Tx<'_>, _: NamespaceId, _: ProjectId) -> Result<bool> {
        Ok(false)
    }

    fn is_group_below(&self, _: &mut Tx<'_>, _: NamespaceId, _: NamespaceId) -> Result<bool> {
        Ok(false)
    }
}
