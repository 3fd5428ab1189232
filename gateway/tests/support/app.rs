//! An application with its own database and data folder, and a clock that stands still.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::{Arc, LazyLock, Once},
};

use db::{
    Location,
    testing::{DatabaseCopy, start},
};
use diesel::{
    QueryableByName, RunQueryDsl as _, sql_query,
    sql_types::{BigInt, Text},
};
use forge::{ContentStorage, geo::GeoSettings, mail::smtp::MailServer};
use gateway::{
    app::{App, Limits, Settings, State},
    proxies::Proxies,
};
use kernel::{
    AccessLevel, Clock, Visibility,
    head::Growth,
    ids::{ProjectId, UserId},
};
use org::{
    member::{NewMember, Source},
    namespace::{Networks, store::NamespaceStore},
    project::creation::NewProject,
    token::{self, Kind, Scope, Scopes, Secret, actions::NewToken},
    user::{self, User, actions::NewUser, store::UserStore},
};
use repo::{
    git::{Git, RefName, cli},
    testing::Fixture,
};
use secrets::KEY_FILE;
use signatures::TrustedRoots;

use super::{MailSink, Person};

pub(crate) struct TestApp {
    pub(crate) state: App,
    pub(crate) clock: Arc<Clock>,
    database: DatabaseCopy,
    /// Whether the function that counts rows is there.
    counting: Once,
    _data: tempfile::TempDir,
}

/// Tables that requests write.
const COUNTED: [&str; 28] = [
    "access_requests",
    "access_tokens",
    "commit_notes",
    "gpg_keys",
    "issues",
    "item_assignees",
    "item_labels",
    "item_subscriptions",
    "labels",
    "member_invitations",
    "members",
    "namespaces",
    "outbox",
    "projects",
    "protected_branches",
    "protected_branch_access",
    "protected_tags",
    "push_events",
    "redirects",
    "ssh_keys",
    "topics",
    "user_accounts",
    "user_emails",
    "user_follows",
    "user_identities",
    "user_statuses",
    "users",
    "work",
];

/// How many rows one of them has.
#[derive(QueryableByName)]
struct TableCount {
    #[diesel(sql_type = Text)]
    name: String,
    #[diesel(sql_type = BigInt)]
    found: i64,
}

fn counting_query() -> String {
    COUNTED
        .map(|table| {
            format!("SELECT CAST('{table}' AS TEXT) AS name, count(*) AS found FROM {table}")
        })
        .join(" UNION ALL ")
}

impl TestApp {
    pub(crate) fn new() -> Self {
        Self::with_limits(Limits::default())
    }

    pub(crate) fn with_limits(limits: Limits) -> Self {
        Self::open(limits, None)
    }

    /// One that hands its letters in there.
    pub(crate) fn with_mail_to(server: &MailSink) -> Self {
        Self::open(Limits::default(), Some(server.address()))
    }

    /// One behind proxies at these addresses.
    pub(crate) fn behind(proxies: &str) -> Self {
        let proxies = Proxies::parse(proxies).expect("addresses of proxies");
        Self::open_with(|settings| settings.proxies = proxies)
    }

    /// One that takes the word of these authorities.
    pub(crate) fn trusting(authorities: &str) -> Self {
        Self::open_with(|settings| {
            settings.forge.roots = TrustedRoots::from_pem(authorities.as_bytes())
        })
    }

    /// One that goes to these addresses inside on somebody's word.
    pub(crate) fn reaching(networks: &str) -> Self {
        let networks = Networks::parse(networks).expect("addresses of networks");
        Self::open_with(|settings| settings.forge.inner_networks = networks)
    }

    /// One that reaches some hosts of other products by way of this address, which is inside; it goes before their paths.
    pub(crate) fn relaying(hosts: &[&str], address: &str) -> Self {
        let relays = hosts.iter().map(|host| ((*host).to_owned(), format!("{address}/{host}")));
        let relays = forge::Relays::new(relays);
        Self::open_with(|settings| {
            settings.forge.inner_networks = Networks::parse("127.0.0.1").expect("a network");
            settings.forge.relays = relays;
        })
    }

    /// One that runs as this node.
    pub(crate) fn as_node(node: GeoSettings) -> Self {
        Self::open_with(|settings| settings.forge.geo = node)
    }

    /// Where its rows are, for a second application beside it.
    pub(crate) fn location(&self) -> Location {
        self.database.location.clone()
    }

    fn open(limits: Limits, mail: Option<MailServer>) -> Self {
        Self::open_with(|settings| {
            settings.limits = limits;
            settings.forge.mail = mail;
        })
    }

