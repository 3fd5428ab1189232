//! Every row of the API, tried by every kind of caller: what the table says is what happens.

use std::fmt::Write as _;

use gateway::{rest, route::RouteRow};
use kernel::{
    AccessLevel::{self, Developer, Guest, Maintainer, NoAccess, Owner, Reporter},
    Actor, Standing, TextEnum, Visibility,
    ids::{NamespaceId, UserId},
};
use org::{member::Source, token::Scope, user::actions::NewUser};
use serde_json::json;

use crate::support::{Answer, Person, RowRequest, TestApp, ci::job_token, declared, sample};

const ROLES: [(&str, AccessLevel); 5] = [
    ("guest", Guest),
    ("reporter", Reporter),
    ("developer", Developer),
    ("maintainer", Maintainer),
    ("owner", Owner),
];

/// What everybody may ask for, and whose actions then refuse some: the contract gives these refusals other words.
const OWN_REFUSALS: [&str; 12] = [
    "ReadPipelines",
    "ReadSchedules",
    "AskForProjectTokens",
    "LeaveProject",
    "ManageProjectMembers",
    "AskForGroupTokens",
    "AskForSeats",
    "LeaveGroup",
    "ManageGroupMembers",
    "UseGroup",
    "ChangeGeoNode",
    "CallAsGeoNode",
];

fn rows(scope: &str) -> impl Iterator<Item = &'static RouteRow> {
    let all = rest::tables().into_iter().flatten().filter(move |row| row.scope == scope);
    all.collect::<Vec<_>>().into_iter()
}

/// A route asks at most this often for one parameter of several.
const MOST_RULES: usize = 2;

/// A well-formed request for a row; what it names beside the project need not exist.
async fn ask(person: &Person<'_>, row: &'static RouteRow, id: &str) -> Answer {
    let mut asked = RowRequest::of(row, id);
    let mut answer = asked.by(person).await;
    for _ in 0..MOST_RULES {
        let told = answer.body["error"].as_str().unwrap_or_default();
        if !told.contains("one parameter must be provided") {
            break;
        }
        let named = |name: &str| told.split([' ', ',']).any(|word| word == name);
        let Some(param) = declared(row).iter().find(|param| named(param.name)) else { break };
        asked = asked.with(param.name, &sample(&param.schema));
        answer = asked.by(person).await;
    }
    answer
}

/// One letter for what a caller is told.
fn letter(answer: &Answer) -> char {
    let text = answer.body["message"].as_str().unwrap_or_default();
    match answer.status {
        401 if text == "401 Unauthorized" => 'u',
        403 if text == "403 Forbidden" => 'x',
        404 if ["404 Project Not Found", "404 Group Not Found"].contains(&text) => '-',
        _ => '.',
    }
}

/// Whether a call may have changed something.
fn is_success(answer: &Answer) -> bool {
    answer.status < 400
}

/// A kind of caller: who calls, with which role in what the call is about, and whether with a credential.
type Caller<'a> = (Person<'a>, AccessLevel, bool);

/// Every kind of caller. Those who have a role get it in each project and group that is tried.
fn callers(app: &TestApp) -> Vec<Caller<'_>> {
    let roles = ROLES.map(|(name, level)| (app.person(name), level, true));
    [(app.anonymous(), NoAccess, false), (app.person("stranger"), NoAccess, true)]
        .into_iter()
        .chain(roles)
        .collect()
}

struct Fixture<'a> {
    callers: &'a [Caller<'a>],
    source: Source,
    visibility: Visibility,
}

