//! Changing a wiki: one commit for everything that is done, one writer after the other.

use std::{
    hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher},
    sync::Arc,
};

use db::Database;
use kernel::{Error, Grant, Result, ids::UserId, task::spawn_blocking};
use tokio::sync::Mutex;

use super::{
    find::{self, Page},
    journal::WikiJournal,
    plan::{Plan, WikiChange},
};
use crate::{
    Event,
    event::WikiAction,
    git::{
        Git, GitError, RefName, RepoPath, Repositories, Signature, Storage, Wiki,
        change::{self, Change, ChangeError, NewCommit, Refusal, Start},
        refs::{self, RefMove},
    },
    policy::{AdminGroupWiki, AdminWiki, WriteGroupWiki, WriteWiki},
};

/// How often somebody who pushes by git may be faster.
const TRIES: usize = 5;
const LOCKS: usize = 64;

/// Lets the writers of one wiki follow one another. Wikis that share a lock only wait for each other now and then.
#[derive(Clone, Debug)]
pub struct Locks(Arc<[Arc<Mutex<()>>]>);

impl Default for Locks {
    fn default() -> Self {
        Self((0..LOCKS).map(|_| Arc::default()).collect())
    }
}

impl Locks {
    fn of(&self, wiki: Wiki) -> Arc<Mutex<()>> {
        let hash = BuildHasherDefault::<DefaultHasher>::default().hash_one(wiki);
        let place = usize::try_from(hash % 64).unwrap_or_default();
        self.0.get(place).cloned().unwrap_or_default()
    }
}

/// Which wiki may be written to, and by whom.
#[derive(Clone, Copy, Debug)]
pub struct Site {
    wiki: Wiki,
    user: UserId,
}

impl Site {
    pub fn wiki(&self) -> Wiki {
        self.wiki
    }
}

macro_rules! sites { ($($ability:ident => $kind:ident of $parent:ident),* $(,)?) => { $(
    impl TryFrom<&Grant<$ability>> for Site {
        type Error = Error;
        fn try_from(grant: &Grant<$ability>) -> Result<Self> {
            Ok(Self { wiki: Wiki::$kind(grant.$parent()), user: grant.user()? })
        }
    }
)* } }

sites! {
    WriteWiki => Project of project,
    AdminWiki => Project of project,
    WriteGroupWiki => Group of group,
    AdminGroupWiki => Group of group,
}

/// A request to change a wiki.
#[derive(Clone, Debug)]
pub struct WikiRequest {
    pub site: Site,
    pub deed: WikiChange,
    pub username: String,
    pub author: Signature,
    /// Of a wiki that nobody has written to.
    pub default_branch: RefName,
    /// Bytes that a page may have.
    pub most_content: usize,
    /// Instead of the wiki's default branch; only for attachments.
    pub branch: Option<String>,
}

/// The result of a wiki change.
#[derive(Clone, Debug)]
pub struct WikiResult {
    /// The page as it is now, unless it is gone or no page was meant.
    pub page: Option<Page>,
    pub branch: String,
    /// What git has followed, to be settled with whatever is noted next.
    pub moved: Option<RefMove>,
}

/// Everything that a write needs.
#[derive(Clone)]
pub struct Writer {
    pub db: Database,
    pub git: Git,
    pub storage: Storage,
    pub repositories: Repositories,
    pub locks: Locks,
}

/// A plan, and where it is to be carried out.
struct Ready {
    plan: Plan,
    branch: String,
}

impl Writer {
    /// Does what is asked. A caller that goes away does not stop it half-way.
    pub async fn write(self, asked: WikiRequest) -> Result<WikiResult> {
        let done = db::spawn(async move {
            let _turn = self.locks.of(asked.site.wiki).lock_owned().await;
            let asked = Arc::new(asked);
            for _ in 0..TRIES {
                if let Some(written) = self.once(&asked).await? {
                    return Ok(written);
                }
            }
            Err(Error::conflict().whole("The wiki was changed by somebody else meanwhile."))
        });
        done.await.map_err(Error::internal)?
    }