    /// One on a database that is there, with the same key of secrets as another application.
    pub(crate) fn beside(
        location: Location,
        other: Option<&Self>,
        change: impl FnOnce(&mut Settings),
    ) -> Self {
        let clock = Arc::new(Clock::fixed(start()));
        let database = DatabaseCopy::at(location);
        Self::open_on(database, clock, |settings| {
            if let Some(other) = other {
                let key = |data: &Path| data.join(KEY_FILE);
                let (from, to) = (key(other.state.data()), key(&settings.forge.data));
                std::fs::copy(from, to).expect("the key is copied");
            }
            change(settings);
        })
    }

    fn open_with(change: impl FnOnce(&mut Settings)) -> Self {
        let clock = Arc::new(Clock::fixed(start()));
        let database = DatabaseCopy::new();
        Self::open_on(database, clock, change)
    }

    fn open_on(
        database: DatabaseCopy,
        clock: Arc<Clock>,
        change: impl FnOnce(&mut Settings),
    ) -> Self {
        let data = tempfile::tempdir().expect("a temporary folder");
        let mut settings = Settings {
            forge: forge::Settings {
                data: data.path().to_owned(),
                database: database.location.clone(),
                external_url: "http://forge.test".to_owned(),
                revision: "0123abcd".to_owned(),
                mail: None,
                roots: TrustedRoots::default(),
                inner_networks: Networks::default(),
                relays: forge::Relays::default(),
                contents: ContentStorage::default(),
                geo: GeoSettings::default(),
            },
            limits: Limits::default(),
            proxies: Proxies::default(),
        };
        change(&mut settings);
        let state = State::open(&settings, clock.clone(), git()).expect("the application opens");
        Self { state, clock, database, counting: Once::new(), _data: data }
    }

    /// What the database was asked since the last call; nothing on PostgreSQL.
    pub(crate) fn statements(&self) -> Vec<String> {
        self.database.statements()
    }

    /// How many statements a request takes; none on PostgreSQL. It is the fewest of a few times: the first one fills what is
    /// remembered, and work that goes on beside a request asks the database, too.
    pub(crate) async fn cost(&self, mut request: impl AsyncFnMut()) -> usize {
        let mut least = usize::MAX;
        for _ in 0..4 {
            self.statements();
            request().await;
            least = least.min(self.statements().len());
        }
        least
    }

    /// What went to PostgreSQL and back since the last call; nothing on SQLite.
    pub(crate) fn round_trips(&self) -> Vec<String> {
        self.database.round_trips()
    }

    /// Does the background work that is due.
    pub(crate) async fn work(&self) -> usize {
        self.state.worker().run_due().await.expect("the queue can be read")
    }

    /// Asks for recurring work, and does all that is due.
    pub(crate) async fn recurring(&self) {
        let worker = self.state.worker();
        worker.ask_due().await.expect("the schedules can be read");
        worker.run_due().await.expect("the queue can be read");
    }

    /// What was announced since the last look, with what was said.
    pub(crate) fn announced(&self) -> Vec<(String, String)> {
        use db::schema::outbox;
        use diesel::prelude::*;
        self.write(|tx| {
            let all = outbox::table.order(outbox::id).select((outbox::kind, outbox::payload));
            let found = db::each_backend!(tx, |conn| all.load(conn).map_err(db::error("Event")))?;
            let gone = diesel::delete(outbox::table);
            db::each_backend!(tx, |conn| gone.execute(conn).map_err(db::error("Event")))?;
            Ok(found)
        })
    }

    /// What was told of items among their notes, oldest first.
    pub(crate) fn system_notes(&self) -> Vec<String> {
        use db::schema::notes;
        use diesel::prelude::*;
        let query = notes::table.filter(notes::is_system.eq(true)).order(notes::id);
        let found = self.state.db.read_blocking(|tx| {
            let query = query.select(notes::body);
            db::each_backend!(tx, |conn| query.load(conn).map_err(db::error("Note")))
        });
        found.expect("notes can be read")
    }

    /// The letters that wait to be sent.
    pub(crate) fn letters(&self) -> Vec<String> {
        use db::schema::work;
        use diesel::prelude::*;
        let query = work::table.filter(work::kind.eq("mail.send")).order(work::id);
        let found = self.state.db.read_blocking(|tx| {
            let query = query.select(work::payload);
            db::each_backend!(tx, |conn| query.load(conn).map_err(db::error("Work")))
        });
        found.expect("the queue can be read")
    }

