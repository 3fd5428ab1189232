//! A serving application with one project, and what its rows say of pushes.

use kernel::{AccessLevel, Visibility, ids::ProjectId};
use org::{project::store::ProjectStore, user::actions::NewUser};
use repo::{
    git::RefName,
    push::journal::{JournalStore, PushEvent},
};

use super::Client;
use crate::support::{Person, Server, TestApp};

pub(crate) struct Forge {
    pub(crate) app: TestApp,
    pub(crate) server: Server,
    pub(crate) project: ProjectId,
    token: String,
}

impl Forge {
    /// `alice/work`, private and empty.
    pub(crate) fn new() -> Self {
        Self::of(Visibility::Private)
    }

    pub(crate) fn of(visibility: Visibility) -> Self {
        Self::on(TestApp::new(), visibility)
    }

    pub(crate) fn on(app: TestApp, visibility: Visibility) -> Self {
        let server = app.serve();
        let alice = app.person("alice");
        let project = app.project(&alice, "work", visibility);
        let token = secret(&alice);
        drop(alice);
        Self { app, server, project, token }
    }

    /// As [`of`](Self::of), with one commit on `main`.
    pub(crate) async fn with_commit(visibility: Visibility) -> (Self, Client) {
        let (forge, client) = (Self::of(visibility), Client::with_commit().await);
        client.git(&["remote", "add", "origin", &forge.url()]).await.ok();
        client.run("push -q origin main").await.ok();
        (forge, client)
    }

    /// The project's address with its owner's token.
    pub(crate) fn url(&self) -> String {
        self.url_with(&format!("alice:{}@", self.token))
    }

    /// The project's address with these credentials, which end in `@`.
    pub(crate) fn url_with(&self, credentials: &str) -> String {
        self.at(credentials, "alice/work.git")
    }

    pub(crate) fn at(&self, credentials: &str, path: &str) -> String {
        format!("http://{credentials}{}/{path}", self.server.address)
    }

    /// The project's address for a member of this level.
    pub(crate) fn url_of_member(&self, level: AccessLevel) -> String {
        let name = format!("level-{}", level.number());
        let member = self.app.member(self.project, &name, level);
        self.url_with(&format!("{name}:{}@", secret(&member)))
    }

    /// The project's address for a person with a token of these scopes.
    pub(crate) fn url_of(&self, new: &NewUser, scopes: &[org::token::Scope]) -> String {
        let person = self.app.someone(new, scopes);
        self.url_with(&format!("x:{}@", secret(&person)))
    }

    /// What the repository itself answers.
    pub(crate) async fn stored(&self, words: &str) -> String {
        let repo = self.app.state.storage.repository(self.project);
        let folder = repo.as_path().to_str().expect("a plain path").to_owned();
        let mut all = vec!["--git-dir", &folder];
        all.extend(words.split(' '));
        Client::new().git(&all).await.ok()
    }

    pub(crate) fn events(&self) -> Vec<PushEvent> {
        let project = self.project;
        self.app.state.db.read_blocking(|tx| tx.push_events(project)).expect("rows can be read")
    }

    /// `created refs/heads/main`, oldest first.
    pub(crate) fn happened(&self) -> Vec<String> {
        let events = self.events().into_iter();
        events.map(|event| format!("{} {}", event.action, event.ref_name)).collect()
    }

    pub(crate) fn default_branch(&self) -> Option<String> {
        let project = self.project;
        let found = self.app.state.db.read_blocking(|tx| tx.project(project));
        found.expect("rows can be read").default_branch
    }

    /// Where HEAD of the repository points.
    pub(crate) fn head(&self) -> RefName {
        let repo = self.app.state.storage.repository(self.project);
        let reader = self.app.state.repositories.open(&repo).expect("the repository opens");
        reader.head_branch().expect("HEAD is readable").expect("HEAD names a branch")
    }
}

pub(crate) fn secret(person: &Person<'_>) -> String {
    person.token.as_ref().expect("a token").reveal().to_owned()
}
