//! Closes issues that nobody has touched for a year: `cargo run -p forgeway-forge --example close_stale_issues`.
//!
//! Beside a server this would open its data folder and database; here both are made anew, with one old issue and a young
//! one. Because it opens a [`Forge`], everything follows that follows when people close an issue: the note in its history,
//! the event, the line in the activity feed.
#![expect(clippy::print_stdout, reason = "it is what the program is for")]

use std::{ffi::OsString, sync::Arc};

use db::{Location, Tx};
use forgeway_forge::{
    Forge, Settings,
    ports::{directory::Directory, review::OrgHierarchy},
};
use kernel::{Clock, Grant, Result, Ts, Visibility, ids::ProjectId, page::PageRequest};
use org::{
    access::{IdOrPath, locate_project},
    namespace::store::NamespaceStore as _,
    project::creation::{NewProject, insert},
    user::{User, actions::NewUser},
};
use repo::git::{Git, cli};
use review::{
    activity::{
        Action,
        feed::{Feed, FeedFilter, feed},
    },
    issue::{
        IssueState, IssueStep,
        actions::{self, IssueChange, NewIssue},
        list::{IssueFilter, IssueQuery, IssueSet, list},
    },
    item::list::{Common, Direction, Order, Sorting},
    policy::CreateIssues,
};
use signatures::TrustedRoots;
use time::Duration;

const STALE_AFTER: Duration = Duration::days(365);

#[tokio::main]
async fn main() -> Result<()> {
    let folder = tempfile::tempdir().map_err(kernel::Error::internal)?;
    let settings = Settings {
        data: folder.path().to_owned(),
        database: Location::File(folder.path().join("forgeway.sqlite3")),
        external_url: "http://forge.test".to_owned(),
        revision: "0123abcd".to_owned(),
        mail: None,
        roots: TrustedRoots::default(),
        inner_networks: org::namespace::Networks::default(),
        relays: forgeway_forge::Relays::default(),
        contents: forgeway_forge::ContentStorage::default(),
        geo: forgeway_forge::geo::GeoSettings::default(),
    };
    let clock = Arc::new(Clock::fixed(Ts::from_unix(1_767_225_600)));
    let git = Git::find(cli::Settings::new(OsString::from("/usr/local/bin:/usr/bin:/bin")));
    let git = git.await.map_err(kernel::Error::internal)?;
    let forge = Forge::open(&settings, Arc::clone(&clock), git)?;

    let (bot, project) = forge.db.write(make_project).await?;
    write_issue(&forge, &bot, project, "Old").await?;
    clock.advance(STALE_AFTER + Duration::DAY);
    write_issue(&forge, &bot, project, "Young").await?;
    let closed = close_stale(&forge, &bot, project).await?;
    assert_eq!(closed, ["#1 Old"], "one is stale");
    println!("closed {}", closed.join(", "));
    let (actor, directory) = (bot.actor(), Directory::new(&forge.urls));
    let filter = FeedFilter {
        action: Some(Action::Closed),
        target: None,
        before: None,
        since: None,
        newest_first: true,
    };
    let told = forge.db.read(move |tx| {
        feed(tx, &directory, actor, Feed::In(project), filter, PageRequest::default())
    });
    assert_eq!(told.await?.items.len(), 1, "the feed of the project tells of it");
    Ok(())
}

/// Closes what is stale in a project; tells what that was.
async fn close_stale(forge: &Forge, bot: &User, project: ProjectId) -> Result<Vec<String>> {
    let (actor, directory) = (bot.actor(), Directory::new(&forge.urls));
    let closed = forge.db.write(move |tx| {
        let (facts, who) = locate_project(tx, actor, &IdOrPath::Id(project.0))?;
        let grant: Grant<CreateIssues> = Grant::check(&who, facts)?;
        let before = Some(tx.now.plus(-STALE_AFTER));
        let filter = IssueFilter {
            state: Some(IssueState::Opened),
            common: Common { updated_before: before, ..Common::default() },
            ..IssueFilter::default()
        };
        let asked = IssueQuery {
            actor,
            among: IssueSet::Project(project, &who),
            archived: false,
            filter: &filter,
        };
        let oldest = Sorting { by: Order::Id, direction: Direction::Ascending };
        let page = PageRequest { per_page: 100, ..PageRequest::default() };
        let mut told = Vec::new();
        for issue in list(tx, &OrgHierarchy, &asked, oldest, page)?.items {
            let change = IssueChange { step: Some(IssueStep::Close), ..IssueChange::default() };
            actions::update(tx, &grant, &directory, issue.iid, change)?;
            told.push(format!("#{} {}", issue.iid, issue.title));
        }
        Ok(told)
    });
    closed.await
}

async fn write_issue(
    forge: &Forge,
    by: &User,
    project: ProjectId,
    title: &'static str,
) -> Result<()> {
    let (actor, directory) = (by.actor(), Directory::new(&forge.urls));
    let written = forge.db.write(move |tx| {
        let (facts, who) = locate_project(tx, actor, &IdOrPath::Id(project.0))?;
        let new = NewIssue { title: title.to_owned(), ..NewIssue::default() };
        actions::create(tx, &Grant::check(&who, facts)?, &directory, new)
    });
    written.await.map(drop)
}

/// A bot with a project.
fn make_project(tx: &mut Tx<'_>) -> Result<(User, ProjectId)> {
    let bot = org::user::actions::create(tx, &NewUser::named("janitor"))?;
    let home = tx.find_namespace_at("janitor")?.ok_or_else(kernel::Error::missing)?;
    let new = NewProject {
        namespace_id: home.id,
        creator_id: bot.id,
        name: "Tea".to_owned(),
        path: "tea".to_owned(),
        description: None,
        visibility: Visibility::Private,
    };
    Ok((bot, insert(tx, &new)?.id))
}