    /// Somebody without a credential.
    pub(crate) fn anonymous(&self) -> Person<'_> {
        Person {
            app: self,
            username: String::new(),
            token: None,
            headers: Vec::new(),
            address: None,
        }
    }

    /// Somebody with an account and no memberships, whose token may do everything.
    pub(crate) fn person(&self, username: &str) -> Person<'_> {
        self.someone(&NewUser::named(username), &[Scope::Api])
    }

    pub(crate) fn admin(&self) -> Person<'_> {
        let new = NewUser { admin: true, ..NewUser::named("root") };
        self.someone(&new, &[Scope::Api, Scope::Sudo, Scope::AdminMode])
    }

    /// An account, made when it is not there, with a new token of these scopes.
    pub(crate) fn someone(&self, new: &NewUser, scopes: &[Scope]) -> Person<'_> {
        let (new, scopes) = (new.clone(), Scopes(scopes.to_vec()));
        let username = new.username.clone();
        let secret = Secret::generate("glpat-");
        let kept = secret.clone();
        let made = self
            .state
            .db
            .read_blocking(|tx| tx.find_user_named(&username))
            .expect("people can be read");
        self.write(move |tx| {
            let user = match made {
                Some(user) => user,
                None => user::actions::create(tx, &new)?,
            };
            let name = "test".to_owned();
            let token =
                NewToken { user_id: user.id, kind: Kind::Personal, name, scopes, expires_at: None };
            token::actions::create(tx, &token, &kept)
        });
        Person { app: self, username, token: Some(secret), headers: Vec::new(), address: None }
    }

    pub(crate) fn user(&self, username: &str) -> User {
        let found = self.state.db.read_blocking(|tx| tx.find_user_named(username));
        found.expect("people can be read").expect("the person exists")
    }

    /// A project of `owner`'s personal namespace, with an empty repository.
    pub(crate) fn project(
        &self,
        owner: &Person<'_>,
        path: &str,
        visibility: Visibility,
    ) -> ProjectId {
        let creator = self.user(&owner.username);
        let path = path.to_owned();
        let project = self.write(move |tx| {
            let home = tx
                .find_namespace_at(&creator.username)?
                .expect("everybody has a personal namespace");
            let new = NewProject {
                namespace_id: home.id,
                creator_id: creator.id,
                name: path.clone(),
                path,
                description: None,
                visibility,
            };
            org::project::creation::insert(tx, &new)
        });
        let main = RefName::branch("main").expect("a valid name");
        self.state.storage.create(project.id, &main).expect("the repository is made");
        project.id
    }

    /// The project at this full path.
    pub(crate) fn project_id(&self, full_path: &'static str) -> ProjectId {
        use org::project::store::ProjectStore;
        self.write(move |tx| tx.find_project_at(full_path)).expect("the project exists").id
    }

    /// A public project of `ada`'s, whose repository holds what the fixture's does.
    pub(crate) fn project_from(&self, fixture: &Fixture) -> ProjectId {
        let project = self.project(&self.person("ada"), "forge", Visibility::Public);
        let home = self.state.storage.repository(project);
        std::fs::remove_dir_all(home.as_path()).expect("the empty repository goes");
        copy_folder(fixture.path.as_path(), home.as_path());
        self.write(move |tx| {
            org::project::push::note(tx, project, Some("main"), None, Growth::By(0))
        });
        project
    }

    /// Somebody who is a member of `project` at `level`.
    pub(crate) fn member(
        &self,
        project: ProjectId,
        username: &str,
        level: AccessLevel,
    ) -> Person<'_> {
        self.member_of(Source::Project(project), username, level)
    }

    /// Somebody who is a member of a project or group at `level`.
    pub(crate) fn member_of(
        &self,
        source: Source,
        username: &str,
        level: AccessLevel,
    ) -> Person<'_> {
        let person = self.person(username);
        self.join(source, vec![(self.user(username).id, level)]);
        person
    }

    /// Makes people members of a project or group.
    pub(crate) fn join(&self, source: Source, members: Vec<(UserId, AccessLevel)>) {
        self.write(move |tx| {
            members.into_iter().try_for_each(|(user_id, access_level)| {
                let (expires_at, created_by) = (None, None);
                let new = NewMember { source, user_id, access_level, expires_at, created_by };
                org::member::steps::insert(tx, &new).map(drop)
            })
        });
    }

    /// Keeps somebody out, as an administrator does.
    pub(crate) fn block(&self, username: &str) {
        self.set_state(username, org::user::State::Blocked);
    }

    /// Puts an account into a state to which no request leads, or not at once.
    pub(crate) fn set_state(&self, username: &str, state: org::user::State) {
        let user = self.user(username);
        self.write(move |tx| tx.move_user(&user, state));
    }

    /// Shows an address of somebody's to everybody.
    pub(crate) fn show_publicly(&self, username: &str, address: &'static str) {
        use db::schema::users;
        use diesel::prelude::*;
        let user = self.user(username).id;
        self.write(move |tx| {
            let row = users::table.find(user);
            db::each_backend!(tx, |conn| diesel::update(row)
                .set(users::public_email.eq(Some(address)))
                .execute(conn)
                .map_err(db::error("User")))
        });
    }

    /// Gives somebody a picture; its file is not there.
    pub(crate) fn picture(&self, username: &str, file: &'static str) {
        use db::schema::users;
        use diesel::prelude::*;
        let user = self.user(username).id;
        self.write(move |tx| {
            let row = users::table.find(user);
            db::each_backend!(tx, |conn| diesel::update(row)
                .set(users::avatar.eq(Some(file)))
                .execute(conn)
                .map_err(db::error("User")))
        });
    }

    /// Lets nobody see what somebody does.
    pub(crate) fn hide_profile(&self, username: &str) {
        use db::schema::users;
        use diesel::prelude::*;
        let user = self.user(username).id;
        self.write(move |tx| {
            let row = users::table.find(user);
            db::each_backend!(tx, |conn| diesel::update(row)
                .set(users::private_profile.eq(true))
                .execute(conn)
                .map_err(db::error("User")))
        });
    }

    /// Notes that somebody was here.
    pub(crate) fn record_sign_in(&self, username: &str) {
        let user = self.user(username);
        self.write(move |tx| tx.record_sign_in(&user, None));
    }

    /// What was announced about people, oldest first: its kind, and what is told.
    pub(crate) fn announced_of_people(&self) -> Vec<(String, String)> {
        use db::schema::outbox;
        use diesel::prelude::*;
        let query = outbox::table
            .filter(outbox::kind.like("user%"))
            .order(outbox::id)
            .select((outbox::kind, outbox::payload));
        let found = self.state.db.read_blocking(|tx| {
            db::each_backend!(tx, |conn| query.load(conn).map_err(db::error("Event")))
        });
        found.expect("rows can be read")
    }

    /// What the background work that waits has written down.
    pub(crate) fn queued(&self) -> Vec<String> {
        use db::schema::work;
        use diesel::prelude::*;
        let query = work::table.order(work::id).select(work::payload);
        let found = self.state.db.read_blocking(|tx| {
            db::each_backend!(tx, |conn| query.load(conn).map_err(db::error("Work")))
        });
        found.expect("rows can be read")
    }

    /// How many rows each table has that requests write.
    pub(crate) fn row_counts(&self) -> BTreeMap<String, i64> {
        let counts = match &self.database.location {
            Location::File(_) => counting_query(),
            Location::Postgres(_) => {
                self.counting.call_once(|| self.make_counting_function());
                "SELECT of_table AS name, number AS found FROM row_counts()".to_owned()
            }
        };
        let counted = self.state.db.read_blocking(|tx| {
            let rows: Vec<TableCount> = db::each_backend!(tx, |conn| sql_query(&counts)
                .load(conn)
                .map_err(db::error("Row")))?;
            Ok(rows.into_iter().map(|row| (row.name, row.found)).collect())
        });
        counted.expect("rows can be counted")
    }

    /// A function keeps its plan on PostgreSQL. Without one, tests that count after each request wait for the planner.
    fn make_counting_function(&self) {
        let function = format!(
            "CREATE OR REPLACE FUNCTION row_counts() RETURNS TABLE (of_table TEXT, number BIGINT) \
             LANGUAGE plpgsql AS $$ BEGIN RETURN QUERY {}; END $$",
            counting_query()
        );
        self.write(move |tx| {
            db::each_backend!(tx, |conn| sql_query(&function)
                .execute(conn)
                .map_err(db::error("Function")))
        });
    }

    /// Where all refs of a project are.
    pub(crate) fn refs(&self, project: ProjectId) -> Vec<(PathBuf, String)> {
        let home = self.state.storage.repository(project);
        let mut found = Vec::new();
        let mut left = vec![home.as_path().join("refs"), home.as_path().join("packed-refs")];
        while let Some(path) = left.pop() {
            if let Ok(inside) = std::fs::read_dir(&path) {
                left.extend(inside.map(|entry| entry.expect("a folder is read").path()));
            } else if let Ok(text) = std::fs::read_to_string(&path) {
                found.push((path, text));
            }
        }
        found.sort();
        found
    }

    /// Runs one transaction; tests may block.
    pub(crate) fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut db::Tx<'_>) -> kernel::Result<T> + Clone + Send + 'static,
    ) -> T {
        let db = self.state.db.clone();
        let done = std::thread::spawn(move || db.write_blocking(work));
        done.join().expect("the transaction does not panic").expect("the transaction succeeds")
    }
}

/// The installed git, looked for once.
fn git() -> Git {
    static GIT: LazyLock<Git> = LazyLock::new(|| {
        let find = || {
            let path = std::env::var_os("PATH").expect("a search path");
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime
                .expect("a runtime")
                .block_on(Git::find(cli::Settings::new(path)))
                .expect("git is installed")
        };
        std::thread::spawn(find).join().expect("git is found")
    });
    GIT.clone()
}

fn copy_folder(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a folder is made");
    for entry in std::fs::read_dir(from).expect("a folder is read") {
        let entry = entry.expect("a folder is read");
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy_folder(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).expect("a file is copied");
        }
    }
}