impl<'a> Fixture<'a> {
    fn new(
        app: &TestApp,
        callers: &'a [Caller<'a>],
        source: Source,
        visibility: Visibility,
    ) -> Self {
        if !callers.is_empty() {
            let members = ROLES.map(|(name, level)| (app.user(name).id, level));
            app.join(source, members.to_vec());
        }
        Self { callers, source, visibility }
    }

    fn project(
        app: &TestApp,
        callers: &'a [Caller<'a>],
        visibility: Visibility,
        name: &str,
    ) -> Self {
        let keeper = app.person("keeper");
        let project = app.project(&keeper, &format!("{visibility}-{name}"), visibility);
        Self::new(app, callers, Source::Project(project), visibility)
    }

    async fn group(
        app: &TestApp,
        callers: &'a [Caller<'a>],
        visibility: Visibility,
        name: &str,
    ) -> Self {
        let fields = json!({ "visibility": visibility.to_string() });
        let keeper = app.person("keeper");
        let group = keeper.group_with(&format!("{visibility}-{name}"), fields).await;
        Self::new(app, callers, Source::Group(NamespaceId(group)), visibility)
    }

    fn id(&self) -> String {
        match self.source {
            Source::Project(id) => id.to_string(),
            Source::Group(id) => id.to_string(),
        }
    }

    /// What the table promises to a caller.
    fn promised(&self, row: &RouteRow, level: AccessLevel, signed_in: bool) -> char {
        let actor = Actor { id: signed_in.then_some(UserId(1)), ..Actor::ANONYMOUS };
        let who = Standing::in_scope(actor, level, self.visibility);
        match (signed_in || row.open, who.visible, (row.allows)(&who)) {
            (false, ..) => 'u',
            (true, false, _) => '-',
            (true, true, false) => 'x',
            (true, true, true) => '.',
        }
    }

    /// Asks for a row as every caller: what is promised to each, and which answers differ. Tells whether a call succeeded.
    async fn try_out(
        &self,
        row: &'static RouteRow,
        line: &mut String,
        wrong: &mut Vec<String>,
    ) -> bool {
        let mut succeeded = false;
        for (person, level, signed_in) in self.callers {
            let answer = ask(person, row, &self.id()).await;
            succeeded |= is_success(&answer);
            let (told, promised) = (letter(&answer), self.promised(row, *level, *signed_in));
            line.push(promised);
            // Once somebody who may has deleted or hidden it, it is gone for the next one.
            let gone = told == '-' && promised == '.' && row.method != "GET";
            // Some refusals give their reason, say that there is nothing, or ask for another credential.
            let refused = promised == 'x' && matches!(answer.status, 401 | 403 | 404);
            // And some rows are refused by the use case, in a way of their own.
            let own_refusal = OWN_REFUSALS.contains(&row.ability) && promised == '.';
            if told != promised && !gone && !refused && !own_refusal {
                let text = String::from_utf8_lossy(&answer.bytes).into_owned();
                let visibility = self.visibility;
                wrong.push(format!(
                    "{row:?} {visibility} {level:?}: {promised} {} {text}",
                    answer.status
                ));
            }
        }
        line.push(' ');
        succeeded
    }
}

const HEADING: &str =
    "private internal public; each: anonymous stranger guest reporter developer maintainer owner\n";

/// The ability of a row, and whether jobs are heard with their tokens.
fn abilities(row: &RouteRow) -> String {
    if row.for_jobs { format!("{} also JobToken", row.ability) } else { row.ability.to_owned() }
}

fn ensure_none(wrong: &[String]) {
    let many = wrong.len();
    assert!(wrong.is_empty(), "{many} answers differ from the table:\n{}", wrong.join("\n"));
}

#[actix_web::test]
async fn every_project_route_keeps_to_its_row() {
    let app = TestApp::new();
    let callers = callers(&app);
    let (mut matrix, mut wrong) = (HEADING.to_owned(), Vec::new());
    let made = |visibility, name: &str| Fixture::project(&app, &callers, visibility, name);
    // What changes something finds everything as it was: in a project that no call has changed.
    let still: Vec<_> = Visibility::ALL.iter().map(|one| made(*one, "still")).collect();
    let mut unchanged: Vec<_> = still.iter().map(|_| None).collect();
    for (number, row) in rows("Project").enumerate() {
        let mut line = String::new();
        for (still, unchanged) in still.iter().zip(&mut unchanged) {
            if row.method == "GET" {
                still.try_out(row, &mut line, &mut wrong).await;
                continue;
            }
            let own =
                unchanged.take().unwrap_or_else(|| made(still.visibility, &number.to_string()));
            let succeeded = own.try_out(row, &mut line, &mut wrong).await;
            *unchanged = (!succeeded).then_some(own);
        }
        writeln!(matrix, "{line} {:<6} {:<62} {}", row.method, row.pattern, abilities(row))
            .expect("text grows");
    }
    ensure_none(&wrong);
    insta::assert_snapshot!("project_routes", matrix);
}

