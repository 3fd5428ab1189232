//! What is listed can be opened, and what can be opened is listed: for every list of groups, projects, issues and merge
//! requests, as every caller, in random worlds, and as a plain model says.

mod model;
mod stage;

use std::collections::BTreeSet;

use actix_web::{
    App, Error,
    body::BoxBody,
    dev::{Service, ServiceResponse},
    test,
};
use gateway::serve;
use serde_json::Value;

use self::stage::Stage;
use crate::support::{Person, TestApp};

/// Worlds that were found to tell the rules apart; further ones join them when they find something.
const SEEDS: [u64; 5] = [1, 2, 3, 5, 8];

/// One caller, whose calls go through one service: making one for each call would take most of the time.
struct CallerSession<'a, S> {
    service: &'a S,
    stage: &'a Stage<'a>,
    person: Option<usize>,
    caller: Person<'a>,
}

impl<S> CallerSession<'_, S>
where
    S: Service<actix_http::Request, Response = ServiceResponse<BoxBody>, Error = Error>,
{
    async fn get(&self, path: &str) -> (u16, Value) {
        let mut request = test::TestRequest::get().uri(&format!("/api/v4{path}"));
        if let Some(token) = &self.caller.token {
            request = request.insert_header(("PRIVATE-TOKEN", token.reveal()));
        }
        let response = test::call_service(self.service, request.to_request()).await;
        let status = response.status().as_u16();
        let body = test::read_body(response).await;
        (status, serde_json::from_slice(&body).unwrap_or_default())
    }

    async fn opens(&self, path: &str) -> bool {
        match self.get(path).await.0 {
            200 => true,
            404 => false,
            status => panic!("{status} for {path} as {:?}", self.person),
        }
    }

    /// The values of a field of a list, in order.
    async fn list(&self, path: &str, field: &str) -> BTreeSet<i64> {
        let more = if path.contains('?') { '&' } else { '?' };
        let (status, body) = self.get(&format!("{path}{more}per_page=100")).await;
        assert_eq!(status, 200, "{path} as {:?}", self.person);
        let items = body.as_array().expect("a list").iter();
        items.map(|item| item[field].as_i64().expect("a number")).collect()
    }

    async fn expect(&self, path: &str, field: &str, expected: BTreeSet<i64>) {
        let listed = self.list(path, field).await;
        let world = &self.stage.world;
        assert_eq!(listed, expected, "{path} as {:?} in {world:#?}", self.person);
    }

    fn group_ids(&self, which: impl Fn(usize) -> bool) -> BTreeSet<i64> {
        let all = self.stage.groups.iter().enumerate();
        all.filter(|(group, _)| which(*group)).map(|(_, id)| *id).collect()
    }

    fn project_ids(&self, which: impl Fn(usize) -> bool) -> BTreeSet<i64> {
        let all = self.stage.projects.iter().enumerate();
        all.filter(|(project, _)| which(*project)).map(|(_, id)| *id).collect()
    }

    /// Everything opens exactly as the model says.
    async fn check_pages(&self) {
        let (stage, world, who) = (self.stage, &self.stage.world, self.person);
        for (group, id) in stage.groups.iter().enumerate() {
            let opens = self.opens(&format!("/groups/{id}")).await;
            assert_eq!(
                opens,
                world.sees_group(who, group),
                "group {group} as {who:?} in {world:#?}"
            );
        }
        for (project, id) in stage.projects.iter().enumerate() {
            let pages = [
                ("", world.sees_project(who, project)),
                ("/issues/1", world.sees_project(who, project)),
                ("/issues/2", world.reads_secrets(who, project)),
                ("/merge_requests/1", world.reads_changes(who, project)),
            ];
            // What is in a project has pages for those who are signed in.
            let shown = if who.is_some() { pages.len() } else { 1 };
            for (page, expected) in pages.into_iter().take(shown) {
                let opens = self.opens(&format!("/projects/{id}{page}")).await;
                assert_eq!(opens, expected, "{page} of project {project} as {who:?} in {world:#?}");
            }
        }
    }

    async fn check_lists(&self) {
        let (world, who) = (&self.stage.world, self.person);
        let seen = self.group_ids(|group| world.sees_group(who, group));
        self.expect("/groups?all_available=true", "id", seen).await;
        let seen = self.project_ids(|project| world.sees_project(who, project));
        self.expect("/projects", "id", seen.clone()).await;
        let Some(person) = who else { return };
        self.expect("/groups", "id", self.group_ids(|group| world.passes(person, group))).await;
        // Issues and merge requests by the projects that they are in.
        self.expect("/issues?scope=all&confidential=false", "project_id", seen).await;
        let secrets = self.project_ids(|project| world.reads_secrets(who, project));
        self.expect("/issues?scope=all&confidential=true", "project_id", secrets).await;
        let changes = self.project_ids(|project| world.reads_changes(who, project));
        self.expect("/merge_requests?scope=all", "project_id", changes).await;
    }

    async fn check_group(&self, group: usize, id: i64) {
        let (world, who) = (&self.stage.world, self.person);
        let at = format!("/groups/{id}");
        let below = self.group_ids(|at| world.is_below(at, group) && world.sees_group(who, at));
        self.expect(&format!("{at}/descendant_groups?all_available=true"), "id", below).await;
        let right_below = self
            .group_ids(|at| world.groups[at].parent == Some(group) && world.sees_group(who, at));
        self.expect(&format!("{at}/subgroups?all_available=true"), "id", right_below).await;
        let sees = |project| world.sees_project(who, project);
        let here = |project: usize| world.projects[project].home == group;
        let inside = |project: usize| world.line(world.projects[project].home).contains(&group);
        let lent = |project: usize| world.links_of_project(project).contains(&group);
        for (list, expected) in [
            ("projects", self.project_ids(|one| sees(one) && (here(one) || lent(one)))),
            (
                "projects?include_subgroups=true",
                self.project_ids(|one| sees(one) && (inside(one) || lent(one))),
            ),
            (
                "projects?with_shared=false&include_subgroups=true",
                self.project_ids(|one| sees(one) && inside(one)),
            ),
            ("projects/shared", self.project_ids(|one| sees(one) && lent(one))),
        ] {
            self.expect(&format!("{at}/{list}"), "id", expected).await;
        }
        if who.is_none() {
            return;
        }
        let issues = self.project_ids(|one| inside(one) && sees(one));
        self.expect(&format!("{at}/issues?scope=all&confidential=false"), "project_id", issues)
            .await;
        let changes = self.project_ids(|one| inside(one) && world.reads_changes(who, one));
        self.expect(&format!("{at}/merge_requests?scope=all"), "project_id", changes).await;
        let (_, record) = self.get(&at).await;
        self.check_shares(&record, &world.links_of_group(group));
    }

    /// A record names what it is shared with as far as the reader can open that.
    fn check_shares(&self, record: &Value, links: &BTreeSet<usize>) {
        let world = &self.stage.world;
        let named = record["shared_with_groups"].as_array().expect("a list").iter();
        let named: BTreeSet<i64> =
            named.map(|link| link["group_id"].as_i64().expect("an id")).collect();
        let seen =
            self.group_ids(|group| links.contains(&group) && world.sees_group(self.person, group));
        assert_eq!(named, seen, "{} as {:?} in {world:#?}", record["path"], self.person);
    }

    async fn check(&self) {
        self.check_pages().await;
        self.check_lists().await;
        let (stage, world) = (self.stage, &self.stage.world);
        for (group, id) in stage.groups.iter().enumerate() {
            if world.sees_group(self.person, group) {
                self.check_group(group, *id).await;
            }
        }
        for (project, id) in stage.projects.iter().enumerate() {
            if self.person.is_some() && world.sees_project(self.person, project) {
                let (_, record) = self.get(&format!("/projects/{id}")).await;
                self.check_shares(&record, &world.links_of_project(project));
            }
        }
    }
}

async fn check_everybody(app: &TestApp, stage: &Stage<'_>) {
    let service =
        test::init_service(App::new().configure(serve::configure(app.state.clone()))).await;
    let callers = stage.people.iter().cloned().enumerate().map(|(person, one)| (Some(person), one));
    for (person, caller) in callers.chain([(None, app.anonymous())]) {
        CallerSession { service: &service, stage, person, caller }.check().await;
    }
}

#[actix_web::test]
async fn what_is_listed_is_what_can_be_opened() {
    for seed in SEEDS {
        let app = TestApp::new();
        let mut stage = Stage::new(&app, seed).await;
        check_everybody(&app, &stage).await;
        stage.sleep().await;
        check_everybody(&app, &stage).await;
    }
}

#[actix_web::test]
async fn what_was_listed_otherwise_than_opened_once_agrees() {
    let app = TestApp::new();
    let stage = Stage::of_corners(&app).await;
    check_everybody(&app, &stage).await;
}
