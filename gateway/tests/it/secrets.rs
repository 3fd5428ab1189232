//! What a lower role gets out of a higher role's secrets: no answer to anybody holds a secret that opens more than they
//! may themselves.

use ci::trigger::{self, TriggerToken};
use gateway::{rest, route::RouteRow};
use kernel::{
    AccessLevel::{self, Developer, Guest, Maintainer, Owner, Reporter},
    ids::{NamespaceId, ProjectId},
};
use org::{
    access::{level_in_namespace, level_in_project},
    member::Source,
    token::{Secret, store::TokenStore as _},
    user::store::UserStore as _,
};
use serde_json::{Value, json};

use crate::support::{Answer, Person, RowRequest, TestApp};

const ROLES: [(&str, AccessLevel); 4] = [
    ("guest", Guest),
    ("reporter", Reporter),
    ("developer", Developer),
    ("maintainer", Maintainer),
];
/// How tokens begin that people make, those of triggers, and those with which runners register.
const TOKENS: [&str; 3] = ["glpat-", TriggerToken::PREFIX, "GR1348941"];

/// A project or group with all that is secret in it.
struct Fixture<'a> {
    app: &'a TestApp,
    source: Source,
    path: String,
    /// An owner's token, by its id.
    token: Value,
    /// Makes pipelines with an owner's rights, by its id; nothing in a group.
    trigger: Value,
    /// With which runners register themselves here.
    runners_token: String,
    /// Somebody who is invited to own it.
    invitation: String,
}

impl<'a> Fixture<'a> {
    async fn new(app: &'a TestApp, scope: &str, number: usize) -> Self {
        let keeper = app.person("keeper");
        let (name, home) = (format!("kept-{number}"), format!("home-{number}"));
        let (source, path) = if scope == "Project" {
            let wanted = json!({ "name": name, "visibility": "private" });
            let id =
                keeper.post("/projects", wanted).await.created()["id"].as_i64().expect("an id");
            (Source::Project(ProjectId(id)), format!("/projects/{id}"))
        } else {
            let id = keeper.group_with(&home, json!({ "visibility": "private" })).await;
            (Source::Group(NamespaceId(id)), format!("/groups/{id}"))
        };
        let wanted = json!({ "name": "kept", "scopes": ["api"], "access_level": 50 });
        let token = keeper.post(&format!("{path}/access_tokens"), wanted).await.created();
        let trigger = match source {
            Source::Project(_) => {
                let wanted = json!({ "description": "kept" });
                keeper.post(&format!("{path}/triggers"), wanted).await.created()["id"].clone()
            }
            Source::Group(_) => Value::Null,
        };
        let invitation = "owner@b.test".to_owned();
        let wanted = json!({ "email": invitation, "access_level": 50 });
        keeper.post(&format!("{path}/invitations"), wanted).await.created();
        let record = keeper.get(&path).await.ok();
        let runners_token = record["runners_token"].as_str().expect("a token").to_owned();
        Self { app, source, path, token: token["id"].clone(), trigger, runners_token, invitation }
    }