#[actix_web::test]
async fn every_group_route_keeps_to_its_row() {
    let app = TestApp::new();
    let callers = callers(&app);
    let (mut matrix, mut wrong) = (HEADING.to_owned(), Vec::new());
    let made =
        async |visibility, name: &str| Fixture::group(&app, &callers, visibility, name).await;
    let mut still = Vec::new();
    for visibility in Visibility::ALL {
        still.push(made(*visibility, "still").await);
    }
    let mut unchanged: Vec<_> = still.iter().map(|_| None).collect();
    for (number, row) in rows("Group").enumerate() {
        let mut line = String::new();
        for (still, unchanged) in still.iter().zip(&mut unchanged) {
            if row.method == "GET" {
                still.try_out(row, &mut line, &mut wrong).await;
                continue;
            }
            let own = match unchanged.take() {
                Some(own) => own,
                None => made(still.visibility, &number.to_string()).await,
            };
            let succeeded = own.try_out(row, &mut line, &mut wrong).await;
            *unchanged = (!succeeded).then_some(own);
        }
        writeln!(matrix, "{line} {:<6} {:<62} {}", row.method, row.pattern, row.ability)
            .expect("text grows");
    }
    ensure_none(&wrong);
    insta::assert_snapshot!("group_routes", matrix);
}