    /// Nothing when the branch moved meanwhile.
    async fn once(&self, asked: &Arc<WikiRequest>) -> Result<Option<WikiResult>> {
        let repo = self.storage.wiki(asked.site.wiki);
        let Ready { plan, branch } = self.prepare(asked).await?;
        let path = plan.path.clone();
        let change = Change {
            branch: branch.clone(),
            start: Start::default(),
            force: false,
            actions: plan.actions,
            message: plan.message,
            author: asked.author.clone(),
            committer: asked.author.clone(),
        };
        let moved = match change::build(&self.git, &repo, change).await {
            Ok(new) => {
                let step = new.branch.clone();
                if !self.land(asked, &repo, &path, new).await? {
                    return Ok(None);
                }
                Some(step)
            }
            Err(ChangeError::Refused(Refusal::NothingChanged)) => None,
            Err(error) => return Err(words(&asked.deed, error)),
        };
        let page = match &asked.deed {
            WikiChange::Create { .. } | WikiChange::Update { .. } => {
                Some(self.read(&repo, path).await?)
            }
            WikiChange::Delete { .. } | WikiChange::Attach(_) => None,
        };
        Ok(Some(WikiResult { page, branch, moved }))
    }

    /// Looks at the wiki and decides. What is refused leaves no trace, not even an empty repository.
    async fn prepare(&self, asked: &Arc<WikiRequest>) -> Result<Ready> {
        let (tools, asked) = (self.clone(), Arc::clone(asked));
        let done = spawn_blocking(move || -> Result<Ready> {
            let (wiki, head) = (asked.site.wiki, &asked.default_branch);
            if !tools.storage.wiki_exists(wiki) {
                let plan = asked.deed.plan(None, &asked.username, asked.most_content)?;
                tools.storage.create_wiki(wiki, head)?;
                return Ok(Ready { plan, branch: asked.on(head) });
            }
            let reader = tools.repositories.open(&tools.storage.wiki(wiki))?;
            let now = find::tip(&reader)?.map(|tip| (&reader, tip));
            let plan = asked.deed.plan(now, &asked.username, asked.most_content)?;
            let own = reader.head_branch()?;
            Ok(Ready { plan, branch: asked.on(own.as_ref().unwrap_or(head)) })
        });
        done.await.map_err(Error::internal)?
    }

    /// Moves the branch and announces it: git locks, the database decides, git follows. False when somebody was faster.
    async fn land(
        &self,
        asked: &WikiRequest,
        repo: &RepoPath,
        path: &str,
        new: NewCommit,
    ) -> Result<bool> {
        let prepared = match refs::prepare(repo, std::slice::from_ref(&new.branch)).await {
            Err(GitError::Stale { .. } | GitError::RefNameTaken) => return Ok(false),
            prepared => prepared?,
        };
        let Site { wiki, user } = asked.site;
        let (project, group) = match wiki {
            Wiki::Project(project) => (Some(project), None),
            Wiki::Group(group) => (None, Some(group)),
        };
        let action = match asked.deed {
            WikiChange::Create { .. } => WikiAction::Create,
            WikiChange::Update { .. } => WikiAction::Update,
            WikiChange::Delete { .. } => WikiAction::Delete,
            WikiChange::Attach(_) => WikiAction::Attach,
        };
        let (path, commit) = (path.to_owned(), new.id.to_string());
        let fact = Event::WikiChanged { project, group, user, action, path, commit };
        let step = new.branch.clone();
        let decided = self.db.write(move |tx| {
            tx.save_wiki_moves(wiki, &[step])?;
            tx.emit(fact)
        });
        if let Err(refusal) = decided.await {
            if let Err(cause) = prepared.abort().await {
                tracing::warn!(error = %cause, "a refused change of a wiki was not given back cleanly");
            }
            return Err(refusal);
        }
        prepared.commit().await?;
        if new.first {
            refs::set_head(repo, &new.branch.name).await?;
        }
        Ok(true)
    }

    async fn read(&self, repo: &RepoPath, path: String) -> Result<Page> {
        let (repositories, repo) = (self.repositories.clone(), repo.clone());
        let done = spawn_blocking(move || -> Result<Page> {
            let reader = repositories.open(&repo)?;
            let tip = find::tip(&reader)?.ok_or_else(find::no_page)?;
            find::at_path(&reader, tip, &path)?.read(&reader)
        });
        done.await.map_err(Error::internal)?
    }
}

impl WikiRequest {
    fn on(&self, head: &RefName) -> String {
        self.branch.clone().unwrap_or_else(|| head.short().into_owned())
    }
}

fn words(deed: &WikiChange, error: ChangeError) -> Error {
    match deed {
        WikiChange::Delete { .. } => Error::unprocessable().whole("Could not delete wiki page"),
        _ => error.into(),
    }
}