    /// Somebody with a role, given once.
    fn member(&self, name: &str, level: AccessLevel) -> Person<'a> {
        let person = self.app.person(name);
        if self.role_of(name) == AccessLevel::NoAccess {
            return self.app.member_of(self.source, name, level);
        }
        person
    }

    fn role_of(&self, name: &str) -> AccessLevel {
        let (actor, source) = (self.app.user(name).actor(), self.source);
        let found = self.app.state.db.read_blocking(move |tx| match source {
            Source::Project(id) => level_in_project(tx, actor, id),
            Source::Group(id) => level_in_namespace(tx, actor, id),
        });
        found.expect("roles can be read")
    }

    /// A well-formed request that names what is secret.
    async fn ask(&self, person: &Person<'_>, row: &'static RouteRow) -> Answer {
        let id = self.path.rsplit('/').next().unwrap_or_default();
        let keeper = json!(self.app.user("keeper").id.0);
        let named = [
            ("token_id", &self.token),
            ("trigger_id", &self.trigger),
            ("user_id", &keeper),
            ("email", &json!(self.invitation)),
        ];
        let place = |name: &str| format!("{{{name}}}");
        let mut asked = RowRequest::of(row, id);
        for (name, value) in named {
            if row.pattern.contains(&place(name)) {
                asked = asked.with(name, value);
            }
        }
        asked.by(person).await
    }

    /// The role that a token of an answer gives in here.
    fn opened_by(&self, token: &str) -> AccessLevel {
        let (secret, source) = (Secret::given(token), self.source);
        let trigger = TriggerToken::given(token);
        let found = self.app.state.db.read_blocking(move |tx| {
            let user = match tx.find_token(&secret)? {
                Some((_, user)) => Some(user),
                None => match trigger::actions::find(tx, &trigger)? {
                    Some(trigger) => tx.find_user(trigger.owner_id)?,
                    None => None,
                },
            };
            let Some(user) = user else { return Ok(None) };
            Ok(Some(match source {
                Source::Project(id) => level_in_project(tx, user.actor(), id)?,
                Source::Group(id) => level_in_namespace(tx, user.actor(), id)?,
            }))
        });
        let of_runners = match source {
            _ if token != self.runners_token => AccessLevel::NoAccess,
            Source::Project(_) => Maintainer,
            Source::Group(_) => Owner,
        };
        found.expect("tokens can be read").unwrap_or(of_runners)
    }
}

fn tokens(answer: &Answer) -> Vec<String> {
    let text = String::from_utf8_lossy(&answer.bytes);
    let words =
        text.split(|letter: char| !letter.is_ascii_alphanumeric() && !"-_".contains(letter));
    words
        .filter(|word| TOKENS.iter().any(|start| word.starts_with(start)))
        .map(str::to_owned)
        .collect()
}

#[actix_web::test]
async fn no_answer_holds_a_secret_that_opens_more_than_its_reader_may() {
    let app = TestApp::new();
    let (mut wrong, mut seen) = (Vec::new(), 0);
    let rows = rest::tables().into_iter().flatten().filter(|row| row.scope != "Instance");
    let still = [Fixture::new(&app, "Project", 0).await, Fixture::new(&app, "Group", 0).await];
    for (number, row) in rows.enumerate() {
        let own;
        let place = match (row.method, row.scope) {
            ("GET", "Project") => &still[0],
            ("GET", _) => &still[1],
            // What changes something finds everything as it was, and the least are heard first.
            _ => {
                own = Fixture::new(&app, row.scope, number + 1).await;
                &own
            }
        };
        for (name, level) in ROLES {
            let person = place.member(name, level);
            let answer = place.ask(&person, row).await;
            for token in tokens(&answer) {
                seen += 1;
                if place.opened_by(&token) > level {
                    wrong.push(format!("{row:?} as {level:?}: {}", answer.body));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(seen > 0, "maintainers make and renew tokens");
}

#[actix_web::test]
async fn nobody_is_given_the_secret_of_somebody_else() {
    let app = TestApp::new();
    let root = app.admin();
    let other = app.user("root").id;
    let wanted = json!({ "name": "kept", "scopes": ["api"], "expires_at": "2030-01-01" });
    let own = root.post(&format!("/users/{other}/personal_access_tokens"), wanted.clone()).await;
    let acting = root.post(&format!("/users/{other}/impersonation_tokens"), wanted).await;
    let ids = [own.created()["id"].clone(), acting.created()["id"].clone()];
    let ada = app.person("ada");
    let mut wrong = Vec::new();

    for row in rest::tables().into_iter().flatten().filter(|row| row.scope == "Instance") {
        for id in &ids {
            let mut asked = RowRequest::of(row, "");
            for (name, value) in
                [("id", id), ("impersonation_token_id", id), ("user_id", &json!(other.0))]
            {
                if row.pattern.contains(&format!("{{{name}}}")) {
                    asked = asked.with(name, value);
                }
            }
            for token in tokens(&asked.by(&ada).await) {
                let secret = Secret::given(&token);
                let found = app.state.db.read_blocking(move |tx| tx.find_token(&secret));
                let holder = found.expect("tokens can be read").map(|(_, user)| user.username);
                if holder.as_deref() != Some("ada") {
                    wrong.push(format!("{row:?}: the token of {holder:?}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