#[actix_web::test]
async fn every_instance_route_keeps_to_its_row() {
    let app = TestApp::new();
    let mut matrix = String::from("anonymous person administrator\n");
    let mut wrong = Vec::new();
    for row in rows("Instance") {
        let callers = [
            (app.anonymous(), Actor::ANONYMOUS),
            (app.person("ada"), actor(false)),
            (app.admin(), actor(true)),
        ];
        let mut line = String::new();
        for (person, actor) in callers {
            let answer = ask(&person, row, "999").await;
            let promised =
                match (row.open || actor.id.is_some(), (row.allows)(&Standing::in_instance(actor)))
                {
                    (false, _) => 'u',
                    (true, false) => 'x',
                    (true, true) => '.',
                };
            line.push(promised);
            // What a person asks of somebody else's things is a matter of the use case, with refusals of its own.
            let own_rule = promised == '.' && matches!(answer.status, 401 | 403 | 404);
            // Some refusals give their reason.
            let refused = promised == 'x' && answer.status == 403;
            if letter(&answer) != promised && !refused && !own_rule {
                wrong.push(format!("{row:?} {}: {promised} {}", person.username, answer.status));
            }
        }
        writeln!(matrix, "{line}  {:<6} {:<62} {}", row.method, row.pattern, abilities(row))
            .expect("text grows");
    }
    assert!(
        wrong.is_empty(),
        "{} answers differ from the table:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    insta::assert_snapshot!("instance_routes", matrix);
}

fn actor(admin: bool) -> Actor {
    Actor { id: Some(UserId(1)), admin, ..Actor::ANONYMOUS }
}

#[actix_web::test]
async fn a_token_reaches_as_far_as_its_scopes() {
    let app = TestApp::new();
    let keeper = app.person("keeper");
    let project = app.project(&keeper, "scoped", Visibility::Private).to_string();
    let mut wrong = Vec::new();
    let scopes = [
        Scope::ReadApi,
        Scope::ReadUser,
        Scope::ReadRepository,
        Scope::WriteRepository,
        Scope::Sudo,
    ];
    let mut people = scopes.map(|_| None);
    for row in rest::tables().into_iter().flatten() {
        for (scope, valid) in scopes.into_iter().zip(&mut people) {
            let person =
                valid.take().unwrap_or_else(|| app.someone(&NewUser::named("keeper"), &[scope]));
            let reads = row.reads();
            let also = row.also.is_none_or(|also| reads && also.contains(&scope));
            let enough = also || (reads && scope == Scope::ReadApi);
            let answer = ask(&person, row, &project).await;
            let refused = answer.status == 403 && answer.body["error"] == "insufficient_scope";
            // Every token finds this one, which then wants scopes of its own.
            let own_scopes = ["/personal_access_tokens/self/rotate", "/user/runners"];
            let looks_itself = own_scopes.contains(&row.pattern);
            if refused == enough && !looks_itself {
                wrong.push(format!("{row:?} with {scope}: {}", answer.status));
            }
            // A call that succeeds may end the token.
            *valid = (!is_success(&answer) || row.method == "GET").then_some(person);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Where runners show the token of a job as the thing that it is about, and not as who they are.
fn is_about_the_job(row: &RouteRow) -> bool {
    row.pattern.starts_with("/jobs/{job_id}")
}

#[actix_web::test]
async fn a_job_is_heard_with_its_token_where_the_row_says_so() {
    let app = TestApp::new();
    let keeper = app.person("keeper");
    let project = app.project(&keeper, "own", Visibility::Private);
    let others = [Visibility::Private, Visibility::Internal, Visibility::Public]
        .map(|visibility| app.project(&keeper, &format!("other-{visibility}"), visibility));
    let token = job_token(&keeper, project).await;
    let (job, nobody) = (app.anonymous().sending("JOB-TOKEN", &token), app.anonymous());
    let mut wrong = Vec::new();
    for row in rest::tables().into_iter().flatten().filter(|row| !is_about_the_job(row)) {
        let own = ask(&job, row, &project.to_string()).await;
        let stranger = ask(&nobody, row, &project.to_string()).await;
        let heard = (own.status, &own.body) != (stranger.status, &stranger.body);
        if heard != row.for_jobs {
            wrong.push(format!("{row:?}: {} {} not {}", own.status, own.body, stranger.status));
        }
        // Elsewhere it is a stranger, whoever it runs for.
        for other in others.iter().filter(|_| row.for_jobs && row.scope == "Project") {
            let told = ask(&job, row, &other.to_string()).await;
            let stranger = ask(&nobody, row, &other.to_string()).await;
            let hidden = told.status == 404 && stranger.status == 401;
            if (told.status, &told.body) != (stranger.status, &stranger.body) && !hidden {
                wrong.push(format!("{row:?} in {other}: {} {}", told.status, told.body));
            }
        }
    }
    ensure_none(&wrong);
}

/// What is refused for the sake of what it is about: whoever may do everything asks for no role, there is no pipeline,
/// and no such group.
const REFUSED_TO_ALL: [(&str, &str); 11] = [
    ("POST", "/projects/{id}/access_requests"),
    ("POST", "/groups/{id}/access_requests"),
    ("GET", "/projects/{id}/pipelines/latest"),
    ("GET", "/projects/{id}/pipeline/latest"),
    ("POST", "/projects/{id}/pipelines/latest"),
    ("POST", "/projects/{id}/pipeline/latest"),
    ("DELETE", "/projects/{id}/share/{group_id}"),
    ("POST", "/groups/{id}/share"),
    ("DELETE", "/groups/{id}/share/{group_id}"),
    ("POST", "/projects/{id}/job_token_scope/groups_allowlist"),
    ("DELETE", "/projects/{id}/job_token_scope/groups_allowlist/{target_group_id}"),
];

#[actix_web::test]
async fn administrators_are_refused_nothing_that_is_of_a_project_or_group() {
    let app = TestApp::new();
    let admin = app.admin();
    let (mut wrong, mut unchanged) = (Vec::new(), None);
    for (number, row) in rows("Project").chain(rows("Group")).enumerate() {
        let name = number.to_string();
        let kept = unchanged.take().filter(|(scope, _)| *scope == row.scope);
        let place = match (kept, row.scope) {
            (Some((_, kept)), _) => kept,
            (None, "Project") => Fixture::project(&app, &[], Visibility::Private, &name),
            (None, _) => Fixture::group(&app, &[], Visibility::Private, &name).await,
        };
        let answer = ask(&admin, row, &place.id()).await;
        let own = REFUSED_TO_ALL.contains(&(row.method, row.pattern));
        if letter(&answer) != '.' && !own {
            wrong.push(format!("{row:?}: {} {}", answer.status, answer.body));
        }
        let changed = is_success(&answer) && row.method != "GET";
        unchanged = (!changed).then_some((row.scope, place));
    }
    ensure_none(&wrong);
}

#[actix_web::test]
async fn somebody_who_is_blocked_is_refused_everywhere() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "kept", Visibility::Public).to_string();
    app.block("ada");

    // Probes look at no credential, and replication at that of a node alone.
    let looks_at_people = |row: &&RouteRow| !["Health", "Geo replication"].contains(&row.resource);
    for row in rest::tables().into_iter().flatten().filter(looks_at_people) {
        let answer = ask(&ada, row, &project).await;
        let refusal = match row.pattern {
            "//api/graphql" => json!({ "errors": [{ "message": "API not accessible for user" }] }),
            _ => json!({ "message": "403 Forbidden - Your account has been blocked." }),
        };
        assert_eq!((answer.status, &answer.body), (403, &refusal), "{row:?}");
    }
}
