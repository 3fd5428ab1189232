//! A private project in a private group, and every kind of caller that asks about it.

use std::collections::BTreeMap;

use db::schema::{issues, merge_requests};
use diesel::prelude::*;
use kernel::{
    AccessLevel::{self, Developer, Guest, Maintainer, NoAccess, Owner, Reporter},
    Actor, Standing, Visibility,
    ids::{NamespaceId, ProjectId, UserId},
};
use org::{
    member::Source,
    token::Scope,
    user::{State, actions::NewUser},
};
use serde_json::json;

use super::smallest::Names;
use crate::support::{Person, TestApp, ci};

/// Who asks, in the order of the columns of tables. Whoever may do the least comes first, so that less is gone for
/// the others.
pub(super) const COLUMNS: &str = "anonymous stranger read-only external guest reporter developer maintainer owner \
                                  administrator\n";

/// A caller, and what the table of abilities is asked about them.
pub(super) struct Caller<'a> {
    pub(super) person: Person<'a>,
    pub(super) level: AccessLevel,
    pub(super) reads_only: bool,
}

impl Caller<'_> {
    /// How they stand in the project, and in its group.
    pub(super) fn standing(&self) -> Standing {
        let admin = self.person.username == "root";
        let id = self.person.token.is_some().then_some(UserId(1));
        let actor = Actor { id, admin, ..Actor::ANONYMOUS };
        Standing::in_scope(actor, self.level, Visibility::Private)
    }
}

/// The project with an issue and a merge request.
pub(super) struct Home<'a> {
    app: &'a TestApp,
    group: NamespaceId,
    pub(super) place: Names,
}

impl<'a> Home<'a> {
    pub(super) async fn new(app: &'a TestApp, number: usize) -> Self {
        let keeper = app.person("keeper");
        let path = format!("home-{number}");
        let group = keeper.group(&path, None).await;
        let fields = json!({ "name": "safe", "namespace_id": group, "visibility": "private" });
        let made = keeper.post("/projects", fields).await.created();
        let project = ProjectId(made["id"].as_i64().expect("an id"));
        app.issue(project, &keeper);
        app.merge_request(project, &keeper);
        let (issue, change) = rows(app, project);
        let ids = BTreeMap::from([
            ("Group", group),
            ("Issue", issue),
            ("MergeRequest", change),
            ("Project", project.0),
            ("User", app.user("keeper").id.0),
            ("WorkItem", issue),
            ("WorkItems::Type", 1),
        ]);
        let place = Names { project: format!("{path}/safe"), group: path, ids };
        Self { app, group: NamespaceId(group), place }
    }

    /// Makes an environment, and runs a pipeline.
    pub(super) async fn run(&self) {
        let keeper = self.app.person("keeper");
        let project = ProjectId(self.place.ids["Project"]);
        let at = format!("/projects/{project}/environments");
        keeper.post(&at, json!({ "name": "production" })).await.created();
        ci::commit(&keeper, project, "main", "Build", "build:\n  script: make\n").await;
    }

    /// One of each kind, but for those who are kept out altogether.
    pub(super) fn callers(&self) -> Vec<Caller<'a>> {
        let app = self.app;
        let member = |name: &str, level| app.member_of(Source::Group(self.group), name, level);
        let caller = |person, level| Caller { person, level, reads_only: false };
        let mut all =
            vec![caller(app.anonymous(), NoAccess), caller(app.person("stranger"), NoAccess)];
        member("reader", Owner);
        let reader = app.someone(&NewUser::named("reader"), &[Scope::ReadApi]);
        all.push(Caller { reads_only: true, ..caller(reader, Owner) });
        let external = NewUser { external: true, ..NewUser::named("external") };
        app.someone(&external, &[Scope::Api]);
        all.push(caller(member("external", Reporter), Reporter));
        for (name, level) in [
            ("guest", Guest),
            ("reporter", Reporter),
            ("developer", Developer),
            ("maintainer", Maintainer),
            ("owner", Owner),
        ] {
            all.push(caller(member(name, level), level));
        }
        all.push(caller(app.admin(), Owner));
        all
    }
}

/// The ids of the project's issue and of its merge request.
fn rows(app: &TestApp, project: ProjectId) -> (i64, i64) {
    app.write(move |tx| {
        let issue = issues::table.filter(issues::project_id.eq(project)).select(issues::id);
        let change = merge_requests::table
            .filter(merge_requests::project_id.eq(project))
            .select(merge_requests::id);
        let issue = db::each_backend!(tx, |conn| issue.first(conn).map_err(db::error("Row")))?;
        let change = db::each_backend!(tx, |conn| change.first(conn).map_err(db::error("Row")))?;
        Ok((issue, change))
    })
}

/// Somebody with the highest role there, whom an administrator keeps out.
pub(super) fn blocked<'a>(home: &Home<'a>) -> Person<'a> {
    let person = home.app.member_of(Source::Group(home.group), "mallory", Owner);
    home.app.set_state("mallory", State::Blocked);
    person
}
